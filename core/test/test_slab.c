/* SPDX-License-Identifier: MIT */
/* test_slab.c - large pieces of memory, and the list of pinned ranges. */
#include <sys/mman.h>

#include "helpers.h"
#include "slab.h"

static void slabs_are_aligned_and_whole(void **state)
{
	const size_t alignments[] = {1, 4096, 65536, 2u << 20};
	const size_t lengths[] = {1, 4096, 100000, (4u << 20) + 1};

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		size_t length = lengths[i / 4], alignment = alignments[i % 4];
		struct slab slab;
		char *mem;

		assert_int_equal(swapioi_slab_create(&slab, length, alignment, i % 2), 0);
		mem = slab.mem;
		assert_int_equal((uintptr_t)mem % alignment, 0);
		assert_true(slab.length_bytes >= length);
		mem[0] = mem[length - 1] = 1;
		swapioi_slab_destroy(&slab);
		assert_null(slab.mem);
		swapioi_slab_destroy(&slab);
	}
}

static void a_locked_slab_is_pinned_as_long_as_it_lives(void **state)
{
	struct slab slab;
	char *mem;

	(void)state;
	assert_int_equal(swapioi_slab_create(&slab, 5000, 4096, true), 0);
	mem = slab.mem;
	assert_int_equal(swapioi_pin_contains(mem, 5000), slab.locked);
	assert_false(swapioi_pin_contains(mem, 5001));
	swapioi_slab_destroy(&slab);
	assert_false(swapioi_pin_contains(mem, 1));
}

static void a_slab_that_is_not_pinned_is_not_listed(void **state)
{
	struct slab slab;

	(void)state;
	assert_int_equal(swapioi_slab_create(&slab, 5000, 4096, false), 0);
	assert_false(slab.locked);
	assert_false(swapioi_pin_contains(slab.mem, 1));
	swapioi_slab_destroy(&slab);
}

static void lengths_that_cannot_be_are_refused(void **state)
{
	struct slab slab;

	(void)state;
	assert_int_equal(swapioi_slab_create(&slab, 0, 4096, true), -EINVAL);
	assert_int_equal(swapioi_slab_create(&slab, SIZE_MAX, 4096, true), -EINVAL);
	assert_int_equal(swapioi_slab_create(&slab, PTRDIFF_MAX, 4096, true), -ENOMEM);
	assert_int_equal(swapioi_slab_create(&slab, PTRDIFF_MAX / 2, 4096, true), -ENOMEM);
}

static void neighbouring_ranges_are_two(void **state)
{
	static char memory[100];
	struct pin_range left, right;

	(void)state;
	swapioi_pin_add(&left, memory, 50);
	swapioi_pin_add(&right, memory + 50, 50);
	assert_true(swapioi_pin_contains(memory + 49, 1));
	assert_true(swapioi_pin_contains(memory + 50, 50));
	assert_false(swapioi_pin_contains(memory + 49, 2));
	swapioi_pin_remove(&left);
	assert_false(swapioi_pin_contains(memory + 49, 1));
	assert_true(swapioi_pin_contains(memory + 50, 1));
	swapioi_pin_remove(&right);
	assert_false(swapioi_pin_contains(memory + 50, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slabs_are_aligned_and_whole),
		cmocka_unit_test(a_locked_slab_is_pinned_as_long_as_it_lives),
		cmocka_unit_test(a_slab_that_is_not_pinned_is_not_listed),
		cmocka_unit_test(lengths_that_cannot_be_are_refused),
		cmocka_unit_test(neighbouring_ranges_are_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
