/* SPDX-License-Identifier: MIT */
/*
 * stat_calls.c - stat, fstat, lstat and fstatat under all their names are the point `fstat`. (statx
 * has more to say, see statx_call.c.) Libcs before 2.33 export only the __xstat names, whose first
 * argument is the version of the structure; 64-bit machines have had a single one all along.
 */
#include "interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "posix_call.h"
#include "rawcall.h"

#ifndef SYS_newfstatat
#define SYS_newfstatat SYS_fstatat
#endif

int __fxstat(int version, int fd, struct stat *ret_status);
int __fxstat64(int version, int fd, struct stat64 *ret_status);
int __xstat(int version, const char *path, struct stat *ret_status);
int __xstat64(int version, const char *path, struct stat64 *ret_status);
int __lxstat(int version, const char *path, struct stat *ret_status);
int __lxstat64(int version, const char *path, struct stat64 *ret_status);
int __fxstatat(int version, int dirfd, const char *path, struct stat *ret_status, int flags);
int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *ret_status, int flags);

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout for both names");

/* Straight to the kernel, whatever names libc has: its layout is the program's on 64-bit machines.
 */
static int finish(long result)
{
	if (result == 0)
		return 0;
	errno = (int)-result;
	return -1;
}

static int ask_fd(int fd, void *ret_status)
{
	return finish(raw_call(SYS_fstat, fd, ret_status));
}

static int ask_path(int dirfd, const char *path, void *ret_status, int flags)
{
	return finish(raw_call(SYS_newfstatat, dirfd, path, ret_status, flags));
}

static int stat_fd(int fd, void *ret_status)
{
	struct posix_call call;

	if (!posix_call_on_fd(&call, POINT_fstat, fd))
		return ask_fd(fd, ret_status);
	if (posix_call_fails(&call))
		return -1;
	return (int)posix_call_end(&call, ask_fd(fd, ret_status));
}

static int stat_path(int dirfd, const char *path, void *ret_status, int flags)
{
	struct path_call call;

	if (posix_call_is_about_fd(dirfd, path, flags))
		return stat_fd(dirfd, ret_status);
	if (!posix_call_on_path(&call, POINT_fstat, dirfd, path))
		return ask_path(dirfd, path, ret_status, flags);
	if (posix_call_fails(&call.posix))
		return -1;
	return (int)posix_call_end(&call.posix, ask_path(dirfd, path, ret_status, flags));
}

EXPORT int fstat(int fd, struct stat *ret_status)
{
	return stat_fd(fd, ret_status);
}

EXPORT int fstat64(int fd, struct stat64 *ret_status)
{
	return stat_fd(fd, ret_status);
}

EXPORT int stat(const char *restrict path, struct stat *restrict ret_status)
{
	return stat_path(AT_FDCWD, path, ret_status, 0);
}

EXPORT int stat64(const char *restrict path, struct stat64 *restrict ret_status)
{
	return stat_path(AT_FDCWD, path, ret_status, 0);
}

EXPORT int lstat(const char *restrict path, struct stat *restrict ret_status)
{
	return stat_path(AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int lstat64(const char *restrict path, struct stat64 *restrict ret_status)
{
	return stat_path(AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int fstatat(int dirfd, const char *restrict path, struct stat *restrict ret_status,
		   int flags)
{
	return stat_path(dirfd, path, ret_status, flags);
}

EXPORT int fstatat64(int dirfd, const char *restrict path, struct stat64 *restrict ret_status,
		     int flags)
{
	return stat_path(dirfd, path, ret_status, flags);
}

EXPORT int __fxstat(int version, int fd, struct stat *ret_status)
{
	(void)version;
	return stat_fd(fd, ret_status);
}

EXPORT int __fxstat64(int version, int fd, struct stat64 *ret_status)
{
	(void)version;
	return stat_fd(fd, ret_status);
}

EXPORT int __xstat(int version, const char *path, struct stat *ret_status)
{
	(void)version;
	return stat_path(AT_FDCWD, path, ret_status, 0);
}

EXPORT int __xstat64(int version, const char *path, struct stat64 *ret_status)
{
	(void)version;
	return stat_path(AT_FDCWD, path, ret_status, 0);
}

EXPORT int __lxstat(int version, const char *path, struct stat *ret_status)
{
	(void)version;
	return stat_path(AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int __lxstat64(int version, const char *path, struct stat64 *ret_status)
{
	(void)version;
	return stat_path(AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int __fxstatat(int version, int dirfd, const char *path, struct stat *ret_status, int flags)
{
	(void)version;
	return stat_path(dirfd, path, ret_status, flags);
}

EXPORT int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *ret_status,
			int flags)
{
	(void)version;
	return stat_path(dirfd, path, ret_status, flags);
}

INTERPOSED(fstat);
INTERPOSED(fstat64);
INTERPOSED(stat);
INTERPOSED(stat64);
INTERPOSED(lstat);
INTERPOSED(lstat64);
INTERPOSED(fstatat);
INTERPOSED(fstatat64);
INTERPOSED(__fxstat);
INTERPOSED(__fxstat64);
INTERPOSED(__xstat);
INTERPOSED(__xstat64);
INTERPOSED(__lxstat);
INTERPOSED(__lxstat64);
INTERPOSED(__fxstatat);
INTERPOSED(__fxstatat64);
