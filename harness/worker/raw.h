/* SPDX-License-Identifier: MIT */
/*
 * raw.h - system calls that no preload sees: what the worker does outside of the library must not
 * be counted, tortured or timed as if the library did it.
 *
 * Threads: as the calls.
 */
#ifndef RAW_H
#define RAW_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int raw_open(const char *path, int flags, mode_t mode)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);

	return fd < 0 ? -errno : (int)fd;
}

static inline void raw_close(int fd)
{
	syscall(SYS_close, fd);
}

#define RAW_HIGH_FD 800

/* The same file far above the numbers that programs get; -errno, and @fd is closed in any case. */
static inline int raw_keep_high(int fd)
{
	long high;

	if (fd < 0)
		return fd;
	high = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, RAW_HIGH_FD);
	if (high < 0)
		high = -errno;
	raw_close(fd);
	return (int)high;
}

static inline long raw_read(int fd, void *memory, size_t bytes)
{
	long got;

	do
		got = syscall(SYS_read, fd, memory, bytes);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static inline long raw_write(int fd, const void *memory, size_t bytes)
{
	long put;

	do
		put = syscall(SYS_write, fd, memory, bytes);
	while (put < 0 && errno == EINTR);
	return put < 0 ? -errno : put;
}

static inline long raw_pread(int fd, void *memory, size_t bytes, uint64_t offset)
{
	long got;

	do
		got = syscall(SYS_pread64, fd, memory, bytes, offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static inline long raw_pwrite(int fd, const void *memory, size_t bytes, uint64_t offset)
{
	long put;

	do
		put = syscall(SYS_pwrite64, fd, memory, bytes, offset);
	while (put < 0 && errno == EINTR);
	return put < 0 ? -errno : put;
}

static inline int raw_truncate(int fd, uint64_t bytes)
{
	return syscall(SYS_ftruncate, fd, bytes) < 0 ? -errno : 0;
}

static inline int raw_unlink(const char *path)
{
	return syscall(SYS_unlinkat, AT_FDCWD, path, 0) < 0 ? -errno : 0;
}

/* Size in bytes, -errno when there is no such file. */
static inline int64_t raw_size(const char *path)
{
	int fd = raw_open(path, O_PATH, 0);
	int64_t bytes = fd;
	struct statx status;

	if (fd < 0)
		return fd;
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &status) < 0)
		bytes = -errno;
	else
		bytes = (int64_t)status.stx_size;
	raw_close(fd);
	return bytes;
}

#endif /* RAW_H */
