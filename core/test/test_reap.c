/* SPDX-License-Identifier: MIT */
/* test_reap.c - waits that are interrupted, return less or fail; events that belong to nobody. */
#include "script_engine.h"

#define BLOCKS 16u
#define BYTES (BLOCKS * 4096u)

static unsigned char model[BYTES];
static unsigned char *buf;
static int fd;

static struct swapio *begin(unsigned workers, bool overlap)
{
	struct swapio_options options = script_options(workers);
	struct swapio *handle;

	options.overlap_events = overlap;
	handle = script_open(&options);
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

static swapio_id start_read(struct swapio *handle)
{
	struct swapio_io io = io_of(SWAPIO_READ, NULL, fd, 0, buf, BYTES);

	memset(buf, 0xee, BYTES);
	return start(handle, &io);
}

static void reads_exactly(struct swapio *handle)
{
	struct swapio_result result = finish(handle, start_read(handle));

	assert_int_equal(result.error, 0);
	assert_int_equal(result.bytes, BYTES);
	assert_memory_equal(buf, model, BYTES);
}

static void interrupts_delay_and_lose_nothing(void **state)
{
	(void)state;
	for (unsigned mode = 0; mode < 4; mode++) {
		struct swapio *handle;

		script_reset();
		for (unsigned i = 0; i < 20; i++)
			script.waits[i] = -EINTR;
		script.waits[21] = -EINTR;
		handle = begin(mode & 1, mode & 2);
		reads_exactly(handle);
		assert_int_equal(stats_of(handle).interrupts, 21);
		end(handle);
	}
}

static void fewer_events_than_asked_are_not_the_end(void **state)
{
	(void)state;
	for (unsigned mode = 0; mode < 4; mode++) {
		struct swapio *handle;

		script_reset();
		for (unsigned i = 0; i < 20; i++)
			script.waits[i] = (int)(i % 3);
		handle = begin(mode & 1, mode & 2);
		reads_exactly(handle);
		assert_true(stats_of(handle).short_waits > 0);
		end(handle);
	}
}

static void failing_waits_are_tried_again(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		struct swapio *handle;

		script_reset();
		script.waits[0] = -EINVAL;
		script.waits[2] = -EFAULT;
		handle = begin(workers, true);
		reads_exactly(handle);
		assert_int_equal(script.create_calls, 1);
		end(handle);
	}
}

/* The context is destroyed, so nobody writes into the buffer afterwards, and made anew. */
static void a_wait_that_fails_for_good_fails_what_is_in_flight(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		struct swapio_result result;
		struct swapio *handle;

		script_reset();
		for (unsigned i = 0; i < SCRIPT_STEPS; i++)
			script.waits[i] = -EINVAL;
		script.waits_after = -EINVAL;
		handle = begin(workers, true);
		result = finish(handle, start_read(handle));
		assert_int_equal(result.error, -EINVAL);
		assert_int_equal(result.cause, SWAPIO_CAUSE_WAIT);
		assert_int_equal(result.fail_offset_bytes, 0);
		assert_int_equal(result.fail_length_bytes, BYTES);
		assert_int_equal(script.destroy_calls, 1);
		script.waits_after = SCRIPT_PASS;
		reads_exactly(handle);
		assert_int_equal(script.create_calls, 2);
		end(handle);
	}
}

static void without_a_new_context_blocks_fail_at_submit(void **state)
{
	struct swapio_result result;
	struct swapio *handle;

	(void)state;
	script_reset();
	for (unsigned i = 0; i < SCRIPT_STEPS; i++)
		script.waits[i] = -EINVAL;
	script.waits_after = -EINVAL;
	script.creates[1] = -EAGAIN;
	handle = begin(0, true);
	assert_int_equal(finish(handle, start_read(handle)).cause, SWAPIO_CAUSE_WAIT);
	script.waits_after = SCRIPT_PASS;
	result = finish(handle, start_read(handle));
	assert_int_equal(result.error, -EAGAIN);
	assert_int_equal(result.cause, SWAPIO_CAUSE_SUBMIT);
	reads_exactly(handle);
	script.create_calls--; /* the one that failed made nothing to destroy */
	end(handle);
}

static void events_twice_or_of_nobody_are_counted_and_harmless(void **state)
{
	(void)state;
	for (unsigned mode = 0; mode < 4; mode++) {
		struct swapio *handle;

		script_reset();
		script.steps[1].kind = STEP_TWICE;
		script.steps[3].kind = STEP_UNKNOWN;
		script.steps[5].kind = STEP_TWICE;
		handle = begin(mode & 1, mode & 2);
		reads_exactly(handle);
		assert_int_equal(stats_of(handle).spurious_events, 5);
		assert_int_equal(stats_of(handle).blocks, BLOCKS);
		end(handle);
	}
}

static void a_second_event_of_the_last_block_comes_late_and_is_harmless(void **state)
{
	struct swapio *handle;

	(void)state;
	script_reset();
	script.steps[BLOCKS - 1].kind = STEP_TWICE;
	handle = begin(0, true);
	reads_exactly(handle);
	reads_exactly(handle);
	assert_int_equal(stats_of(handle).spurious_events, 1);
	end(handle);
}

static void a_held_completion_is_waited_for_until_the_deadline_and_comes_late(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		struct swapio_result result = {.tag = 77};
		struct swapio *handle;
		swapio_id id;

		script_reset();
		script.steps[2].kind = STEP_HOLD;
		handle = begin(workers, true);
		id = start_read(handle);
		assert_int_equal(swapio_wait(handle, id, 5 * NS_PER_MS, &result), -ETIMEDOUT);
		assert_int_equal(swapio_wait(handle, id, 0, &result), -ETIMEDOUT);
		assert_int_equal(result.tag, 77);
		assert_int_equal(swapio_buffer_free(handle, buf), -EBUSY);
		script_release();
		assert_int_equal(finish(handle, id).error, 0);
		assert_memory_equal(buf, model, BYTES);
		assert_int_equal(swapio_buffer_free(handle, buf), 0);
		end(handle);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupts_delay_and_lose_nothing),
		cmocka_unit_test(fewer_events_than_asked_are_not_the_end),
		cmocka_unit_test(failing_waits_are_tried_again),
		cmocka_unit_test(a_wait_that_fails_for_good_fails_what_is_in_flight),
		cmocka_unit_test(without_a_new_context_blocks_fail_at_submit),
		cmocka_unit_test(events_twice_or_of_nobody_are_counted_and_harmless),
		cmocka_unit_test(a_second_event_of_the_last_block_comes_late_and_is_harmless),
		cmocka_unit_test(a_held_completion_is_waited_for_until_the_deadline_and_comes_late),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
