/* SPDX-License-Identifier: MIT */
/*
 * rw_calls.c - the names under which programs read and write synchronously: points pread and
 * pwrite.
 */
#include "interpose.h"

#include "rw_calls.h"

#include <errno.h>
#include <unistd.h>

/* What fortified programs call: `room` is the size of the buffer. */
ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t offset, size_t room);

REAL(read)
REAL(pread)
REAL(pread64)
REAL(write)
REAL(pwrite)
REAL(pwrite64)
REAL(__read_chk)
REAL(__pread_chk)
REAL(__pread64_chk)
REAL(readv)
REAL(preadv)
REAL(preadv64)
REAL(preadv2)
REAL(preadv64v2)
REAL(writev)
REAL(pwritev)
REAL(pwritev64)
REAL(pwritev2)
REAL(pwritev64v2)

static ssize_t at_position(enum point_id point, int fd, const void *buffer, size_t bytes)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)buffer, .iov_len = bytes};
	struct rw rw = {.point = point, .fd = fd, .iov = &iov, .iov_count = 1};

	return rw_staged(&rw);
}

static ssize_t at_offset(enum point_id point, int fd, const void *buffer, size_t bytes,
			 int64_t offset)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)buffer, .iov_len = bytes};
	struct rw rw = {.point = point,
			.fd = fd,
			.iov = &iov,
			.iov_count = 1,
			.positioned = true,
			.offset_bytes = offset};

	return rw_staged(&rw);
}

static ssize_t vector_at_position(enum point_id point, int fd, const struct iovec *iov, int count)
{
	struct rw rw = {.point = point, .fd = fd, .iov = iov, .iov_count = count};

	return rw_staged(&rw);
}

static ssize_t vector_at_offset(enum point_id point, int fd, const struct iovec *iov, int count,
				int64_t offset)
{
	struct rw rw = {.point = point,
			.fd = fd,
			.iov = iov,
			.iov_count = count,
			.positioned = true,
			.offset_bytes = offset};

	return rw_staged(&rw);
}

/* Here -1 is legal: the file's own position. */
static ssize_t vector_flagged(enum point_id point, int fd, const struct iovec *iov, int count,
			      int64_t offset, int flags)
{
	struct rw rw = {.point = point,
			.fd = fd,
			.iov = iov,
			.iov_count = count,
			.positioned = offset != -1,
			.offset_bytes = offset,
			.flags = flags};

	return rw_staged(&rw);
}

EXPORT ssize_t read(int fd, void *buffer, size_t bytes)
{
	if (!rw_is_ours(fd))
		return real_read()(fd, buffer, bytes);
	return at_position(POINT_pread, fd, buffer, bytes);
}

EXPORT ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	if (!rw_is_ours(fd))
		return real_pread()(fd, buffer, bytes, offset);
	return at_offset(POINT_pread, fd, buffer, bytes, offset);
}

EXPORT ssize_t pread64(int fd, void *buffer, size_t bytes, off64_t offset)
{
	if (!rw_is_ours(fd))
		return real_pread64()(fd, buffer, bytes, offset);
	return at_offset(POINT_pread, fd, buffer, bytes, offset);
}

EXPORT ssize_t write(int fd, const void *buffer, size_t bytes)
{
	if (!rw_is_ours(fd))
		return real_write()(fd, buffer, bytes);
	return at_position(POINT_pwrite, fd, buffer, bytes);
}

EXPORT ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
	if (!rw_is_ours(fd))
		return real_pwrite()(fd, buffer, bytes, offset);
	return at_offset(POINT_pwrite, fd, buffer, bytes, offset);
}

EXPORT ssize_t pwrite64(int fd, const void *buffer, size_t bytes, off64_t offset)
{
	if (!rw_is_ours(fd))
		return real_pwrite64()(fd, buffer, bytes, offset);
	return at_offset(POINT_pwrite, fd, buffer, bytes, offset);
}

/* Where the buffer is too small the real one ends the program, with its message. */
EXPORT ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room)
{
	if (bytes > room || !rw_is_ours(fd))
		return real___read_chk()(fd, buffer, bytes, room);
	return at_position(POINT_pread, fd, buffer, bytes);
}

EXPORT ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t offset, size_t room)
{
	if (bytes > room || !rw_is_ours(fd))
		return real___pread_chk()(fd, buffer, bytes, offset, room);
	return at_offset(POINT_pread, fd, buffer, bytes, offset);
}

EXPORT ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t offset, size_t room)
{
	if (bytes > room || !rw_is_ours(fd))
		return real___pread64_chk()(fd, buffer, bytes, offset, room);
	return at_offset(POINT_pread, fd, buffer, bytes, offset);
}

EXPORT ssize_t readv(int fd, const struct iovec *iov, int count)
{
	if (!rw_is_ours(fd))
		return real_readv()(fd, iov, count);
	return vector_at_position(POINT_pread, fd, iov, count);
}

EXPORT ssize_t preadv(int fd, const struct iovec *iov, int count, off_t offset)
{
	if (!rw_is_ours(fd))
		return real_preadv()(fd, iov, count, offset);
	return vector_at_offset(POINT_pread, fd, iov, count, offset);
}

EXPORT ssize_t preadv64(int fd, const struct iovec *iov, int count, off64_t offset)
{
	if (!rw_is_ours(fd))
		return real_preadv64()(fd, iov, count, offset);
	return vector_at_offset(POINT_pread, fd, iov, count, offset);
}

EXPORT ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
	if (!rw_is_ours(fd))
		return real_preadv2()(fd, iov, count, offset, flags);
	return vector_flagged(POINT_pread, fd, iov, count, offset, flags);
}

EXPORT ssize_t preadv64v2(int fd, const struct iovec *iov, int count, off64_t offset, int flags)
{
	if (!rw_is_ours(fd))
		return real_preadv64v2()(fd, iov, count, offset, flags);
	return vector_flagged(POINT_pread, fd, iov, count, offset, flags);
}

EXPORT ssize_t writev(int fd, const struct iovec *iov, int count)
{
	if (!rw_is_ours(fd))
		return real_writev()(fd, iov, count);
	return vector_at_position(POINT_pwrite, fd, iov, count);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t offset)
{
	if (!rw_is_ours(fd))
		return real_pwritev()(fd, iov, count, offset);
	return vector_at_offset(POINT_pwrite, fd, iov, count, offset);
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *iov, int count, off64_t offset)
{
	if (!rw_is_ours(fd))
		return real_pwritev64()(fd, iov, count, offset);
	return vector_at_offset(POINT_pwrite, fd, iov, count, offset);
}

EXPORT ssize_t pwritev2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
	if (!rw_is_ours(fd))
		return real_pwritev2()(fd, iov, count, offset, flags);
	return vector_flagged(POINT_pwrite, fd, iov, count, offset, flags);
}

EXPORT ssize_t pwritev64v2(int fd, const struct iovec *iov, int count, off64_t offset, int flags)
{
	if (!rw_is_ours(fd))
		return real_pwritev64v2()(fd, iov, count, offset, flags);
	return vector_flagged(POINT_pwrite, fd, iov, count, offset, flags);
}

INTERPOSED(read);
INTERPOSED(pread);
INTERPOSED(pread64);
INTERPOSED(write);
INTERPOSED(pwrite);
INTERPOSED(pwrite64);
INTERPOSED(__read_chk);
INTERPOSED(__pread_chk);
INTERPOSED(__pread64_chk);
INTERPOSED(readv);
INTERPOSED(preadv);
INTERPOSED(preadv64);
INTERPOSED(preadv2);
INTERPOSED(preadv64v2);
INTERPOSED(writev);
INTERPOSED(pwritev);
INTERPOSED(pwritev64);
INTERPOSED(pwritev2);
INTERPOSED(pwritev64v2);
