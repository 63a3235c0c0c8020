/* SPDX-License-Identifier: MIT */
/*
 * size_calls.c - points ftruncate, fallocate and fsync: how large a file is, and when it is
 * durable.
 */
#include "interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "durable.h"
#include "posix_call.h"

REAL(ftruncate)
REAL(ftruncate64)
REAL(truncate)
REAL(truncate64)
REAL(fallocate)
REAL(fallocate64)
REAL(posix_fallocate)
REAL(posix_fallocate64)
REAL(fsync)
REAL(fdatasync)

_Static_assert(sizeof(off_t) == sizeof(off64_t), "one function may stand for both names");

static int ended(struct posix_call *call, struct durable_step *step, int result)
{
	durable_end(step, result == 0);
	return (int)posix_call_end(call, result);
}

/* @truncate_really: the one that the program named. */
static int ftruncate_call(int fd, off_t bytes, int (*truncate_really)(int, off_t))
{
	struct durable_step step;
	struct posix_call call;

	if (!posix_call_on_fd(&call, POINT_ftruncate, fd))
		return truncate_really(fd, bytes);
	call.call.length = (uint64_t)bytes;
	if (posix_call_fails(&call))
		return -1;
	durable_resize_begin(&step, fd, (uint64_t)bytes);
	return ended(&call, &step, truncate_really(fd, bytes));
}

static int truncate_call(const char *path, off_t bytes, int (*truncate_really)(const char *, off_t))
{
	struct durable_step step;
	struct path_call call;

	if (!posix_call_on_path(&call, POINT_ftruncate, AT_FDCWD, path))
		return truncate_really(path, bytes);
	call.posix.call.length = (uint64_t)bytes;
	if (posix_call_fails(&call.posix))
		return -1;
	durable_resize_path_begin(&step, path, (uint64_t)bytes);
	return ended(&call.posix, &step, truncate_really(path, bytes));
}

EXPORT int ftruncate(int fd, off_t bytes)
{
	return ftruncate_call(fd, bytes, real_ftruncate());
}

EXPORT int ftruncate64(int fd, off64_t bytes)
{
	return ftruncate_call(fd, bytes, real_ftruncate64());
}

EXPORT int truncate(const char *path, off_t bytes)
{
	return truncate_call(path, bytes, real_truncate());
}

EXPORT int truncate64(const char *path, off64_t bytes)
{
	return truncate_call(path, bytes, real_truncate64());
}

static int fallocate_call(int fd, int mode, off_t offset, off_t bytes,
			  int (*allocate_really)(int, int, off_t, off_t))
{
	struct durable_step step;
	struct posix_call call;

	if (!posix_call_on_fd(&call, POINT_fallocate, fd))
		return allocate_really(fd, mode, offset, bytes);
	call.call.offset = (uint64_t)offset;
	call.call.length = (uint64_t)bytes;
	if (posix_call_fails(&call))
		return -1;
	durable_allocate_begin(&step, fd, mode, (uint64_t)offset, (uint64_t)bytes);
	return ended(&call, &step, allocate_really(fd, mode, offset, bytes));
}

/* These answer with the errno itself. */
static int posix_fallocate_call(int fd, off_t offset, off_t bytes,
				int (*allocate_really)(int, off_t, off_t))
{
	struct durable_step step;
	struct posix_call call;
	int error;

	if (!posix_call_on_fd(&call, POINT_fallocate, fd))
		return allocate_really(fd, offset, bytes);
	call.call.offset = (uint64_t)offset;
	call.call.length = (uint64_t)bytes;
	error = posix_call_error(&call);
	if (error)
		return error;
	durable_allocate_begin(&step, fd, 0, (uint64_t)offset, (uint64_t)bytes);
	error = allocate_really(fd, offset, bytes);
	durable_end(&step, error == 0);
	posix_call_end_plain(&call, -error);
	return error;
}

EXPORT int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	return fallocate_call(fd, mode, offset, bytes, real_fallocate());
}

EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t bytes)
{
	return fallocate_call(fd, mode, offset, bytes, real_fallocate64());
}

EXPORT int posix_fallocate(int fd, off_t offset, off_t bytes)
{
	return posix_fallocate_call(fd, offset, bytes, real_posix_fallocate());
}

EXPORT int posix_fallocate64(int fd, off64_t offset, off64_t bytes)
{
	return posix_fallocate_call(fd, offset, bytes, real_posix_fallocate64());
}

static int fsync_call(int fd, int (*sync_really)(int))
{
	struct durable_step step;
	struct posix_call call;

	if (!posix_call_on_fd(&call, POINT_fsync, fd))
		return sync_really(fd);
	if (posix_call_fails(&call))
		return -1;
	durable_sync_begin(&step, fd);
	return ended(&call, &step, sync_really(fd));
}

EXPORT int fsync(int fd)
{
	return fsync_call(fd, real_fsync());
}

EXPORT int fdatasync(int fd)
{
	return fsync_call(fd, real_fdatasync());
}

INTERPOSED(ftruncate);
INTERPOSED(ftruncate64);
INTERPOSED(truncate);
INTERPOSED(truncate64);
INTERPOSED(fallocate);
INTERPOSED(fallocate64);
INTERPOSED(posix_fallocate);
INTERPOSED(posix_fallocate64);
INTERPOSED(fsync);
INTERPOSED(fdatasync);
