/* SPDX-License-Identifier: MIT */
/* test_request.c - how requests are cut into blocks, and how the blocks' ends add up. */
#include "helpers.h"
#include "request.h"

static struct file file;
static struct request request;

static void make(uint64_t offset, uint64_t length, uintptr_t mem, uint64_t block_bytes)
{
	const struct cut_sizes sizes = {.block_bytes = block_bytes, .bounce_bytes = block_bytes};
	struct swapio_io io = io_of(SWAPIO_WRITE, NULL, 0, offset, (void *)mem, length);

	file = (struct file){.align = {.mem = 4, .offset = 512}, .direct = true};
	memset(&request, 0, sizeof(request));
	list_init(&request.link);
	swapioi_request_start(&request, &io, &file, &sizes, true);
}

static void next_is(uint64_t start, uint64_t end, bool bounce)
{
	struct cut cut;

	assert_true(swapioi_request_has_more(&request));
	cut = swapioi_request_cut(&request);
	assert_int_equal(cut.start, start);
	assert_int_equal(cut.end, end);
	assert_int_equal(cut.bounce, bounce);
}

static void over(void)
{
	assert_false(swapioi_request_has_more(&request));
}

static void aligned_ranges_are_cut_at_multiples_of_the_block(void **state)
{
	(void)state;
	make(0, 8192, 4096, 4096);
	next_is(0, 4096, false);
	next_is(4096, 8192, false);
	over();
	make(512, 8192, 4096, 4096);
	next_is(512, 4096, false);
	next_is(4096, 8192, false);
	next_is(8192, 8704, false);
	over();
}

static void odd_heads_and_tails_are_bounced_and_the_middle_is_not(void **state)
{
	(void)state;
	make(700, 8192, 4096, 4096); /* memory of 1024 is 4096 + 324: a multiple of 4 */
	next_is(700, 1024, true);
	next_is(1024, 4096, false);
	next_is(4096, 8192, false);
	next_is(8192, 8704, false);
	next_is(8704, 8892, true);
	over();
}

static void memory_that_never_fits_is_bounced_whole(void **state)
{
	(void)state;
	make(1, 10000, 4096, 4096); /* memory of 512 is 4096 + 511 */
	next_is(1, 4096, true);
	next_is(4096, 8192, true);
	next_is(8192, 10001, true);
	over();
}

static void a_range_inside_one_sector_is_one_block(void **state)
{
	(void)state;
	make(513, 3, 4096, 4096);
	next_is(513, 516, true);
	over();
	make(511, 2, 4096, 4096);
	next_is(511, 513, true);
	over();
}

static void device_memory_is_always_bounced(void **state)
{
	(void)state;
	make(0, 8192, 4096, 4096);
	request.on_host = false;
	next_is(0, 4096, true);
	next_is(4096, 8192, true);
	over();
}

static void blocks_are_whole_sectors_even_if_the_option_is_not(void **state)
{
	(void)state;
	make(0, 3000, 4096, 700);
	assert_int_equal(request.block_bytes, 512);
	make(0, 3072, 4096, 1536);
	next_is(0, 1536, false);
	next_is(1536, 3072, false);
	over();
}

static void the_last_offset_there_is_can_be_cut(void **state)
{
	(void)state;
	make(INT64_MAX - 1000, 1000, 4096, 4096);
	next_is(INT64_MAX - 1000, INT64_MAX, true);
	over();
}

static void end_block(uint64_t start, uint64_t moved_to, uint64_t end, int error,
		      enum swapio_cause cause)
{
	const struct block_end block = {start, moved_to, end, error, cause, error};

	request.blocks_out--;
	swapioi_request_account(&request, &block);
}

static struct swapio_result result(void)
{
	struct swapio_result ret;

	swapioi_request_result(&request, 7, &ret);
	return ret;
}

static void the_failure_nearest_to_the_start_speaks_in_any_order(void **state)
{
	(void)state;
	for (unsigned first = 0; first < 2; first++) {
		make(0, 16384, 4096, 4096);
		for (unsigned i = 0; i < 3; i++)
			swapioi_request_cut(&request);
		if (first)
			end_block(0, 512, 4096, -EIO, SWAPIO_CAUSE_DEVICE);
		end_block(4096, 4096, 8192, -ENOSPC, SWAPIO_CAUSE_DEVICE);
		if (!first)
			end_block(0, 512, 4096, -EIO, SWAPIO_CAUSE_DEVICE);
		over(); /* what was not cut is dropped */
		end_block(8192, 12288, 12288, 0, SWAPIO_CAUSE_NONE);
		assert_int_equal(result().error, -EIO);
		assert_int_equal(result().raw_status, -EIO);
		assert_int_equal(result().bytes, 512 + 4096);
		assert_int_equal(result().fail_offset_bytes, 512);
		assert_int_equal(result().fail_length_bytes, 16384 - 512);
	}
}

static void a_failure_stops_what_is_behind_it_only(void **state)
{
	(void)state;
	make(0, 16384, 4096, 4096);
	for (unsigned i = 0; i < 4; i++)
		swapioi_request_cut(&request);
	assert_true(swapioi_request_wants(&request, 12288));
	end_block(8192, 8192, 12288, -EIO, SWAPIO_CAUSE_DEVICE);
	assert_true(swapioi_request_wants(&request, 4096));
	assert_false(swapioi_request_wants(&request, 12288));
	end_block(12288, 12288, 16384, -ECANCELED, SWAPIO_CAUSE_NONE);
	assert_int_equal(result().error, -EIO);
	assert_int_equal(result().fail_length_bytes, 8192);
}

static void a_cancelled_request_keeps_a_true_failure(void **state)
{
	(void)state;
	make(0, 16384, 4096, 4096);
	swapioi_request_cut(&request);
	swapioi_request_cancel(&request);
	over();
	assert_false(swapioi_request_wants(&request, 0));
	assert_int_equal(result().error, -ECANCELED);
	assert_int_equal(result().cause, SWAPIO_CAUSE_CANCELLED);
	end_block(0, 0, 4096, -EIO, SWAPIO_CAUSE_DEVICE);
	assert_int_equal(result().error, -EIO);
	assert_int_equal(result().cause, SWAPIO_CAUSE_DEVICE);
	assert_int_equal(result().fail_offset_bytes, 0);
	assert_int_equal(result().fail_length_bytes, 16384);
}

static void a_request_without_failure_says_nothing_of_a_range(void **state)
{
	(void)state;
	make(4096, 4096, 4096, 4096);
	swapioi_request_cut(&request);
	end_block(4096, 8192, 8192, 0, SWAPIO_CAUSE_NONE);
	assert_int_equal(result().id, 7);
	assert_int_equal(result().error, 0);
	assert_int_equal(result().bytes, 4096);
	assert_int_equal(result().fail_offset_bytes, 0);
	assert_int_equal(result().fail_length_bytes, 0);
	assert_false(result().buffered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned_ranges_are_cut_at_multiples_of_the_block),
		cmocka_unit_test(odd_heads_and_tails_are_bounced_and_the_middle_is_not),
		cmocka_unit_test(memory_that_never_fits_is_bounced_whole),
		cmocka_unit_test(a_range_inside_one_sector_is_one_block),
		cmocka_unit_test(device_memory_is_always_bounced),
		cmocka_unit_test(blocks_are_whole_sectors_even_if_the_option_is_not),
		cmocka_unit_test(the_last_offset_there_is_can_be_cut),
		cmocka_unit_test(the_failure_nearest_to_the_start_speaks_in_any_order),
		cmocka_unit_test(a_failure_stops_what_is_behind_it_only),
		cmocka_unit_test(a_cancelled_request_keeps_a_true_failure),
		cmocka_unit_test(a_request_without_failure_says_nothing_of_a_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
