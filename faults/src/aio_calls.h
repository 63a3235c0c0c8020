/* SPDX-License-Identifier: MIT */
/*
 * aio_calls.h - one AIO system call on its way to the stage or to the kernel, whether it was made
 * through libaio or through syscall(). Return values are the kernel's (-errno).
 *
 * Threads: any; safe in signal handlers.
 */
#ifndef SWAPFAULT_AIO_CALLS_H
#define SWAPFAULT_AIO_CALLS_H

#include <linux/aio_abi.h>
#include <signal.h>
#include <time.h>

/* What the last argument of the io_pgetevents system call points to. */
struct aio_sigset {
	const sigset_t *mask;
	size_t bytes;
};

long aio_setup(unsigned nr_events, aio_context_t *ret_ctx);
long aio_destroy(aio_context_t ctx);
long aio_submit(aio_context_t ctx, long nr, struct iocb **iocbs);
long aio_cancel(aio_context_t ctx, struct iocb *iocb, struct io_event *ret_event);
long aio_getevents(aio_context_t ctx, long min_nr, long nr, struct io_event *events,
		   struct timespec *timeout);
/* @sigset may be NULL, and so may its mask. */
long aio_pgetevents(aio_context_t ctx, long min_nr, long nr, struct io_event *events,
		    struct timespec *timeout, const struct aio_sigset *sigset);

#endif /* SWAPFAULT_AIO_CALLS_H */
