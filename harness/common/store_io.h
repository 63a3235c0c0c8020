/* SPDX-License-Identifier: MIT */
/*
 * store_io.h - reading for the reader of stores, past any preload: what it looks at must not be
 * counted or tortured as if the library did it.
 *
 * Threads: as the calls.
 */
#ifndef STORE_IO_H
#define STORE_IO_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int store_io_open(const char *path)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);

	return fd < 0 ? -errno : (int)fd;
}

static inline void store_io_close(int fd)
{
	if (fd >= 0)
		syscall(SYS_close, fd);
}

/* All of it: 0, -ENODATA at the end of the file, -errno. */
static inline int store_io_read(int fd, void *memory, size_t count, uint64_t offset)
{
	char *to = memory;

	while (count) {
		long got = syscall(SYS_pread64, fd, to, count, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ENODATA;
		to += got;
		offset += (uint64_t)got;
		count -= (size_t)got;
	}
	return 0;
}

/* Bytes of a file or device; -errno. */
static inline int64_t store_io_length(int fd)
{
	long end = syscall(SYS_lseek, fd, 0, SEEK_END);

	return end < 0 ? -errno : end;
}

#endif /* STORE_IO_H */
