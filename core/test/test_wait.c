/* SPDX-License-Identifier: MIT */
/* test_wait.c - fetching results one, some or all; deadlines; cancelling. */
#include "script_engine.h"

#define REQUESTS 8u

static struct swapio *handle;
static unsigned char *buf;
static int fd;
static swapio_id ids[REQUESTS];

static void begin(unsigned workers)
{
	struct swapio_options options = script_options(workers);

	handle = script_open(&options);
	buf = alloc_buffer(handle, REQUESTS * 4096);
	memset(buf, 0x5a, REQUESTS * 4096);
	write_file(file_path, buf, REQUESTS * 4096);
	fd = open(file_path, O_RDWR | O_DIRECT);
	assert_true(fd >= 0);
}

static void start_all(void)
{
	for (unsigned i = 0; i < REQUESTS; i++) {
		struct swapio_io io =
			io_of(SWAPIO_READ, NULL, fd, i * 4096u, buf + i * 4096u, 4096);

		io.tag = i;
		ids[i] = start(handle, &io);
	}
}

static void end(void)
{
	close(fd);
	script_close(handle);
}

static void waiting_for_nothing_returns_at_once(void **state)
{
	struct swapio_result result;

	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		script_reset();
		begin(workers);
		assert_int_equal(swapio_pending(handle), 0);
		assert_int_equal(swapio_wait_some(handle, 1, 1, SWAPIO_FOREVER, &result), 0);
		assert_int_equal(swapio_wait_some(handle, 0, 1, 0, &result), 0);
		assert_int_equal(swapio_wait(handle, 0, SWAPIO_FOREVER, &result), -ENOENT);
		assert_int_equal(swapio_wait(handle, UINT64_MAX, SWAPIO_FOREVER, &result), -ENOENT);
		assert_int_equal(swapio_cancel(handle, 0), -ENOENT);
		end();
	}
}

static void some_wait_fetches_no_more_than_max_and_no_less_than_min(void **state)
{
	struct swapio_result results[REQUESTS];
	int count, fetched = 0;

	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		script_reset();
		begin(workers);
		start_all();
		for (fetched = 0; fetched < (int)REQUESTS; fetched += count) {
			count = swapio_wait_some(handle, 2, 3, SWAPIO_FOREVER, results);
			assert_in_range(count, REQUESTS - fetched == 1 ? 1 : 2, 3);
			assert_int_equal(swapio_pending(handle), REQUESTS - fetched - count);
		}
		end();
	}
}

static void an_unlisted_request_ends_by_its_id_only(void **state)
{
	struct swapio_result results[REQUESTS];
	swapio_id unlisted;

	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		struct swapio_io io;

		script_reset();
		begin(workers);
		io = io_of(SWAPIO_READ, NULL, fd, 0, buf, 4096);
		io.tag = 99;
		assert_int_equal(swapioi_submit_unlisted(handle, &io, NULL, &unlisted), 0);
		assert_int_equal(swapio_pending(handle), 0);
		start_all();
		assert_int_equal(swapio_pending(handle), REQUESTS);
		assert_int_equal(swapio_wait_some(handle, REQUESTS, REQUESTS, SWAPIO_FOREVER,
						  results),
				 REQUESTS);
		for (unsigned i = 0; i < REQUESTS; i++)
			assert_true(results[i].tag < REQUESTS);
		assert_int_equal(swapio_wait_some(handle, 1, 1, SWAPIO_FOREVER, results), 0);
		assert_int_equal(finish(handle, unlisted).tag, 99);
		assert_int_equal(swapio_wait(handle, unlisted, 0, results), -ENOENT);
		end();
	}
}

static void too_few_in_time_fetches_nothing(void **state)
{
	struct swapio_result results[REQUESTS] = {{.tag = 77}};

	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		script_reset();
		script.steps[3].kind = STEP_HOLD;
		begin(workers);
		start_all();
		results[0].tag = 77;
		assert_int_equal(swapio_wait_some(handle, 8, 8, 20 * NS_PER_MS, results),
				 -ETIMEDOUT);
		assert_int_equal(results[0].tag, 77);
		assert_int_equal(swapio_pending(handle), REQUESTS);
		assert_int_equal(swapio_wait_some(handle, 7, 8, SWAPIO_FOREVER, results), 7);
		script_release();
		assert_int_equal(swapio_wait_some(handle, 8, 8, SWAPIO_FOREVER, results), 1);
		end();
	}
}

static void results_come_in_order_of_completion(void **state)
{
	struct swapio_result results[REQUESTS];

	(void)state;
	script_reset();
	script.steps[0].kind = STEP_HOLD;
	begin(0);
	start_all();
	assert_int_equal(swapio_wait_some(handle, 7, 7, SWAPIO_FOREVER, results), 7);
	for (unsigned i = 0; i < 7; i++)
		assert_true(results[i].id != ids[0]);
	script_release();
	assert_int_equal(finish(handle, ids[0]).tag, 0);
	end();
}

static void negative_timeouts_only_look(void **state)
{
	struct swapio_result result;

	(void)state;
	script_reset();
	script.steps[0].kind = STEP_HOLD;
	begin(0);
	start_all();
	assert_int_equal(swapio_wait(handle, ids[0], -1, &result), -ETIMEDOUT);
	assert_int_equal(swapio_wait(handle, ids[0], INT64_MIN, &result), -ETIMEDOUT);
	script_release();
	assert_int_equal(swapio_wait(handle, ids[0], INT64_MAX - 1, &result), 0);
	end();
}

static void looking_again_and_again_gets_there_without_workers(void **state)
{
	struct swapio_result result;
	int ret;

	(void)state;
	script_reset();
	begin(0);
	start_all();
	do
		ret = swapio_wait_some(handle, 0, 1, 0, &result);
	while (ret >= 0 && swapio_pending(handle));
	assert_true(ret >= 0);
	end();
}

static void cancel_drops_what_is_not_submitted_and_drains_the_rest(void **state)
{
	unsigned char *mem;

	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		struct swapio_result result;
		struct swapio_io io;
		swapio_id id;

		script_reset();
		for (unsigned i = 0; i < 4; i++)
			script.steps[i].kind = STEP_HOLD;
		begin(workers);
		mem = buf;
		memset(mem, 0xee, REQUESTS * 4096);
		io = io_of(SWAPIO_READ, NULL, fd, 0, mem, REQUESTS * 4096);
		id = start(handle, &io);
		script_await_accepted(4);
		assert_int_equal(swapio_cancel(handle, id), 0);
		assert_int_equal(swapio_cancel(handle, id), 0);
		assert_int_equal(swapio_wait(handle, id, NS_PER_MS, &result), -ETIMEDOUT);
		script_release();
		result = finish(handle, id);
		assert_int_equal(result.error, -ECANCELED);
		assert_int_equal(result.cause, SWAPIO_CAUSE_CANCELLED);
		assert_int_equal(result.bytes, 4 * 4096);
		assert_int_equal(script.accepted, 4);
		for (unsigned i = 4 * 4096; i < REQUESTS * 4096; i++)
			assert_int_equal(mem[i], 0xee);
		assert_int_equal(swapio_cancel(handle, id), -ENOENT);
		end();
	}
}

static void cancel_of_what_is_all_in_flight_or_done_changes_nothing(void **state)
{
	struct swapio_io io;
	swapio_id id;

	(void)state;
	script_reset();
	script.steps[0].kind = STEP_HOLD;
	begin(0);
	io = io_of(SWAPIO_READ, NULL, fd, 0, buf, 4096);
	id = start(handle, &io);
	assert_int_equal(swapio_cancel(handle, id), 0);
	script_release();
	assert_int_equal(finish(handle, id).error, 0);
	start_all();
	assert_int_equal(finish(handle, ids[REQUESTS - 1]).error, 0);
	assert_int_equal(swapio_cancel(handle, ids[0]), 0);
	assert_int_equal(finish(handle, ids[0]).error, 0);
	end();
}

static void cancelled_blocks_are_not_resumed(void **state)
{
	struct swapio_result result;
	struct swapio_io io;
	swapio_id id;

	(void)state;
	script_reset();
	script.steps[0] = (struct step){STEP_SHORT, 1024};
	begin(0);
	io = io_of(SWAPIO_READ, NULL, fd, 0, buf, 4096);
	id = start(handle, &io);
	assert_int_equal(swapio_cancel(handle, id), 0);
	result = finish(handle, id);
	assert_int_equal(result.error, -ECANCELED);
	assert_int_equal(result.bytes, 1024);
	assert_int_equal(result.fail_offset_bytes, 1024);
	assert_int_equal(result.fail_length_bytes, 3072);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_for_nothing_returns_at_once),
		cmocka_unit_test(some_wait_fetches_no_more_than_max_and_no_less_than_min),
		cmocka_unit_test(an_unlisted_request_ends_by_its_id_only),
		cmocka_unit_test(too_few_in_time_fetches_nothing),
		cmocka_unit_test(results_come_in_order_of_completion),
		cmocka_unit_test(negative_timeouts_only_look),
		cmocka_unit_test(looking_again_and_again_gets_there_without_workers),
		cmocka_unit_test(cancel_drops_what_is_not_submitted_and_drains_the_rest),
		cmocka_unit_test(cancel_of_what_is_all_in_flight_or_done_changes_nothing),
		cmocka_unit_test(cancelled_blocks_are_not_resumed),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
