/* SPDX-License-Identifier: MIT */
/* test_pool.c - slots: exclusive, pinned, waited for with a deadline, given back once. */
#include "deadline.h"
#include "helpers.h"

static struct swapio *handle;
static struct swapio_pool *pool;

static int begin(void **state)
{
	(void)state;
	handle = open_handle(NULL);
	pool = NULL;
	return swapio_pool_create(handle, 5000, 3, &pool);
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(swapio_pool_destroy(pool), 0);
	return swapio_close(handle, SWAPIO_FOREVER);
}

static void *acquire(void)
{
	void *slot = NULL;

	assert_int_equal(swapio_pool_acquire(pool, 0, &slot), 0);
	return slot;
}

static void slots_are_separate_aligned_and_pinned(void **state)
{
	unsigned char *slots[3];

	(void)state;
	assert_int_equal(swapio_pool_slot_bytes(pool), 8192);
	for (unsigned i = 0; i < 3; i++) {
		slots[i] = acquire();
		assert_int_equal((uintptr_t)slots[i] % 4096, 0);
		assert_true(swapio_is_pinned(handle, slots[i], 8192));
		memset(slots[i], (int)i + 1, 8192);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(slots[i][0], i + 1);
		assert_int_equal(slots[i][8191], i + 1);
		assert_int_equal(swapio_pool_release(pool, slots[i]), 0);
	}
}

static void an_empty_pool_times_out_and_writes_nothing(void **state)
{
	void *slots[3], *none = slots;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		slots[i] = acquire();
	assert_int_equal(swapio_pool_acquire(pool, 0, &none), -ETIMEDOUT);
	assert_int_equal(swapio_pool_acquire(pool, -1, &none), -ETIMEDOUT);
	assert_int_equal(swapio_pool_acquire(pool, NS_PER_MS, &none), -ETIMEDOUT);
	assert_ptr_equal(none, slots);
	assert_int_equal(swapio_pool_destroy(pool), -EBUSY);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(swapio_pool_release(pool, slots[i]), 0);
}

static void only_acquired_slots_are_released_and_only_once(void **state)
{
	unsigned char *slot = acquire();
	int unrelated;

	(void)state;
	assert_int_equal(swapio_pool_release(pool, slot + 1), -EINVAL);
	assert_int_equal(swapio_pool_release(pool, slot - 1), -EINVAL);
	assert_int_equal(swapio_pool_release(pool, slot + 3 * 8192), -EINVAL);
	assert_int_equal(swapio_pool_release(pool, &unrelated), -EINVAL);
	assert_int_equal(swapio_pool_release(pool, NULL), -EINVAL);
	assert_int_equal(swapio_pool_release(pool, slot), 0);
	assert_int_equal(swapio_pool_release(pool, slot), -EINVAL);
}

static void *release_later(void *slot)
{
	return (void *)(intptr_t)swapio_pool_release(pool, slot);
}

static void a_released_slot_wakes_one_that_waits(void **state)
{
	void *slots[3], *slot = NULL, *ret;
	pthread_t thread;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		slots[i] = acquire();
	assert_int_equal(pthread_create(&thread, NULL, release_later, slots[1]), 0);
	assert_int_equal(swapio_pool_acquire(pool, SWAPIO_FOREVER, &slot), 0);
	assert_ptr_equal(slot, slots[1]);
	pthread_join(thread, &ret);
	assert_null(ret);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(swapio_pool_release(pool, slots[i]), 0);
}

static void *take_and_give(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 500; i++) {
		unsigned char *mem;
		void *slot;

		if (swapio_pool_acquire(pool, SWAPIO_FOREVER, &slot) < 0)
			return pool;
		mem = slot;
		for (unsigned j = 0; j < 64; j++)
			mem[j] = (unsigned char)i;
		for (unsigned j = 0; j < 64; j++)
			if (mem[j] != (unsigned char)i)
				return pool;
		if (swapio_pool_release(pool, slot) < 0)
			return pool;
	}
	return NULL;
}

static void more_threads_than_slots_share_them(void **state)
{
	pthread_t threads[6];
	void *failed;

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
	for (unsigned i = 0; i < 6; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

static void impossible_pools_are_refused(void **state)
{
	struct swapio_pool *none = (void *)&none, *before = none;

	(void)state;
	assert_int_equal(swapio_pool_create(handle, 0, 1, &none), -EINVAL);
	assert_int_equal(swapio_pool_create(handle, 1, 0, &none), -EINVAL);
	assert_int_equal(swapio_pool_create(handle, 1, 65537, &none), -EINVAL);
	assert_int_equal(swapio_pool_create(handle, ((size_t)1 << 40) + 1, 1, &none), -EINVAL);
	assert_int_equal(swapio_pool_create(handle, (size_t)1 << 40, 65536, &none), -ENOMEM);
	assert_ptr_equal(none, before);
	assert_int_equal(swapio_pool_destroy(NULL), 0);
}

static void the_largest_number_of_slots_works(void **state)
{
	struct swapio_pool *large;
	void *first, *second;

	(void)state;
	assert_int_equal(swapio_pool_create(handle, 1, 65536, &large), 0);
	assert_int_equal(swapio_pool_slot_bytes(large), 4096);
	assert_int_equal(swapio_pool_acquire(large, 0, &first), 0);
	assert_int_equal(swapio_pool_acquire(large, 0, &second), 0);
	assert_int_equal(swapio_pool_release(large, first), 0);
	assert_int_equal(swapio_pool_release(large, second), 0);
	assert_int_equal(swapio_pool_destroy(large), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(slots_are_separate_aligned_and_pinned),
		CASE(an_empty_pool_times_out_and_writes_nothing),
		CASE(only_acquired_slots_are_released_and_only_once),
		CASE(a_released_slot_wakes_one_that_waits),
		CASE(more_threads_than_slots_share_them),
		CASE(impossible_pools_are_refused),
		CASE(the_largest_number_of_slots_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
