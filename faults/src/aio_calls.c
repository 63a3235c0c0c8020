/* SPDX-License-Identifier: MIT */
/*
 * aio_calls.c - libaio's entry points, with libaio's meaning: -errno is returned, and an empty ring
 * answers a wait of no time without a system call.
 *
 * The definitions are unversioned on purpose: they satisfy LIBAIO_0.1, 0.4 and 0.5 alike. (The 0.1
 * forms of io_getevents and io_cancel with other arguments died with libaio 0.3.96, in 2003.)
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "aio_calls.h"
#include "interpose.h"
#include "runtime.h"
#include "stage.h"

/* The head of the kernel's ring, as libaio reads it. */
struct aio_ring_head {
	unsigned id, nr, head, tail;
	unsigned magic, compat_features, incompat_features, header_bytes;
};

#define AIO_RING_MAGIC 0xa10a10a1u
#define KERNEL_SIGSET_BYTES 8

typedef void (*io_callback_t)(aio_context_t ctx, struct iocb *iocb, long res, long res2);

int io_setup(int nr_events, aio_context_t *ret_ctx);
int io_destroy(aio_context_t ctx);
int io_submit(aio_context_t ctx, long nr, struct iocb **iocbs);
int io_cancel(aio_context_t ctx, struct iocb *iocb, struct io_event *ret_event);
int io_getevents(aio_context_t ctx, long min_nr, long nr, struct io_event *events,
		 struct timespec *timeout);
int io_pgetevents(aio_context_t ctx, long min_nr, long nr, struct io_event *events,
		  struct timespec *timeout, sigset_t *mask);
int io_queue_init(int nr_events, aio_context_t *ret_ctx);
int io_queue_release(aio_context_t ctx);
int io_queue_run(aio_context_t ctx);
int io_queue_wait(aio_context_t ctx, struct timespec *timeout);

/* libaio's shortcut. A wait on a ring of ours is never cut short here: it has to be counted. */
static bool ring_answers(aio_context_t ctx, const struct timespec *timeout)
{
	const struct aio_ring_head *ring = (const struct aio_ring_head *)ctx;

	if (!timeout || timeout->tv_sec || timeout->tv_nsec || !ring)
		return false;
	if (runtime_staged() && stage_owns(ctx))
		return false;
	if (ring->magic != AIO_RING_MAGIC || ring->incompat_features != 0)
		return false;
	return __atomic_load_n(&ring->head, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

EXPORT int io_setup(int nr_events, aio_context_t *ret_ctx)
{
	return (int)aio_setup((unsigned)nr_events, ret_ctx);
}

EXPORT int io_destroy(aio_context_t ctx)
{
	return (int)aio_destroy(ctx);
}

EXPORT int io_submit(aio_context_t ctx, long nr, struct iocb **iocbs)
{
	return (int)aio_submit(ctx, nr, iocbs);
}

EXPORT int io_cancel(aio_context_t ctx, struct iocb *iocb, struct io_event *ret_event)
{
	return (int)aio_cancel(ctx, iocb, ret_event);
}

EXPORT int io_getevents(aio_context_t ctx, long min_nr, long nr, struct io_event *events,
			struct timespec *timeout)
{
	if (ring_answers(ctx, timeout))
		return 0;
	return (int)aio_getevents(ctx, min_nr, nr, events, timeout);
}

EXPORT int io_pgetevents(aio_context_t ctx, long min_nr, long nr, struct io_event *events,
			 struct timespec *timeout, sigset_t *mask)
{
	struct aio_sigset sigset = {.mask = mask, .bytes = KERNEL_SIGSET_BYTES};

	if (ring_answers(ctx, timeout))
		return 0;
	return (int)aio_pgetevents(ctx, min_nr, nr, events, timeout, &sigset);
}

EXPORT int io_queue_init(int nr_events, aio_context_t *ret_ctx)
{
	if (nr_events <= 0)
		return -EINVAL;
	*ret_ctx = 0;
	return (int)aio_setup((unsigned)nr_events, ret_ctx);
}

EXPORT int io_queue_release(aio_context_t ctx)
{
	return (int)aio_destroy(ctx);
}

EXPORT int io_queue_run(aio_context_t ctx)
{
	struct timespec now = {0, 0};
	struct io_event event;
	int count;

	while ((count = io_getevents(ctx, 0, 1, &event, &now)) == 1) {
		io_callback_t callback = (io_callback_t)(uintptr_t)event.data;

		callback(ctx, (struct iocb *)(uintptr_t)event.obj, (long)event.res,
			 (long)event.res2);
	}
	return count;
}

EXPORT int io_queue_wait(aio_context_t ctx, struct timespec *timeout)
{
	return io_getevents(ctx, 0, 0, NULL, timeout);
}

INTERPOSED(io_setup);
INTERPOSED(io_destroy);
INTERPOSED(io_submit);
INTERPOSED(io_cancel);
INTERPOSED(io_getevents);
INTERPOSED(io_pgetevents);
INTERPOSED(io_queue_init);
INTERPOSED(io_queue_release);
INTERPOSED(io_queue_run);
INTERPOSED(io_queue_wait);
