/* SPDX-License-Identifier: MIT */
/*
 * fd_calls.c - what happens to descriptors besides being opened: closed (a point), duplicated, and
 * asked for their flags. In sim the program sees the O_DIRECT that it set, which the kernel does
 * not.
 */
#include "interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "files.h"
#include "posix_call.h"

#if !__GLIBC_PREREQ(2, 28)
int fcntl64(int fd, int command, ...);
#endif

REAL(close)
REAL(dup)
REAL(dup2)
REAL(dup3)
REAL(fcntl)
REAL_OR(fcntl64, fcntl)

/* Whatever close() answers, the descriptor is gone. */
static int close_staged(int fd)
{
	struct posix_call call;
	struct fault *fault;
	int result;

	if (!posix_call_on_fd(&call, POINT_close, fd)) {
		files_closed(fd);
		return real_close()(fd);
	}
	posix_call_decide(&call);
	fault = posix_call_fault(&call, KIND_close_error);
	files_closed(fd);
	result = real_close()(fd);
	if (!fault || result < 0)
		return (int)posix_call_end(&call, result);
	posix_call_end_injected(&call, fault, -fault->value);
	errno = (int)fault->value;
	return -1;
}

EXPORT int close(int fd)
{
	if (!runtime_staged() || runtime_inside())
		return real_close()(fd);
	return close_staged(fd);
}

static int duplicated(int from, int to)
{
	int kept_errno = errno;

	if (to >= 0 && runtime_staged() && !runtime_inside() && from != to)
		files_duplicated(from, to);
	errno = kept_errno;
	return to;
}

EXPORT int dup(int fd)
{
	return duplicated(fd, real_dup()(fd));
}

EXPORT int dup2(int fd, int to)
{
	return duplicated(fd, real_dup2()(fd, to));
}

EXPORT int dup3(int fd, int to, int flags)
{
	return duplicated(fd, real_dup3()(fd, to, flags));
}

static int flags_get(int fd, int flags)
{
	if (flags < 0)
		return flags;
	return files_direct(fd) ? flags | O_DIRECT : flags;
}

static int flags_set(int fd, long flags)
{
	int result = real_fcntl()(fd, F_SETFL, flags & ~(long)O_DIRECT);

	if (result >= 0)
		files_set_direct(fd, flags & O_DIRECT);
	return result;
}

static int fcntl_staged(int fd, int command, long argument)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return duplicated(fd, real_fcntl()(fd, command, argument));
	case F_GETFL:
		if (runtime_sim())
			return flags_get(fd, real_fcntl()(fd, command));
		break;
	case F_SETFL:
		if (runtime_sim())
			return flags_set(fd, argument);
		break;
	default:
		break;
	}
	return real_fcntl()(fd, command, argument);
}

/* One argument at most, an integer or a pointer: passed on in either case. */
#define TAKE_ARGUMENT(command, argument)                                                           \
	long argument;                                                                             \
	va_list list;                                                                              \
	va_start(list, command);                                                                   \
	argument = va_arg(list, long);                                                             \
	va_end(list)

EXPORT int fcntl(int fd, int command, ...)
{
	TAKE_ARGUMENT(command, argument);

	if (!runtime_staged() || runtime_inside())
		return real_fcntl()(fd, command, argument);
	return fcntl_staged(fd, command, argument);
}

EXPORT int fcntl64(int fd, int command, ...)
{
	TAKE_ARGUMENT(command, argument);

	if (!runtime_staged() || runtime_inside())
		return real_fcntl64()(fd, command, argument);
	return fcntl_staged(fd, command, argument);
}

INTERPOSED(close);
INTERPOSED(dup);
INTERPOSED(dup2);
INTERPOSED(dup3);
INTERPOSED(fcntl);
INTERPOSED(fcntl64);
