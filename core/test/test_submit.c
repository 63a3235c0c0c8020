/* SPDX-License-Identifier: MIT */
/* test_submit.c - transfers that cannot be are refused, with nothing started; ids; limits. */
#include "helpers.h"

static struct swapio *open_driven(void)
{
	struct swapio_options options;

	swapio_options_init(&options);
	options.workers = 0;
	options.requests_max = 2;
	return open_handle(&options);
}

/* A refused submit says @words, starts nothing and leaves memory alone. */
static void refused(struct swapio *handle, struct swapio_io io, int code, const char *words)
{
	struct swapio_stats before = stats_of(handle), after;
	struct swapio_error error = {0};
	swapio_id id = 4711;

	assert_int_equal(swapio_submit(handle, &io, &error, &id), code);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
	assert_int_equal(error.code, code);
	assert_true(id == 4711);
	assert_int_equal(swapio_submit(handle, &io, NULL, &id), code);
	after = stats_of(handle);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(swapio_pending(handle), 0);
}

static void transfers_that_cannot_be_are_refused(void **state)
{
	struct swapio *handle = open_driven();
	unsigned char *buf = alloc_buffer(handle, 4096);
	struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, 0, buf, 512);
	char long_name[600];

	(void)state;
	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	io.size_bytes = 3;
	refused(handle, io, -EINVAL, "size_bytes of the transfer is 3");
	io = io_of((enum swapio_op)2, file_path, -1, 0, buf, 512);
	refused(handle, io, -EINVAL, "op is 2, allowed");
	refused(handle, io_of(SWAPIO_WRITE, file_path, -1, 0, NULL, 1), -EINVAL, "buf is NULL");
	refused(handle, io_of(SWAPIO_WRITE, file_path, -1, INT64_MAX, buf, 1), -EINVAL, "end past");
	refused(handle, io_of(SWAPIO_WRITE, file_path, -1, 1, buf, UINT64_MAX), -EINVAL,
		"end past");
	refused(handle, io_of(SWAPIO_WRITE, file_path, -1, 0, buf + 1, 512), -EINVAL,
		"is not a multiple of 4096 bytes");
	refused(handle, io_of(SWAPIO_READ, "no/such", -1, 0, buf, 1), -ENOENT,
		"no/such: open for reading");
	refused(handle, io_of(SWAPIO_WRITE, scratch_dir, -1, 0, buf, 1), -EISDIR, scratch_dir);
	refused(handle, io_of(SWAPIO_READ, scratch_dir, -1, 0, buf, 1), -EISDIR, scratch_dir);
	refused(handle, io_of(SWAPIO_WRITE, long_name, -1, 0, buf, 1), -ENAMETOOLONG, "nnn");
	refused(handle, io_of(SWAPIO_READ, "/dev/null", -1, 0, buf, 1), -EINVAL,
		"neither a regular file");
	refused(handle, io_of(SWAPIO_READ, NULL, -1, 0, buf, 1), -EBADF, "descriptor -1");
	close_handle(handle);
}

static void descriptors_open_for_something_else_are_refused(void **state)
{
	struct swapio *handle = open_driven();
	unsigned char *buf = alloc_buffer(handle, 4096);
	int reader, writer, appender;

	(void)state;
	write_file(file_path, buf, 4096);
	reader = open(file_path, O_RDONLY);
	writer = open(file_path, O_WRONLY);
	appender = open(file_path, O_RDWR | O_APPEND);
	refused(handle, io_of(SWAPIO_WRITE, NULL, reader, 0, buf, 1), -EBADF,
		"not open for writing");
	refused(handle, io_of(SWAPIO_READ, NULL, writer, 0, buf, 1), -EBADF,
		"not open for reading");
	refused(handle, io_of(SWAPIO_WRITE, NULL, appender, 0, buf, 1), -EINVAL, "O_APPEND");
	close(reader);
	close(writer);
	close(appender);
	close_handle(handle);
}

static void a_full_handle_says_again_and_takes_more_after_a_fetch(void **state)
{
	struct swapio *handle = open_driven();
	unsigned char *buf = alloc_buffer(handle, 4096);
	struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, 0, buf, 4096);
	struct swapio_error error = {0};
	swapio_id ids[2], none = 4711;

	(void)state;
	ids[0] = start(handle, &io);
	ids[1] = start(handle, &io);
	assert_int_equal(swapio_submit(handle, &io, &error, &none), -EAGAIN);
	assert_true(none == 4711);
	assert_non_null(strstr(error.text, "2 requests are pending"));
	assert_int_equal(swapio_pending(handle), 2);
	finish(handle, ids[0]);
	ids[0] = start(handle, &io);
	finish(handle, ids[1]);
	finish(handle, ids[0]);
	close_handle(handle);
}

static void ids_are_never_used_twice(void **state)
{
	struct swapio *handle = open_driven();
	unsigned char *buf = alloc_buffer(handle, 4096);
	struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, 0, buf, 512);
	swapio_id seen[200];

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		seen[i] = start(handle, &io);
		for (unsigned j = 0; j < i; j++)
			assert_true(seen[i] != seen[j]);
		finish(handle, seen[i]);
	}
	close_handle(handle);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void no_path_of_an_operation_leaks_a_descriptor(void **state)
{
	struct swapio *handle = open_driven();
	unsigned char *buf = alloc_buffer(handle, 4096);
	unsigned before = 0;

	(void)state;
	unlink(file_path);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(swapio_write(handle, file_path, i, buf, 600, NULL), 0);
		assert_int_equal(swapio_read(handle, file_path, i, buf, 4096, NULL), -ENODATA);
		swapio_write(handle, file_path, 0, buf + 1, 512, NULL);
		swapio_read(handle, scratch_dir, 0, buf, 512, NULL);
		if (i == 0)
			before = open_descriptors();
	}
	assert_int_equal(open_descriptors(), before);
	close_handle(handle);
}

static void a_write_creates_a_file_and_never_truncates_one(void **state)
{
	struct swapio *handle = open_driven();
	unsigned char *buf = alloc_buffer(handle, 8192), model[8192];

	(void)state;
	unlink(file_path);
	memset(buf, 0x22, 8192);
	assert_int_equal(swapio_write(handle, file_path, 0, buf, 8192, NULL), 0);
	memset(buf, 0x33, 8192);
	assert_int_equal(swapio_write(handle, file_path, 0, buf, 512, NULL), 0);
	memset(model, 0x22, sizeof(model));
	memset(model, 0x33, 512);
	assert_file_equal(file_path, model, 8192);
	close_handle(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transfers_that_cannot_be_are_refused),
		cmocka_unit_test(descriptors_open_for_something_else_are_refused),
		cmocka_unit_test(a_full_handle_says_again_and_takes_more_after_a_fetch),
		cmocka_unit_test(ids_are_never_used_twice),
		cmocka_unit_test(no_path_of_an_operation_leaks_a_descriptor),
		cmocka_unit_test(a_write_creates_a_file_and_never_truncates_one),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
