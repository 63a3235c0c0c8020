/* SPDX-License-Identifier: MIT */
/*
 * name_calls.c - points rename and unlink: the names of files. A call belongs to the case when any
 * of its names is below the work directory. Making a directory is no point: what a crash takes back
 * of it is all that it has to do with faults.
 */
#include "interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durable.h"
#include "paths.h"
#include "posix_call.h"

#if !__GLIBC_PREREQ(2, 28)
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
#endif

REAL(rename)
REAL(renameat)
REAL(renameat2)
REAL(unlink)
REAL(unlinkat)
REAL(remove)
REAL(mkdir)
REAL(mkdirat)

static bool rename_is_ours(struct path_call *call, int from_dir, const char *from, int to_dir,
			   const char *to)
{
	return posix_call_on_path(call, POINT_rename, to_dir, to) ||
	       posix_call_on_path(call, POINT_rename, from_dir, from);
}

/* The call itself, and what it leaves to be lost in a crash. */
static int name_ended(struct path_call *call, struct durable_step *step, int result)
{
	durable_end(step, result == 0);
	return (int)posix_call_end(&call->posix, result);
}

EXPORT int rename(const char *from, const char *to)
{
	struct durable_step step;
	struct path_call call;

	if (!rename_is_ours(&call, AT_FDCWD, from, AT_FDCWD, to))
		return real_rename()(from, to);
	if (posix_call_fails(&call.posix))
		return -1;
	durable_rename_begin(&step, AT_FDCWD, from, AT_FDCWD, to, 0);
	return name_ended(&call, &step, real_rename()(from, to));
}

EXPORT int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	struct durable_step step;
	struct path_call call;

	if (!rename_is_ours(&call, from_dir, from, to_dir, to))
		return real_renameat()(from_dir, from, to_dir, to);
	if (posix_call_fails(&call.posix))
		return -1;
	durable_rename_begin(&step, from_dir, from, to_dir, to, 0);
	return name_ended(&call, &step, real_renameat()(from_dir, from, to_dir, to));
}

EXPORT int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	struct durable_step step;
	struct path_call call;

	if (!rename_is_ours(&call, from_dir, from, to_dir, to))
		return real_renameat2()(from_dir, from, to_dir, to, flags);
	if (posix_call_fails(&call.posix))
		return -1;
	durable_rename_begin(&step, from_dir, from, to_dir, to, flags);
	return name_ended(&call, &step, real_renameat2()(from_dir, from, to_dir, to, flags));
}

EXPORT int unlink(const char *path)
{
	struct durable_step step;
	struct path_call call;

	if (!posix_call_on_path(&call, POINT_unlink, AT_FDCWD, path))
		return real_unlink()(path);
	if (posix_call_fails(&call.posix))
		return -1;
	durable_unlink_begin(&step, AT_FDCWD, path);
	return name_ended(&call, &step, real_unlink()(path));
}

/* A directory is not what the point is about. */
EXPORT int unlinkat(int dirfd, const char *path, int flags)
{
	struct durable_step step;
	struct path_call call;

	if ((flags & AT_REMOVEDIR) || !posix_call_on_path(&call, POINT_unlink, dirfd, path))
		return real_unlinkat()(dirfd, path, flags);
	if (posix_call_fails(&call.posix))
		return -1;
	durable_unlink_begin(&step, dirfd, path);
	return name_ended(&call, &step, real_unlinkat()(dirfd, path, flags));
}

EXPORT int remove(const char *path)
{
	struct durable_step step;
	struct path_call call;

	if (!posix_call_on_path(&call, POINT_unlink, AT_FDCWD, path))
		return real_remove()(path);
	if (posix_call_fails(&call.posix))
		return -1;
	durable_unlink_begin(&step, AT_FDCWD, path);
	return name_ended(&call, &step, real_remove()(path));
}

static bool makes_ours(int dirfd, const char *path)
{
	char absolute[PATH_MAX];

	return durable_is_active() && path && paths_absolute(dirfd, path, absolute) == 0 &&
	       paths_below(absolute);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
	struct durable_step step;
	int result;

	if (!makes_ours(AT_FDCWD, path))
		return real_mkdir()(path, mode);
	durable_mkdir_begin(&step, AT_FDCWD, path);
	result = real_mkdir()(path, mode);
	durable_end(&step, result == 0);
	return result;
}

EXPORT int mkdirat(int dirfd, const char *path, mode_t mode)
{
	struct durable_step step;
	int result;

	if (!makes_ours(dirfd, path))
		return real_mkdirat()(dirfd, path, mode);
	durable_mkdir_begin(&step, dirfd, path);
	result = real_mkdirat()(dirfd, path, mode);
	durable_end(&step, result == 0);
	return result;
}

INTERPOSED(rename);
INTERPOSED(renameat);
INTERPOSED(renameat2);
INTERPOSED(unlink);
INTERPOSED(unlinkat);
INTERPOSED(remove);
INTERPOSED(mkdir);
INTERPOSED(mkdirat);
