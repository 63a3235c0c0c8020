/* SPDX-License-Identifier: MIT */
/*
 * test_swap_lend.c - slots of the pool are lent to swap-ins, waited for with a deadline, and given
 * back once; those that swaps need for staging are never lent.
 */
#include <sched.h>

#include "store.h"
#include "swap_helpers.h"

#define SLOTS 6u /* of which 2 are for staging, with one thread or none */
#define LENDABLE (SLOTS - 2)

static struct swapio_tensor tensors[LENDABLE + 1];
static struct swapio_group *group;

static void set_up(unsigned threads, unsigned count)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	struct swapio_store_options options = store_options(threads);
	struct memory memory;

	options.slots = SLOTS;
	begin_with(threads, &options);
	for (unsigned i = 0; i < count; i++)
		tensors[i] = tensor_of(names[i], 1000 + i, 4);
	group = open_group("g", tensors, count);
	memory_make(&memory, tensors, count, 0);
	memory_fill(&memory, 1);
	swap_out_ok(group, memory.mem);
	memory_free(&memory);
}

static void tear_down(void)
{
	assert_int_equal(swapio_group_close(group), 0);
	end();
}

static void release(void *slot)
{
	assert_int_equal(swapio_slot_release(store, slot), 0);
}

static struct swapio_swap lend_of(void **mem)
{
	struct swapio_swap swap = swap_of(group, SWAPIO_SWAP_IN, mem);

	swap.slot_timeout_ns = 0;
	return swap;
}

static void every_tensor_is_lent_a_pinned_slot(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads < 2; threads++) {
		void *mem[LENDABLE] = {NULL};
		struct swapio_swap_result result;

		set_up(threads, LENDABLE);
		result = run(group, SWAPIO_SWAP_IN, mem);
		assert_good(&result);
		/* The slot has room for the padding, too: nothing is copied. */
		assert_int_equal(result.staged_bytes, 0);
		for (unsigned i = 0; i < LENDABLE; i++) {
			assert_non_null(mem[i]);
			assert_true(swapio_is_pinned(handle, mem[i], 16384));
			assert_tensor_holds(mem[i], (1000 + i) * 4, i, 1);
		}
		assert_int_equal(swapio_store_close(store, 0), -EBUSY);
		for (unsigned i = 0; i < LENDABLE; i++)
			release(mem[i]);
		tear_down();
	}
}

/* A lent slot is memory like any other for the swap-out that follows. */
static void what_was_lent_can_be_swapped_out(void **state)
{
	void *mem[2] = {NULL};

	(void)state;
	set_up(1, 2);
	swap_in_ok(group, mem);
	fill_random(mem[0], 4000, 2000);
	fill_random(mem[1], 4004, 2001);
	swap_out_ok(group, mem);
	release(mem[0]);
	release(mem[1]);
	memset(mem, 0, sizeof(mem));
	swap_in_ok(group, mem);
	assert_tensor_holds(mem[0], 4000, 0, 2);
	assert_tensor_holds(mem[1], 4004, 1, 2);
	release(mem[0]);
	release(mem[1]);
	tear_down();
}

static void some_are_lent_and_others_bring_their_memory(void **state)
{
	unsigned char mine[4004];
	void *mem[3] = {NULL, mine, NULL};

	(void)state;
	set_up(1, 3);
	swap_in_ok(group, mem);
	assert_ptr_equal(mem[1], mine);
	assert_tensor_holds(mem[0], 4000, 0, 1);
	assert_tensor_holds(mine, 4004, 1, 1);
	assert_tensor_holds(mem[2], 4008, 2, 1);
	assert_int_equal(swapio_slot_release(store, mine), -EINVAL);
	release(mem[0]);
	release(mem[2]);
	tear_down();
}

static void too_few_slots_are_waited_for_until_the_deadline_and_none_stays(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads < 2; threads++) {
		void *first[2] = {NULL}, *mem[3] = {NULL};
		struct swapio_error error = {0};
		struct swapio_swap swap;
		swapio_swap_id id;

		set_up(threads, 3);
		swap = lend_of(first);
		swap.count = 2;
		finish_swap(start_swap(&swap));
		swap = lend_of(mem);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(swapio_swap_start(&swap, &error, &id), -ETIMEDOUT);
			assert_string_equal(error.text,
					    "group g: 3 slots are to be lent, and so many did not "
					    "come free in time, of 4");
			for (unsigned j = 0; j < 3; j++)
				assert_null(mem[j]);
			swap.slot_timeout_ns = NS_PER_MS;
		}
		/* What there is can still be lent. */
		swap.count = 2;
		finish_swap(start_swap(&swap));
		release(first[0]);
		release(first[1]);
		release(mem[0]);
		release(mem[1]);
		tear_down();
	}
}

static void *release_later(void *slot)
{
	return (void *)(intptr_t)swapio_slot_release(store, slot);
}

static void a_slot_that_another_thread_gives_back_lets_a_start_go_on(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads < 2; threads++) {
		void *mem[LENDABLE] = {NULL}, *again[1] = {NULL}, *ret;
		struct swapio_swap swap;
		pthread_t thread;

		set_up(threads, LENDABLE);
		swap_in_ok(group, mem);
		assert_int_equal(pthread_create(&thread, NULL, release_later, mem[2]), 0);
		swap = lend_of(again);
		swap.count = 1;
		swap.slot_timeout_ns = SWAPIO_FOREVER;
		finish_swap(start_swap(&swap));
		pthread_join(thread, &ret);
		assert_null(ret);
		assert_ptr_equal(again[0], mem[2]);
		assert_tensor_holds(again[0], 4000, 0, 1);
		mem[2] = again[0];
		for (unsigned i = 0; i < LENDABLE; i++)
			release(mem[i]);
		tear_down();
	}
}

static void more_than_can_ever_be_lent_is_refused_at_once(void **state)
{
	void *mem[LENDABLE + 1] = {NULL};
	struct swapio_error error = {0};
	struct swapio_swap swap;
	swapio_swap_id id;

	(void)state;
	set_up(1, LENDABLE + 1);
	swap = lend_of(mem);
	swap.slot_timeout_ns = SWAPIO_FOREVER;
	assert_int_equal(swapio_swap_start(&swap, &error, &id), -EMSGSIZE);
	assert_string_equal(error.text,
			    "group g: 5 slots are to be lent, and the pool has 4 to lend");
	tear_down();
}

static void a_tensor_larger_than_a_slot_is_not_lent_one(void **state)
{
	const struct swapio_tensor large[] = {
		tensor_of("fits", 16384, 1),
		tensor_of("large", 16385, 1),
	};
	struct swapio_group *other;
	struct swapio_error error = {0};
	void *mem[2] = {NULL};
	struct swapio_swap swap;
	struct memory memory;
	swapio_swap_id id;

	(void)state;
	set_up(1, 1);
	other = open_group("large", large, 2);
	memory_make(&memory, large, 2, 0);
	memory_fill(&memory, 3);
	swap_out_ok(other, memory.mem);
	swap = swap_of(other, SWAPIO_SWAP_IN, mem);
	assert_int_equal(swapio_swap_start(&swap, &error, &id), -EMSGSIZE);
	assert_string_equal(error.text, "group large, tensor 1 (large) takes 20480 bytes, and a "
					"slot to lend has 16384");
	assert_null(mem[0]);
	swap.count = 1;
	finish_swap(start_swap(&swap));
	assert_tensor_holds(mem[0], 16384, 0, 3);
	release(mem[0]);
	memory_free(&memory);
	assert_int_equal(swapio_group_close(other), 0);
	tear_down();
}

/* With every slot lent, staging has its own, and a tensor of many slots goes through them. */
static void staging_works_while_everything_is_lent(void **state)
{
	const struct swapio_tensor large[] = {tensor_of("large", 200001, 1)};

	(void)state;
	for (unsigned threads = 0; threads < 2; threads++) {
		void *mem[LENDABLE] = {NULL};
		struct swapio_group *other;
		struct memory memory;

		set_up(threads, LENDABLE);
		swap_in_ok(group, mem);
		other = open_group("large", large, 1);
		memory_make(&memory, large, 1, 1);
		memory_fill(&memory, 4);
		assert_int_equal(swap_out_ok(other, memory.mem).staged_bytes, 200001);
		memory_poison(&memory);
		assert_int_equal(swap_in_ok(other, memory.mem).staged_bytes, 200001);
		assert_memory_holds(&memory, 4);
		memory_free(&memory);
		for (unsigned i = 0; i < LENDABLE; i++)
			release(mem[i]);
		assert_int_equal(swapio_group_close(other), 0);
		tear_down();
	}
}

/* Without threads the slots that a begun swap has come back because the lender carries it out. */
static void a_lender_carries_out_what_has_its_slots(void **state)
{
	const struct swapio_tensor large[] = {tensor_of("large", 200001, 1)};
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};
	struct swapio_group *other;
	struct swapio_swap swap;
	struct memory memory;
	void *mem[LENDABLE] = {NULL};
	swapio_swap_id id;
	int ret;

	(void)state;
	set_up(0, LENDABLE);
	other = open_group("large", large, 1);
	memory_make(&memory, large, 1, 1);
	memory_fill(&memory, 4);
	swap = swap_of(other, SWAPIO_SWAP_OUT, memory.mem);
	id = start_swap(&swap);
	ret = swapio_swap_wait(store, id, 0, &result);
	assert_true(ret == 0 || ret == -ETIMEDOUT);
	swap_in_ok(group, mem);
	if (ret == -ETIMEDOUT)
		result = finish_swap(id);
	assert_good(&result);
	for (unsigned i = 0; i < LENDABLE; i++)
		release(mem[i]);
	memory_free(&memory);
	assert_int_equal(swapio_group_close(other), 0);
	tear_down();
}

static void *start_and_finish(void *arg)
{
	const struct swapio_swap *swap = arg;
	struct swapio_swap_result result = {.size_bytes = sizeof(result), .error = -ESRCH};
	swapio_swap_id id;

	if (swapio_swap_start(swap, NULL, &id) < 0 ||
	    swapio_swap_wait(store, id, SWAPIO_FOREVER, &result) < 0)
		return arg;
	return result.error ? arg : NULL;
}

static bool somebody_waits_for_slots(void)
{
	bool waits;

	pthread_mutex_lock(&store->lock);
	waits = !list_empty(&store->swaps.slots.lenders);
	pthread_mutex_unlock(&store->lock);
	return waits;
}

/* Or a stream of staged swaps would keep a lender waiting for ever. */
static void staging_takes_no_more_than_its_own_while_somebody_waits(void **state)
{
	void *mem[LENDABLE] = {NULL}, *one[1] = {NULL}, *reserved, *shared, *failed;
	struct swapio_swap swap, swap_one;
	swapio_swap_id id;
	pthread_t thread;

	(void)state;
	set_up(1, LENDABLE);
	shared = swapioi_slot_stage(store, SLOTS_RESERVED);
	assert_non_null(shared);
	swap = lend_of(mem);
	swap.slot_timeout_ns = SWAPIO_FOREVER;
	assert_int_equal(pthread_create(&thread, NULL, start_and_finish, &swap), 0);
	while (!somebody_waits_for_slots())
		sched_yield();
	assert_null(swapioi_slot_stage(store, SLOTS_RESERVED));
	reserved = swapioi_slot_stage(store, 0);
	assert_non_null(reserved);
	swapioi_slot_unstage(store, 1, reserved);
	/* Nor does one overtake who wants less. */
	swap_one = lend_of(one);
	swap_one.count = 1;
	assert_int_equal(swapio_swap_start(&swap_one, NULL, &id), -ETIMEDOUT);
	assert_true(somebody_waits_for_slots());
	swapioi_slot_unstage(store, SLOTS_RESERVED + 1, shared);
	pthread_join(thread, &failed);
	assert_null(failed);
	for (unsigned i = 0; i < LENDABLE; i++)
		release(mem[i]);
	tear_down();
}

static void *start_only(void *arg)
{
	swapio_swap_id id;

	return (void *)(intptr_t)swapio_swap_start(arg, NULL, &id);
}

static void closing_the_store_ends_the_wait_for_slots(void **state)
{
	void *mem[LENDABLE] = {NULL}, *again[1] = {NULL}, *ret;
	struct swapio_swap swap;
	pthread_t thread;

	(void)state;
	set_up(1, LENDABLE);
	swap_in_ok(group, mem);
	swap = lend_of(again);
	swap.count = 1;
	swap.slot_timeout_ns = SWAPIO_FOREVER;
	assert_int_equal(pthread_create(&thread, NULL, start_only, &swap), 0);
	while (!somebody_waits_for_slots())
		sched_yield();
	assert_int_equal(swapio_store_close(store, 0), -EBUSY);
	pthread_join(thread, &ret);
	assert_int_equal((int)(intptr_t)ret, -ESHUTDOWN);
	assert_null(again[0]);
	for (unsigned i = 0; i < LENDABLE; i++)
		release(mem[i]);
	tear_down();
}

static void only_lent_slots_are_released_and_only_once(void **state)
{
	void *mem[1] = {NULL};
	int unrelated;

	(void)state;
	set_up(1, 1);
	swap_in_ok(group, mem);
	assert_int_equal(swapio_slot_release(store, (char *)mem[0] + 4096), -EINVAL);
	assert_int_equal(swapio_slot_release(store, &unrelated), -EINVAL);
	assert_int_equal(swapio_slot_release(store, NULL), -EINVAL);
	assert_int_equal(swapio_slot_release(store, mem[0]), 0);
	assert_int_equal(swapio_slot_release(store, mem[0]), -EINVAL);
	tear_down();
}

static void a_slot_stays_lent_until_its_swap_is_over_and_also_when_that_failed(void **state)
{
	void *mem[1] = {NULL};
	struct swapio_swap_result result;
	struct swapio_swap swap;
	swapio_swap_id id;

	(void)state;
	set_up(0, 1);
	swap = lend_of(mem);
	swap.generation = 9;
	id = start_swap(&swap);
	assert_non_null(mem[0]);
	assert_int_equal(swapio_slot_release(store, mem[0]), -EBUSY);
	result = finish_swap(id);
	assert_int_equal(result.error, -ESTALE);
	release(mem[0]);
	tear_down();
}

static void empty_tensors_are_lent_nothing(void **state)
{
	const struct swapio_tensor empty[] = {tensor_of("empty", 0, 4), tensor_of("full", 1, 1)};
	struct swapio_group *other;
	unsigned char byte = 7;
	void *mem[2] = {NULL, &byte};

	(void)state;
	set_up(1, 1);
	other = open_group("empty", empty, 2);
	swap_out_ok(other, mem);
	mem[1] = NULL;
	swap_in_ok(other, mem);
	assert_null(mem[0]);
	assert_int_equal(*(unsigned char *)mem[1], 7);
	release(mem[1]);
	assert_int_equal(swapio_group_close(other), 0);
	tear_down();
}

static void a_pool_without_room_for_staging_is_refused(void **state)
{
	struct swapio_store_options options = store_options(4);
	struct swapio_error error = {0};

	(void)state;
	begin(1, 1);
	close_store();
	options.slots = 7;
	assert_int_equal(swapio_store_open(handle, store_path, &options, &error, &store), -EINVAL);
	assert_non_null(strstr(error.text, "slots is 7"));
	options.slots = 8;
	open_store(&options);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tensor_is_lent_a_pinned_slot),
		cmocka_unit_test(what_was_lent_can_be_swapped_out),
		cmocka_unit_test(some_are_lent_and_others_bring_their_memory),
		cmocka_unit_test(too_few_slots_are_waited_for_until_the_deadline_and_none_stays),
		cmocka_unit_test(a_slot_that_another_thread_gives_back_lets_a_start_go_on),
		cmocka_unit_test(more_than_can_ever_be_lent_is_refused_at_once),
		cmocka_unit_test(a_tensor_larger_than_a_slot_is_not_lent_one),
		cmocka_unit_test(staging_works_while_everything_is_lent),
		cmocka_unit_test(a_lender_carries_out_what_has_its_slots),
		cmocka_unit_test(staging_takes_no_more_than_its_own_while_somebody_waits),
		cmocka_unit_test(closing_the_store_ends_the_wait_for_slots),
		cmocka_unit_test(only_lent_slots_are_released_and_only_once),
		cmocka_unit_test(
			a_slot_stays_lent_until_its_swap_is_over_and_also_when_that_failed),
		cmocka_unit_test(empty_tensors_are_lent_nothing),
		cmocka_unit_test(a_pool_without_room_for_staging_is_refused),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
