/* SPDX-License-Identifier: MIT */
/* test_range.c - locks on byte ranges of files, and who is woken when one is given up. */
#include "helpers.h"
#include "range.h"

static const struct inode_key key = {.device = 1, .number = 2};
static struct inode *inode;

static void note_wake(void *arg)
{
	++*(unsigned *)arg;
}

static struct range_lock lock_of(uint64_t start, uint64_t end, bool exclusive, unsigned *wakes)
{
	return (struct range_lock){.start = start,
				   .end = end,
				   .exclusive = exclusive,
				   .wake = note_wake,
				   .wake_arg = wakes};
}

static int begin(void **state)
{
	(void)state;
	return swapioi_inode_get(&key, &inode);
}

static int end(void **state)
{
	(void)state;
	swapioi_inode_put(inode);
	return 0;
}

static void shared_ranges_overlap_freely(void **state)
{
	unsigned wakes = 0;
	struct range_lock a = lock_of(0, 100, false, &wakes), b = lock_of(50, 150, false, &wakes);

	(void)state;
	assert_true(swapioi_range_try(inode, &a));
	assert_true(swapioi_range_try(inode, &b));
	assert_true(swapioi_range_try(inode, &b)); /* held stays held */
	swapioi_range_release(inode, &a);
	swapioi_range_release(inode, &b);
	swapioi_range_release(inode, &b); /* idle: nothing to give up */
	assert_int_equal(wakes, 0);
}

static void an_exclusive_range_keeps_others_out_until_released(void **state)
{
	unsigned wakes = 0;
	struct range_lock a = lock_of(0, 100, true, &wakes), b = lock_of(99, 150, false, &wakes);
	struct range_lock beside = lock_of(100, 150, true, &wakes);

	(void)state;
	assert_true(swapioi_range_try(inode, &a));
	assert_true(swapioi_range_try(inode, &beside));
	swapioi_range_release(inode, &beside);
	assert_false(swapioi_range_try(inode, &b));
	assert_false(swapioi_range_try(inode, &b));
	assert_int_equal(b.state, RANGE_WAITING);
	assert_int_equal(wakes, 0);
	swapioi_range_release(inode, &a);
	assert_int_equal(wakes, 1);
	assert_true(swapioi_range_try(inode, &b));
	swapioi_range_release(inode, &b);
}

static void a_waiter_is_not_overtaken_by_those_that_conflict_with_it(void **state)
{
	unsigned wakes = 0, late_wakes = 0;
	struct range_lock reader = lock_of(0, 100, false, &wakes);
	struct range_lock writer = lock_of(0, 100, true, &wakes);
	struct range_lock late = lock_of(0, 10, false, &late_wakes);

	(void)state;
	assert_true(swapioi_range_try(inode, &reader));
	assert_false(swapioi_range_try(inode, &writer));
	assert_false(swapioi_range_try(inode, &late));
	swapioi_range_release(inode, &reader);
	assert_int_equal(wakes, 1);
	assert_false(swapioi_range_try(inode, &late)); /* the writer's turn */
	assert_true(swapioi_range_try(inode, &writer));
	swapioi_range_release(inode, &writer);
	assert_int_equal(late_wakes, 1);
	assert_true(swapioi_range_try(inode, &late));
	swapioi_range_release(inode, &late);
}

static void a_waiter_that_gives_up_wakes_those_behind_it(void **state)
{
	unsigned wakes = 0, late_wakes = 0;
	struct range_lock reader = lock_of(0, 100, false, &wakes);
	struct range_lock writer = lock_of(0, RANGE_TO_INFINITY, true, &wakes);
	struct range_lock late = lock_of(5000, 5001, false, &late_wakes);

	(void)state;
	assert_true(swapioi_range_try(inode, &reader));
	assert_false(swapioi_range_try(inode, &writer));
	assert_false(swapioi_range_try(inode, &late));
	swapioi_range_release(inode, &writer);
	assert_int_equal(writer.state, RANGE_IDLE);
	assert_int_equal(late_wakes, 1);
	assert_true(swapioi_range_try(inode, &late));
	swapioi_range_release(inode, &late);
	swapioi_range_release(inode, &reader);
}

static void the_same_file_has_one_entry_and_others_have_their_own(void **state)
{
	const struct inode_key keys[] = {
		{.device = 2, .number = 2},
		{.device = 1, .number = 3},
		{.device = 1, .number = 2, .block_device = true},
		{.device = 1, .number = 2 + 64},
	};
	struct inode *again, *other;

	(void)state;
	assert_int_equal(swapioi_inode_get(&key, &again), 0);
	assert_ptr_equal(again, inode);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(swapioi_inode_get(&keys[i], &other), 0);
		assert_ptr_not_equal(other, inode);
		swapioi_inode_put(other);
	}
	swapioi_inode_put(again);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(shared_ranges_overlap_freely),
		CASE(an_exclusive_range_keeps_others_out_until_released),
		CASE(a_waiter_is_not_overtaken_by_those_that_conflict_with_it),
		CASE(a_waiter_that_gives_up_wakes_those_behind_it),
		CASE(the_same_file_has_one_entry_and_others_have_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
