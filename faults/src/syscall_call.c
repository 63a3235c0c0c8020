/* SPDX-License-Identifier: MIT */
/*
 * syscall_call.c - syscall(2) as a function: programs without libaio make AIO calls by number. All
 * other numbers go to the kernel untouched.
 */
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "aio_calls.h"
#include "interpose.h"
#include "rawcall.h"
#include "uring.h"

static long make_call(long number, const long a[6])
{
	switch (number) {
	case SYS_io_setup:
		return aio_setup((unsigned)a[0], (aio_context_t *)a[1]);
	case SYS_io_destroy:
		return aio_destroy((aio_context_t)a[0]);
	case SYS_io_submit:
		return aio_submit((aio_context_t)a[0], a[1], (struct iocb **)a[2]);
	case SYS_io_cancel:
		return aio_cancel((aio_context_t)a[0], (struct iocb *)a[1],
				  (struct io_event *)a[2]);
	case SYS_io_getevents:
		return aio_getevents((aio_context_t)a[0], a[1], a[2], (struct io_event *)a[3],
				     (struct timespec *)a[4]);
	case SYS_io_pgetevents:
		return aio_pgetevents((aio_context_t)a[0], a[1], a[2], (struct io_event *)a[3],
				      (struct timespec *)a[4], (const struct aio_sigset *)a[5]);
	case SYS_io_uring_setup:
		uring_seen();
		break;
	default:
		break;
	}
	return raw_call6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

EXPORT long syscall(long number, ...)
{
	va_list list;
	long a[6], result;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	result = make_call(number, a);
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

INTERPOSED(syscall);
