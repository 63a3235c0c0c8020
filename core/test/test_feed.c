/* SPDX-License-Identifier: MIT */
/* test_feed.c - how blocks are handed to the kernel: batches, EAGAIN, partial accepts, refusals. */
#include "script_engine.h"

#define BLOCKS 16u
#define BYTES (BLOCKS * 4096u)

static unsigned char model[BYTES];
static unsigned char *buf;
static int fd;

static struct swapio *begin(const struct swapio_options *options)
{
	struct swapio *handle = script_open(options);

	buf = alloc_buffer(handle, BYTES);
	fill_random(model, BYTES, 1);
	write_file(file_path, model, BYTES);
	fd = open(file_path, O_RDWR | O_DIRECT);
	assert_true(fd >= 0);
	return handle;
}

static void end(struct swapio *handle)
{
	close(fd);
	script_close(handle);
}

static struct swapio_result read_all(struct swapio *handle)
{
	struct swapio_io io = io_of(SWAPIO_READ, NULL, fd, 0, buf, BYTES);

	memset(buf, 0xee, BYTES);
	return finish(handle, start(handle, &io));
}

static void reads_exactly(struct swapio *handle)
{
	struct swapio_result result = read_all(handle);

	assert_int_equal(result.error, 0);
	assert_int_equal(result.bytes, BYTES);
	assert_memory_equal(buf, model, BYTES);
}

/* With the script's submits as they are now, for every way to drive and to batch. */
static void every_mode_reads_exactly(unsigned retries)
{
	int submits[SCRIPT_STEPS];

	memcpy(submits, script.submits, sizeof(submits));
	for (unsigned mode = 0; mode < 8; mode++) {
		struct swapio_options options = script_options(mode & 1);
		struct swapio *handle;

		options.overlap_events = mode & 2;
		options.single_submit = mode & 4;
		script_reset();
		memcpy(script.submits, submits, sizeof(submits));
		handle = begin(&options);
		reads_exactly(handle);
		if (!options.single_submit)
			assert_int_equal(stats_of(handle).retries, retries);
		assert_int_equal(script.accepted, BLOCKS);
		end(handle);
	}
}

static void again_is_answered_by_another_try(void **state)
{
	(void)state;
	script_reset();
	script.submits[0] = script.submits[1] = -EAGAIN;
	script.submits[3] = -EAGAIN;
	every_mode_reads_exactly(3);
}

static void what_a_partial_accept_leaves_is_submitted_once(void **state)
{
	(void)state;
	script_reset();
	script.submits[0] = 1;
	script.submits[1] = 2;
	script.submits[2] = 0;
	every_mode_reads_exactly(3);
}

static void again_for_ever_fails_after_a_bounded_number_of_tries(void **state)
{
	struct swapio_result result;
	struct swapio *handle;

	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		struct swapio_options options = script_options(workers);

		script_reset();
		for (unsigned i = 0; i < SCRIPT_STEPS; i++)
			script.submits[i] = workers ? 0 : -EAGAIN;
		script.submits_after = script.submits[0];
		handle = begin(&options);
		result = read_all(handle);
		assert_int_equal(result.error, -EAGAIN);
		assert_int_equal(result.cause, SWAPIO_CAUSE_SUBMIT);
		assert_int_equal(result.bytes, 0);
		assert_int_equal(result.fail_offset_bytes, 0);
		assert_int_equal(result.fail_length_bytes, BYTES);
		for (unsigned i = 0; i < BYTES; i++)
			assert_int_equal(buf[i], 0xee);
		assert_in_range(script.submit_calls, 2, 200);
		script.submits_after = SCRIPT_PASS;
		reads_exactly(handle);
		end(handle);
	}
}

static void a_deadline_ends_the_wait_for_a_kernel_that_says_again(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio_result result = {.tag = 77};
	struct swapio *handle;
	struct swapio_io io;
	swapio_id id;

	(void)state;
	script_reset();
	for (unsigned i = 0; i < SCRIPT_STEPS; i++)
		script.submits[i] = -EAGAIN;
	handle = begin(&options);
	io = io_of(SWAPIO_READ, NULL, fd, 0, buf, BYTES);
	id = start(handle, &io);
	assert_int_equal(swapio_wait(handle, id, NS_PER_MS, &result), -ETIMEDOUT);
	assert_int_equal(result.tag, 77);
	for (unsigned i = 0; i < SCRIPT_STEPS; i++)
		script.submits[i] = SCRIPT_PASS;
	assert_int_equal(finish(handle, id).error, 0);
	assert_memory_equal(buf, model, BYTES);
	end(handle);
}

/* Only waiting counts as trying: a burst of submits must not use the tries up. */
static void a_burst_of_submits_does_not_exhaust_the_tries(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio_result results[300];
	struct swapio *handle;

	(void)state;
	script_reset();
	for (unsigned i = 0; i < 10; i++)
		script.submits[i] = -EAGAIN;
	handle = begin(&options);
	for (unsigned i = 0; i < 300; i++) {
		struct swapio_io io = io_of(SWAPIO_READ, NULL, fd, 0, buf, 4096);

		start(handle, &io);
	}
	assert_int_equal(script.submit_calls, 1);
	assert_int_equal(swapio_wait_some(handle, 300, 300, SWAPIO_FOREVER, results), 300);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(results[i].error, 0);
	end(handle);
}

static void a_refused_block_fails_its_request_only(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio_result result;
	struct swapio *handle;
	struct swapio_io io;
	swapio_id ids[3];

	(void)state;
	script_reset();
	script.submits[1] = -EBADF;
	handle = begin(&options);
	for (unsigned i = 0; i < 3; i++) {
		io = io_of(SWAPIO_READ, NULL, fd, i * 4096u, buf + i * 4096u, 4096);
		ids[i] = start(handle, &io);
	}
	assert_int_equal(finish(handle, ids[0]).error, 0);
	result = finish(handle, ids[1]);
	assert_int_equal(result.error, -EBADF);
	assert_int_equal(result.cause, SWAPIO_CAUSE_SUBMIT);
	assert_int_equal(result.raw_status, -EBADF);
	assert_int_equal(finish(handle, ids[2]).error, 0);
	assert_memory_equal(buf + 8192, model + 8192, 4096);
	reads_exactly(handle);
	end(handle);
}

static void single_submit_hands_over_one_block_a_call(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio *handle;

	(void)state;
	script_reset();
	options.single_submit = true;
	handle = begin(&options);
	reads_exactly(handle);
	assert_int_equal(script.batch_max, 1);
	assert_int_equal(script.submit_calls, BLOCKS);
	end(handle);
	script_reset();
	options.single_submit = false;
	handle = begin(&options);
	reads_exactly(handle);
	assert_int_equal(script.batch_max, 4);
	end(handle);
}

static void batch_by_batch_asks_for_the_whole_batch_and_starts_none_before(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio *handle;

	(void)state;
	script_reset();
	options.overlap_events = false;
	script.waits[0] = 1;
	script.waits[1] = 2;
	handle = begin(&options);
	reads_exactly(handle);
	assert_int_equal(script.waits_min[0], 4);
	assert_int_equal(script.waits_min[1], 3);
	assert_int_equal(script.waits_min[2], 1);
	assert_int_equal(script.waits_min[3], 4);
	assert_int_equal(script.submit_calls, 4);
	assert_int_equal(stats_of(handle).short_waits, 2);
	end(handle);
}

static void overlapping_events_ask_for_one_and_refill(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio *handle;

	(void)state;
	script_reset();
	script.waits_after = 1;
	for (unsigned i = 0; i < SCRIPT_STEPS; i++)
		script.waits[i] = 1;
	handle = begin(&options);
	reads_exactly(handle);
	assert_int_equal(script.waits_min[0], 1);
	assert_int_equal(script.wait_calls, BLOCKS);
	assert_int_equal(script.submit_calls, BLOCKS - 3);
	end(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(again_is_answered_by_another_try),
		cmocka_unit_test(what_a_partial_accept_leaves_is_submitted_once),
		cmocka_unit_test(again_for_ever_fails_after_a_bounded_number_of_tries),
		cmocka_unit_test(a_deadline_ends_the_wait_for_a_kernel_that_says_again),
		cmocka_unit_test(a_burst_of_submits_does_not_exhaust_the_tries),
		cmocka_unit_test(a_refused_block_fails_its_request_only),
		cmocka_unit_test(single_submit_hands_over_one_block_a_call),
		cmocka_unit_test(batch_by_batch_asks_for_the_whole_batch_and_starts_none_before),
		cmocka_unit_test(overlapping_events_ask_for_one_and_refill),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
