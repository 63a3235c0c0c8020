/* SPDX-License-Identifier: MIT */
/*
 * open_calls.c - every way to open a file is the point `open`. In sim, O_DIRECT is taken out of the
 * real call: the back end keeps its rules, on any file system.
 */
#include "interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#include "case.h"
#include "durable.h"
#include "files.h"
#include "posix_call.h"

/* What fortified programs call where O_CREAT cannot be in the flags. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);

REAL(open)
REAL(open64)
REAL(openat)
REAL(openat64)
REAL(creat)
REAL(creat64)
REAL(__open_2)
REAL(__open64_2)
REAL(__openat_2)
REAL(__openat64_2)

static bool makes_file(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

static int open_really(int dirfd, const char *path, int flags, mode_t mode)
{
	if (runtime_sim())
		flags &= ~O_DIRECT;
	return real_openat()(dirfd, path, flags, mode);
}

/* The program begins its work: from here on calls count. */
static void reached_work_dir(void)
{
	if (!runtime_case.arm_at_open)
		return;
	runtime_case.arm_at_open = false;
	runtime_arm();
}

static int open_below(struct path_call *call, int dirfd, const char *path, int flags, mode_t mode)
{
	struct durable_step step;
	bool armed;
	int fd;

	reached_work_dir();
	armed = runtime_armed();
	call->posix.call.direct = flags & O_DIRECT;
	if (armed && posix_call_fails(&call->posix))
		return -1;
	durable_open_begin(&step, dirfd, path, flags);
	fd = open_really(dirfd, path, flags, mode);
	durable_end(&step, fd >= 0);
	if (armed)
		posix_call_end(&call->posix, fd);
	if (fd >= 0) {
		files_opened(fd, call->path, flags);
		runtime_log_file(fd, call->posix.call.path);
	}
	return fd;
}

static int open_staged(int dirfd, const char *path, int flags, mode_t mode)
{
	struct path_call call;
	int fd;

	if (runtime_inside())
		return real_openat()(dirfd, path, flags, mode);
	if (posix_call_start_path(&call, POINT_open, dirfd, path))
		return open_below(&call, dirfd, path, flags, mode);
	fd = open_really(dirfd, path, flags, mode);
	if (fd >= 0)
		files_opened(fd, NULL, flags);
	return fd;
}

#define TAKE_MODE(flags, mode)                                                                     \
	mode_t mode = 0;                                                                           \
	if (makes_file(flags)) {                                                                   \
		va_list list;                                                                      \
		va_start(list, flags);                                                             \
		mode = (mode_t)va_arg(list, int);                                                  \
		va_end(list);                                                                      \
	}

EXPORT int open(const char *path, int flags, ...)
{
	TAKE_MODE(flags, mode)
	if (!runtime_staged())
		return real_open()(path, flags, mode);
	return open_staged(AT_FDCWD, path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
	TAKE_MODE(flags, mode)
	if (!runtime_staged())
		return real_open64()(path, flags, mode);
	return open_staged(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
	TAKE_MODE(flags, mode)
	if (!runtime_staged())
		return real_openat()(dirfd, path, flags, mode);
	return open_staged(dirfd, path, flags, mode);
}

EXPORT int openat64(int dirfd, const char *path, int flags, ...)
{
	TAKE_MODE(flags, mode)
	if (!runtime_staged())
		return real_openat64()(dirfd, path, flags, mode);
	return open_staged(dirfd, path, flags | O_LARGEFILE, mode);
}

EXPORT int creat(const char *path, mode_t mode)
{
	if (!runtime_staged())
		return real_creat()(path, mode);
	return open_staged(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int creat64(const char *path, mode_t mode)
{
	if (!runtime_staged())
		return real_creat64()(path, mode);
	return open_staged(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, mode);
}

/* With O_CREAT in the flags the real one ends the program: the mode is missing. */
EXPORT int __open_2(const char *path, int flags)
{
	if (!runtime_staged() || makes_file(flags))
		return real___open_2()(path, flags);
	return open_staged(AT_FDCWD, path, flags, 0);
}

EXPORT int __open64_2(const char *path, int flags)
{
	if (!runtime_staged() || makes_file(flags))
		return real___open64_2()(path, flags);
	return open_staged(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}

EXPORT int __openat_2(int dirfd, const char *path, int flags)
{
	if (!runtime_staged() || makes_file(flags))
		return real___openat_2()(dirfd, path, flags);
	return open_staged(dirfd, path, flags, 0);
}

EXPORT int __openat64_2(int dirfd, const char *path, int flags)
{
	if (!runtime_staged() || makes_file(flags))
		return real___openat64_2()(dirfd, path, flags);
	return open_staged(dirfd, path, flags | O_LARGEFILE, 0);
}

INTERPOSED(open);
INTERPOSED(open64);
INTERPOSED(openat);
INTERPOSED(openat64);
INTERPOSED(creat);
INTERPOSED(creat64);
INTERPOSED(__open_2);
INTERPOSED(__open64_2);
INTERPOSED(__openat_2);
INTERPOSED(__openat64_2);
