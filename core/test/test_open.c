/* SPDX-License-Identifier: MIT */
/* test_open.c - opening on scarce resources; closing and aborting with requests in flight. */
#include "script_engine.h"

#define BYTES (16u * 4096u)

static struct swapio_io held_read(unsigned char *buf, int *ret_fd)
{
	unsigned char *zeros = calloc(1, BYTES);

	write_file(file_path, zeros, BYTES);
	free(zeros);
	*ret_fd = open(file_path, O_RDWR | O_DIRECT);
	assert_true(*ret_fd >= 0);
	return io_of(SWAPIO_READ, NULL, *ret_fd, 0, buf, BYTES);
}

static unsigned warnings;

static void count_warnings(enum swapio_log_level level, const char *text, void *arg)
{
	assert_ptr_equal(arg, &warnings);
	if (level == SWAPIO_LOG_WARNING && strstr(text, "fs.aio-max-nr"))
		warnings++;
}

static void a_smaller_context_is_taken_and_said(void **state)
{
	struct swapio_options options = script_options(1);
	struct swapio_info info = {.size_bytes = sizeof(info)};
	struct swapio *handle;

	(void)state;
	script_reset();
	script.creates[0] = script.creates[1] = -EAGAIN;
	options.queue_depth = 33;
	options.log = count_warnings;
	options.log_arg = &warnings;
	handle = script_open(&options);
	assert_int_equal(swapio_info_get(handle, &info), 0);
	assert_int_equal(info.queue_depth, 8);
	assert_int_equal(info.queues, 1);
	assert_int_equal(info.wait_call, SWAPIO_WAIT_IO_PGETEVENTS);
	assert_int_equal(script.depth, 8);
	assert_int_equal(warnings, 1);
	script.create_calls -= 2;
	script_close(handle);
}

static void refused(const struct swapio_options *options, int code, const char *words)
{
	struct swapio *handle = (struct swapio *)&handle, *before = handle;
	struct swapio_error error = {0};

	assert_int_equal(swapioi_open_with(options, swapioi_accel_find(NULL), &script_ops, &error,
					   &handle),
			 code);
	assert_ptr_equal(handle, before);
	assert_int_equal(error.code, code);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void no_context_at_all_is_an_error_that_names_the_limit(void **state)
{
	struct swapio_options options = script_options(2);

	(void)state;
	script_reset();
	options.queue_depth = 2;
	script.creates[0] = script.creates[1] = -EAGAIN;
	refused(&options, -EAGAIN, "fs.aio-max-nr");
	assert_int_equal(script.create_calls, 2);
	script_reset();
	script.creates[0] = -ENOSYS;
	refused(&options, -ENOSYS, "engine script: create a queue of depth 2");
}

static void a_second_queue_that_fails_undoes_the_first(void **state)
{
	struct swapio_options options = script_options(2);

	(void)state;
	script_reset();
	script.creates[1] = -ENOMEM;
	refused(&options, -ENOMEM, "engine script");
	assert_int_equal(script.destroy_calls, 1);
}

static void close_says_busy_until_the_kernel_is_done(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 3; workers++) {
		struct swapio_options options = script_options(workers);
		struct swapio_result result;
		struct swapio_error error = {0};
		struct swapio *handle;
		struct swapio_io io;
		unsigned char *buf;
		swapio_id id, other;
		int fd;

		script_reset();
		script.steps[0].kind = STEP_HOLD;
		handle = script_open(&options);
		buf = alloc_buffer(handle, BYTES);
		io = held_read(buf, &fd);
		id = start(handle, &io);
		script_await_accepted(1);
		assert_int_equal(swapio_close(handle, 0), -EBUSY);
		assert_int_equal(swapio_close(handle, NS_PER_MS), -EBUSY);
		assert_int_equal(swapio_submit(handle, &io, &error, &other), -ESHUTDOWN);
		assert_int_equal(error.code, -ESHUTDOWN);
		assert_int_equal(swapio_wait(handle, id, 0, &result), -ETIMEDOUT);
		buf[0] = 1; /* the memory is still there */
		script_release();
		script_close(handle);
		assert_true(fcntl(fd, F_GETFD) >= 0);
		close(fd);
	}
}

static void what_close_cancels_is_told_as_cancelled(void **state)
{
	struct swapio_options options = script_options(1);
	struct swapio_result result;
	struct swapio *handle;
	struct swapio_io io;
	unsigned char *buf;
	swapio_id id;
	int fd;

	(void)state;
	script_reset();
	for (unsigned i = 0; i < 4; i++)
		script.steps[i].kind = STEP_HOLD;
	handle = script_open(&options);
	buf = alloc_buffer(handle, BYTES);
	io = held_read(buf, &fd);
	id = start(handle, &io);
	script_await_accepted(4);
	assert_int_equal(swapio_close(handle, 0), -EBUSY);
	script_release();
	result = finish(handle, id);
	assert_int_equal(result.error, -ECANCELED);
	assert_int_equal(result.cause, SWAPIO_CAUSE_CANCELLED);
	assert_int_equal(result.bytes, 4 * 4096);
	assert_int_equal(result.fail_offset_bytes, 4 * 4096);
	assert_int_equal(result.fail_length_bytes, BYTES - 4 * 4096);
	script_close(handle);
	close(fd);
}

static void close_frees_results_that_nobody_fetched(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio *handle;
	unsigned char *buf;

	(void)state;
	script_reset();
	handle = script_open(&options);
	buf = alloc_buffer(handle, 4096);
	for (unsigned i = 0; i < 8; i++) {
		struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, i * 4096u, buf, 4096);

		start(handle, &io);
	}
	script_close(handle);
}

static void abort_ends_what_never_completes(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 3; workers++) {
		struct swapio_options options = script_options(workers);
		struct swapio *handle;
		unsigned char *buf;
		struct swapio_io io;

		script_reset();
		for (unsigned i = 0; i < SCRIPT_STEPS; i++)
			script.steps[i].kind = STEP_HOLD;
		handle = script_open(&options);
		buf = alloc_buffer(handle, BYTES);
		/* Shared sectors, so that blocks hold locks, wait for locks and wait for slots. */
		for (unsigned i = 0; i < 8; i++) {
			io = io_of(SWAPIO_WRITE, file_path, -1, i * 100u, buf + i * 4096u, 100);
			start(handle, &io);
		}
		script_await_accepted(1);
		assert_int_equal(swapio_close(handle, 0), -EBUSY);
		swapio_abort(handle);
		assert_int_equal(script.destroy_calls, workers ? workers : 1);
		assert_false(script.shared);
		/* No lock of the dead handle is left on the file. */
		script_reset();
		handle = script_open(&options);
		buf = alloc_buffer(handle, 4096);
		assert_int_equal(swapio_write(handle, file_path, 50, buf, 100, NULL), 0);
		script_close(handle);
	}
}

static void nothing_is_a_no_op(void **state)
{
	(void)state;
	assert_int_equal(swapio_close(NULL, 0), 0);
	swapio_abort(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_smaller_context_is_taken_and_said),
		cmocka_unit_test(no_context_at_all_is_an_error_that_names_the_limit),
		cmocka_unit_test(a_second_queue_that_fails_undoes_the_first),
		cmocka_unit_test(close_says_busy_until_the_kernel_is_done),
		cmocka_unit_test(what_close_cancels_is_told_as_cancelled),
		cmocka_unit_test(close_frees_results_that_nobody_fetched),
		cmocka_unit_test(abort_ends_what_never_completes),
		cmocka_unit_test(nothing_is_a_no_op),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
