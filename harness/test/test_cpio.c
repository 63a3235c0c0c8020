/* SPDX-License-Identifier: MIT */
/*
 * test_cpio.c - archives for the kernel, read back by a reader of the format's description, not of
 * the writer's code.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpio.h"

#define HEADER_BYTES 110u
/* Places of the fields of eight digits behind the magic. */
enum {
	INODE,
	MODE,
	UID,
	GID,
	LINKS,
	MTIME,
	BYTES,
	MAJOR,
	MINOR,
	RMAJOR,
	RMINOR,
	NAME_BYTES,
	CHECK
};

struct member {
	unsigned long field[13];
	const char *name, *data;
};

static int archive;
static struct cpio cpio;
static char *whole;
static size_t whole_bytes, place;

static int begin(void **state)
{
	(void)state;
	archive = memfd_create("archive", MFD_CLOEXEC);
	cpio_init(&cpio, archive);
	place = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(whole);
	whole = NULL;
	return close(archive);
}

static void read_back(void)
{
	whole_bytes = (size_t)lseek(archive, 0, SEEK_END);
	whole = malloc(whole_bytes);
	assert_int_equal(pread(archive, whole, whole_bytes, 0), whole_bytes);
	assert_int_equal(cpio.bytes, whole_bytes);
}

static size_t padded(size_t bytes)
{
	return (bytes + 3) / 4 * 4;
}

static void expect_zeros(size_t from, size_t to)
{
	assert_true(to <= whole_bytes);
	for (; from < to; from++)
		assert_int_equal(whole[from], 0);
}

static struct member next(void)
{
	struct member member;
	char digits[9] = "", *stop;
	size_t name = place + HEADER_BYTES, data;

	assert_int_equal(place % 4, 0);
	assert_true(name <= whole_bytes);
	assert_memory_equal(whole + place, "070701", 6);
	for (size_t i = 0; i < 13; i++) {
		memcpy(digits, whole + place + 6 + 8 * i, 8);
		member.field[i] = strtoul(digits, &stop, 16);
		assert_int_equal(*stop, '\0');
	}
	data = padded(name + member.field[NAME_BYTES]);
	member.name = whole + name;
	assert_int_equal(strlen(member.name) + 1, member.field[NAME_BYTES]);
	expect_zeros(name + member.field[NAME_BYTES], data);
	member.data = whole + data;
	place = padded(data + member.field[BYTES]);
	expect_zeros(data + member.field[BYTES], place);
	return member;
}

static struct member expect(const char *name, unsigned long mode, const char *data)
{
	struct member member = next();

	assert_string_equal(member.name, name);
	assert_int_equal(member.field[MODE], mode);
	assert_int_equal(member.field[BYTES], strlen(data));
	assert_memory_equal(member.data, data, strlen(data));
	assert_int_equal(member.field[UID] | member.field[GID] | member.field[CHECK], 0);
	return member;
}

static void expect_end(void)
{
	assert_string_equal(next().name, "TRAILER!!!");
	assert_int_equal(place, whole_bytes);
}

/* A file with @text, without a name. */
static const char *file_of(const char *text, int *ret_fd)
{
	static char path[32];

	*ret_fd = memfd_create("file", MFD_CLOEXEC);
	assert_int_equal(write(*ret_fd, text, strlen(text)), strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *ret_fd);
	return path;
}

static void every_kind_of_entry_is_read_back(void **state)
{
	struct member device;
	unsigned long inode;
	int fd;

	(void)state;
	cpio_directory(&cpio, "tmp", 01777);
	cpio_symlink(&cpio, "usr/lib", "../lib");
	cpio_device(&cpio, "dev/console", S_IFCHR | 0600, 5, 1);
	cpio_text(&cpio, "etc/x", "some text\n");
	assert_int_equal(cpio_file(&cpio, "bin/y", 0755, file_of("bytes of y", &fd)), 0);
	assert_int_equal(cpio_finish(&cpio), 0);
	close(fd);
	read_back();
	inode = expect("tmp", S_IFDIR | 01777, "").field[INODE];
	assert_int_not_equal(expect("usr/lib", S_IFLNK | 0777, "../lib").field[INODE], inode);
	device = expect("dev/console", S_IFCHR | 0600, "");
	assert_int_equal(device.field[RMAJOR], 5);
	assert_int_equal(device.field[RMINOR], 1);
	expect("etc/x", S_IFREG | 0644, "some text\n");
	expect("bin/y", S_IFREG | 0755, "bytes of y");
	expect_end();
}

static void names_and_contents_of_every_length_are_padded(void **state)
{
	(void)state;
	for (int i = 1; i <= 9; i++) {
		cpio_text(&cpio, &"123456789"[9 - i], &"abcdefghi"[9 - i]);
		cpio_text(&cpio, "empty", &""[0]);
	}
	assert_int_equal(cpio_finish(&cpio), 0);
	read_back();
	for (int i = 1; i <= 9; i++) {
		expect(&"123456789"[9 - i], S_IFREG | 0644, &"abcdefghi"[9 - i]);
		expect("empty", S_IFREG | 0644, "");
	}
	expect_end();
}

static void a_file_of_many_blocks_is_copied_whole(void **state)
{
	size_t bytes = 100001;
	int fd = memfd_create("file", MFD_CLOEXEC);
	char path[32], *data = malloc(bytes + 1);

	(void)state;
	for (size_t i = 0; i < bytes; i++)
		data[i] = (char)('a' + i * 7 % 26);
	data[bytes] = '\0';
	assert_int_equal(write(fd, data, bytes), bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(cpio_file(&cpio, "large", 0644, path), 0);
	assert_int_equal(cpio_finish(&cpio), 0);
	close(fd);
	read_back();
	expect("large", S_IFREG | 0644, data);
	expect_end();
	free(data);
}

static void what_is_no_file_is_refused_and_leaves_the_archive_as_it_was(void **state)
{
	int fd = memfd_create("huge", MFD_CLOEXEC);
	char huge[32];

	(void)state;
	snprintf(huge, sizeof(huge), "/proc/self/fd/%d", fd);
	assert_int_equal(ftruncate(fd, 3ll << 30), 0);
	assert_int_equal(cpio_file(&cpio, "a", 0644, "/nothing/there"), -ENOENT);
	assert_int_equal(cpio_file(&cpio, "a", 0644, "/proc"), -EISDIR);
	assert_int_equal(cpio_file(&cpio, "a", 0644, "/dev/null"), -EISDIR);
	assert_int_equal(cpio_file(&cpio, "a", 0644, huge), -EFBIG);
	assert_int_equal(cpio_finish(&cpio), 0);
	close(fd);
	read_back();
	expect_end();
}

/* Files of /sys hold less than they say they do, like one that is cut while it is copied. */
static void a_file_that_ends_early_keeps_its_place(void **state)
{
	static const char path[] = "/sys/kernel/uevent_seqnum";
	struct member member;

	(void)state;
	if (access(path, R_OK) < 0)
		skip();
	assert_int_equal(cpio_file(&cpio, "number", 0644, path), -EIO);
	cpio_text(&cpio, "behind", "it");
	assert_int_equal(cpio_finish(&cpio), 0);
	read_back();
	member = next();
	assert_int_equal(member.field[BYTES], 4096);
	assert_true(member.data[0] >= '0' && member.data[0] <= '9');
	assert_int_equal(member.data[4095], 0);
	expect("behind", S_IFREG | 0644, "it");
	expect_end();
}

/* The limit on the size of files stands for a full disk. */
static void the_first_error_of_writing_is_the_end(void **state)
{
	struct rlimit before, limit;
	int fd;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){300, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cpio_text(&cpio, "first", "fits");
	cpio_text(&cpio, "second",
		  "fits no more, because it is longer than what is left below the limit");
	assert_int_equal(cpio_file(&cpio, "third", 0644, file_of("x", &fd)), 0);
	assert_int_equal(cpio_finish(&cpio), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	close(fd);
	read_back();
	expect("first", S_IFREG | 0644, "fits");
	assert_int_equal(whole_bytes, 300);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_kind_of_entry_is_read_back),
		CASE(names_and_contents_of_every_length_are_padded),
		CASE(a_file_of_many_blocks_is_copied_whole),
		CASE(what_is_no_file_is_refused_and_leaves_the_archive_as_it_was),
		CASE(a_file_that_ends_early_keeps_its_place),
		CASE(the_first_error_of_writing_is_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
