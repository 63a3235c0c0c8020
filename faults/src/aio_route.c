/* SPDX-License-Identifier: MIT */
/*
 * aio_route.c - who serves an AIO call: the stage for contexts that it handed out, the kernel for
 * all others. Raw system calls, because dlsym(RTLD_NEXT) finds no libaio from a preload when the
 * program is a plugin opened RTLD_LOCAL.
 */
#include <errno.h>

#include "aio_calls.h"
#include "rawcall.h"
#include "runtime.h"
#include "stage.h"

static inline bool staged(aio_context_t ctx)
{
	return runtime_staged() && stage_owns(ctx);
}

long aio_setup(unsigned nr_events, aio_context_t *ret_ctx)
{
	if (runtime_staged())
		return stage_setup(nr_events, ret_ctx);
	return raw_call(SYS_io_setup, nr_events, ret_ctx);
}

long aio_destroy(aio_context_t ctx)
{
	if (staged(ctx))
		return stage_destroy(ctx);
	return raw_call(SYS_io_destroy, ctx);
}

long aio_submit(aio_context_t ctx, long nr, struct iocb **iocbs)
{
	if (staged(ctx))
		return stage_submit(ctx, nr, iocbs);
	return raw_call(SYS_io_submit, ctx, nr, iocbs);
}

long aio_cancel(aio_context_t ctx, struct iocb *iocb, struct io_event *ret_event)
{
	if (staged(ctx))
		return stage_cancel(ctx, iocb, ret_event);
	return raw_call(SYS_io_cancel, ctx, iocb, ret_event);
}

long aio_getevents(aio_context_t ctx, long min_nr, long nr, struct io_event *events,
		   struct timespec *timeout)
{
	if (staged(ctx))
		return stage_wait(ctx, FAULT_CALL_GETEVENTS, min_nr, nr, events, timeout, NULL, 0);
	return raw_call(SYS_io_getevents, ctx, min_nr, nr, events, timeout);
}

long aio_pgetevents(aio_context_t ctx, long min_nr, long nr, struct io_event *events,
		    struct timespec *timeout, const struct aio_sigset *sigset)
{
	struct fault *missing = runtime_fault_missing();

	if (missing) {
		runtime_log_inject(missing, NULL, 0, -ENOSYS);
		return -ENOSYS;
	}
	if (staged(ctx))
		return stage_wait(ctx, FAULT_CALL_PGETEVENTS, min_nr, nr, events, timeout,
				  sigset ? sigset->mask : NULL, sigset ? sigset->bytes : 0);
	return raw_call(SYS_io_pgetevents, ctx, min_nr, nr, events, timeout, sigset);
}
