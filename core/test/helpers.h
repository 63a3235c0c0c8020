/* SPDX-License-Identifier: MIT */
/*
 * helpers.h - what the core's tests share: a scratch directory on a real disk, patterns, handles.
 */
#ifndef TEST_HELPERS_H
#define TEST_HELPERS_H

#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "swapio/swapio.h"

static char scratch_dir[256];
static char file_path[300];

static inline bool scratch_takes_direct_io(void)
{
	int fd = open(file_path, O_RDWR | O_CREAT | O_DIRECT, 0600);

	if (fd < 0)
		return false;
	close(fd);
	unlink(file_path);
	return true;
}

static inline bool scratch_try(const char *parent)
{
	snprintf(scratch_dir, sizeof(scratch_dir), "%s/swapio-test.XXXXXX", parent);
	if (!mkdtemp(scratch_dir))
		return false;
	snprintf(file_path, sizeof(file_path), "%s/file", scratch_dir);
	if (scratch_takes_direct_io())
		return true;
	rmdir(scratch_dir);
	return false;
}

/* The first place with direct I/O: /tmp is often a tmpfs, which may have none. */
static inline int scratch_create(void **state)
{
	const char *parent = getenv("TMPDIR");

	(void)state;
	if ((parent && scratch_try(parent)) || scratch_try("/var/tmp") || scratch_try("."))
		return 0;
	fprintf(stderr, "no O_DIRECT in TMPDIR, /var/tmp or the current directory\n");
	return -1;
}

static inline int scratch_remove(void **state)
{
	(void)state;
	unlink(file_path);
	return rmdir(scratch_dir);
}

static inline struct swapio *open_handle(const struct swapio_options *options)
{
	struct swapio_error error = {0};
	struct swapio *handle = NULL;
	int ret = swapio_open(options, &error, &handle);

	if (ret < 0)
		fail_msg("swapio_open: %s", error.text);
	return handle;
}

static inline void close_handle(struct swapio *handle)
{
	assert_int_equal(swapio_close(handle, SWAPIO_FOREVER), 0);
}

static inline unsigned char *alloc_buffer(struct swapio *handle, size_t bytes)
{
	void *buf = NULL;

	assert_int_equal(swapio_buffer_alloc(handle, bytes, 0, &buf), 0);
	return buf;
}

static inline struct swapio_tensor tensor_of(const char *name, uint64_t numel,
					     uint32_t element_bytes)
{
	return (struct swapio_tensor){
		.size_bytes = sizeof(struct swapio_tensor),
		.name = name,
		.numel = numel,
		.element_bytes = element_bytes,
	};
}

/* xorshift64*: a seed gives the same numbers everywhere. */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static inline void fill_random(unsigned char *mem, size_t bytes, uint64_t seed)
{
	uint64_t state = seed * 2 + 1;

	for (size_t i = 0; i < bytes; i++)
		mem[i] = (unsigned char)(random_next(&state) >> 32);
}

static inline uint64_t file_size(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

/* Plain buffered calls, so that the library never vouches for itself. */
static inline void write_file(const char *path, const unsigned char *mem, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, mem, bytes), (ssize_t)bytes);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(close(fd), 0);
}

static inline void assert_file_equal(const char *path, const unsigned char *want, size_t bytes)
{
	unsigned char *got = malloc(bytes + 1);
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_non_null(got);
	assert_int_equal(read(fd, got, bytes + 1), (ssize_t)bytes);
	close(fd);
	assert_memory_equal(got, want, bytes);
	free(got);
}

static inline struct swapio_io io_of(enum swapio_op op, const char *path, int fd, uint64_t offset,
				     void *buf, uint64_t bytes)
{
	return (struct swapio_io){
		.size_bytes = sizeof(struct swapio_io),
		.op = op,
		.path = path,
		.fd = fd,
		.offset_bytes = offset,
		.length_bytes = bytes,
		.buf = buf,
	};
}

static inline swapio_id start(struct swapio *handle, const struct swapio_io *io)
{
	struct swapio_error error = {0};
	swapio_id id = 0;
	int ret = swapio_submit(handle, io, &error, &id);

	if (ret < 0)
		fail_msg("swapio_submit: %s", error.text);
	assert_true(id != 0);
	return id;
}

static inline struct swapio_result finish(struct swapio *handle, swapio_id id)
{
	struct swapio_result result;

	assert_int_equal(swapio_wait(handle, id, SWAPIO_FOREVER, &result), 0);
	assert_true(result.id == id);
	return result;
}

static inline struct swapio_stats stats_of(struct swapio *handle)
{
	struct swapio_stats stats = {.size_bytes = sizeof(stats)};

	assert_int_equal(swapio_stats_get(handle, &stats), 0);
	return stats;
}

#endif /* TEST_HELPERS_H */
