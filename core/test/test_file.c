/* SPDX-License-Identifier: MIT */
/* test_file.c - opening by path and by descriptor, and where there is no direct I/O. */
#include "file.h"
#include "helpers.h"

static char path_a[320], path_b[320];

static struct swapio *open_direct(enum swapio_direct direct)
{
	struct swapio_options options;

	swapio_options_init(&options);
	options.workers = 0;
	options.direct = direct;
	return open_handle(&options);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void cannot_open(enum swapio_op op, const char *path, int code, const char *words)
{
	struct swapio_io io = io_of(op, path, -1, 0, NULL, 0);
	unsigned before = open_descriptors();
	struct swapio_error error = {0};
	struct file file;

	assert_int_equal(swapioi_file_open(&file, &io, SWAPIO_DIRECT_PREFER, &error), code);
	assert_int_equal(error.code, code);
	if (!strstr(error.text, words) || !strstr(error.text, path))
		fail_msg("\"%s\" does not say \"%s\" of %s", error.text, words, path);
	assert_int_equal(open_descriptors(), before);
}

static void paths_that_cannot_be_opened_say_errno_and_path(void **state)
{
	(void)state;
	write_file(file_path, NULL, 0);
	snprintf(path_a, sizeof(path_a), "%s/below", file_path);
	cannot_open(SWAPIO_READ, path_a, -ENOTDIR, "open for reading: Not a directory");
	cannot_open(SWAPIO_WRITE, path_a, -ENOTDIR, "open for writing: Not a directory");
	snprintf(path_a, sizeof(path_a), "%s/missing/file", scratch_dir);
	cannot_open(SWAPIO_READ, path_a, -ENOENT, "No such file");
	cannot_open(SWAPIO_WRITE, path_a, -ENOENT, "No such file");
	snprintf(path_a, sizeof(path_a), "%s/loop", scratch_dir);
	assert_int_equal(symlink("loop", path_a), 0);
	cannot_open(SWAPIO_READ, path_a, -ELOOP, "symbolic links");
	assert_int_equal(unlink(path_a), 0);
	cannot_open(SWAPIO_WRITE, scratch_dir, -EISDIR, "Is a directory");
	cannot_open(SWAPIO_READ, scratch_dir, -EISDIR, "Is a directory");
	cannot_open(SWAPIO_READ, "", -ENOENT, "No such file");
}

static void what_is_no_file_is_refused_without_hanging(void **state)
{
	(void)state;
	snprintf(path_a, sizeof(path_a), "%s/fifo", scratch_dir);
	assert_int_equal(mkfifo(path_a, 0600), 0);
	cannot_open(SWAPIO_READ, path_a, -EINVAL, "neither a regular file nor a block device");
	cannot_open(SWAPIO_WRITE, path_a, -EINVAL, "neither a regular file nor a block device");
	assert_int_equal(unlink(path_a), 0);
	cannot_open(SWAPIO_READ, "/dev/null", -EINVAL, "neither a regular file");
}

static void a_created_file_obeys_the_umask_and_is_not_inherited(void **state)
{
	struct swapio_io io = io_of(SWAPIO_WRITE, path_b, -1, 0, NULL, 0);
	mode_t before = umask(027);
	struct file file;
	struct stat st;

	(void)state;
	snprintf(path_b, sizeof(path_b), "%s/created", scratch_dir);
	assert_int_equal(swapioi_file_open(&file, &io, SWAPIO_DIRECT_PREFER, NULL), 0);
	umask(before);
	assert_int_equal(fstat(file.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(fcntl(file.fd, F_GETFD), FD_CLOEXEC);
	assert_true(file.direct && file.readable && file.writable && file.owned);
	swapioi_file_close(&file);
	assert_int_equal(file.fd, -1);
	swapioi_file_close(&file); /* a second time changes nothing */
	assert_int_equal(unlink(path_b), 0);
}

/* Files of /proc are regular files without direct I/O on every kernel. */
static void without_direct_io_a_transfer_is_buffered_and_says_so(void **state)
{
	struct swapio *handle = open_direct(SWAPIO_DIRECT_PREFER);
	unsigned char *buf = alloc_buffer(handle, 4096);
	struct swapio_io io = io_of(SWAPIO_READ, "/proc/version", -1, 1, buf, 5);
	struct swapio_result result = finish(handle, start(handle, &io));

	(void)state;
	assert_int_equal(result.error, 0);
	assert_true(result.buffered);
	assert_memory_equal(buf, "inux ", 5);
	close_handle(handle);
}

static void without_direct_io_require_refuses_and_names_the_path(void **state)
{
	struct swapio *handle = open_direct(SWAPIO_DIRECT_REQUIRE);
	unsigned char *buf = alloc_buffer(handle, 4096);
	unsigned before = open_descriptors();
	struct swapio_error error = {0};

	(void)state;
	assert_int_equal(swapio_read(handle, "/proc/version", 0, buf, 5, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "/proc/version"));
	assert_non_null(strstr(error.text, "O_DIRECT"));
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(swapio_write(handle, file_path, 0, buf, 5, &error), 0);
	close_handle(handle);
}

static void a_descriptor_stays_open_and_as_it_was(void **state)
{
	const int flags[] = {O_RDWR, O_RDWR | O_DIRECT};
	struct swapio *handle = open_direct(SWAPIO_DIRECT_PREFER);
	unsigned char *buf = alloc_buffer(handle, 4096);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		int fd = open(file_path, flags[i] | O_CREAT, 0644), before = fcntl(fd, F_GETFL);
		struct swapio_io io = io_of(SWAPIO_WRITE, NULL, fd, 0, buf, 4096);
		struct swapio_result result = finish(handle, start(handle, &io));

		assert_int_equal(result.error, 0);
		assert_int_equal(result.buffered, i == 0);
		assert_int_equal(fcntl(fd, F_GETFL), before);
		assert_int_equal(close(fd), 0);
	}
	close_handle(handle);
}

static void a_descriptor_number_may_be_reused_for_another_file(void **state)
{
	struct swapio *handle = open_direct(SWAPIO_DIRECT_PREFER);
	unsigned char *buf = alloc_buffer(handle, 8192);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		int fd = open(file_path, (i % 2 ? O_RDWR : O_RDWR | O_DIRECT) | O_CREAT, 0644);
		struct swapio_io io = io_of(SWAPIO_WRITE, NULL, fd, 0, buf, 4096);

		assert_int_equal(finish(handle, start(handle, &io)).buffered, i % 2);
		close(fd);
	}
	close_handle(handle);
}

static void a_write_only_file_takes_whole_sectors_by_a_path_that_cannot_be_read(void **state)
{
	struct swapio_io io = io_of(SWAPIO_WRITE, NULL, -1, 0, NULL, 0);
	struct swapio_error error = {0};
	struct file file;

	(void)state;
	write_file(file_path, (const unsigned char *)"x", 1);
	io.fd = open(file_path, O_WRONLY | O_DIRECT);
	assert_int_equal(swapioi_file_open(&file, &io, SWAPIO_DIRECT_PREFER, &error), 0);
	assert_true(file.read_fd >= 0 && file.read_fd != file.fd);
	close(file.read_fd);
	file.read_fd = -1;
	assert_int_equal(swapioi_file_check_rmw(&file, 0, 4096, &error), 0);
	assert_int_equal(swapioi_file_check_rmw(&file, 4096, 5000, &error), 0); /* past the end */
	assert_int_equal(swapioi_file_check_rmw(&file, 1, 4096, &error), -EBADF);
	assert_non_null(strstr(error.text, "write-only"));
	assert_int_equal(swapioi_file_check_rmw(&file, 0, 100, NULL), -EBADF);
	swapioi_file_close(&file);
	assert_int_equal(close(io.fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_that_cannot_be_opened_say_errno_and_path),
		cmocka_unit_test(what_is_no_file_is_refused_without_hanging),
		cmocka_unit_test(a_created_file_obeys_the_umask_and_is_not_inherited),
		cmocka_unit_test(without_direct_io_a_transfer_is_buffered_and_says_so),
		cmocka_unit_test(without_direct_io_require_refuses_and_names_the_path),
		cmocka_unit_test(a_descriptor_stays_open_and_as_it_was),
		cmocka_unit_test(a_descriptor_number_may_be_reused_for_another_file),
		cmocka_unit_test(
			a_write_only_file_takes_whole_sectors_by_a_path_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
