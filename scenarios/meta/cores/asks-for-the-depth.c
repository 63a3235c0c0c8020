/* SPDX-License-Identifier: MIT */
/*
 * asks-for-the-depth.c - every wait asks for as many events as the queue is deep, however few are
 * in flight. Its time-out saves it from waiting for ever.
 */
#include <libaio.h>

#include "real.h"

REAL(io_setup)
REAL(io_getevents)

static int depth;

EXPORT int io_setup(int maxevents, io_context_t *ctxp)
{
	depth = maxevents;
	return real_io_setup(maxevents, ctxp);
}

/* The events have room for the depth. */
EXPORT int io_getevents(io_context_t ctx, long min_nr, long nr, struct io_event *events,
			struct timespec *timeout)
{
	if (!min_nr)
		return real_io_getevents(ctx, min_nr, nr, events, timeout);
	return real_io_getevents(ctx, depth, depth, events, timeout);
}
