/* SPDX-License-Identifier: MIT */
/*
 * sigmask.h - the signal mask of a thread while the preload works: everything is blocked, so that
 * no handler of the program finds it half-way. Who blocks what is blocked already makes no system
 * call.
 *
 * Threads: each has its own; safe in signal handlers.
 */
#ifndef SWAPFAULT_SIGMASK_H
#define SWAPFAULT_SIGMASK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "rawcall.h"

#define SIGMASK_ALL UINT64_MAX
#define SIGMASK_BYTES 8

/*
 * We blocked everything and have not opened anything since: then no handler runs. Cleared before a
 * mask is opened and set after it is closed, because a handler that runs in between asks, too.
 */
extern __thread __attribute__((tls_model("initial-exec"))) volatile bool sigmask_is_all;

/* Set the mask; what it was before. */
static inline uint64_t sigmask_set(uint64_t mask)
{
	uint64_t before = SIGMASK_ALL;

	if (mask == SIGMASK_ALL && sigmask_is_all)
		return before;
	sigmask_is_all = false;
	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, SIGMASK_BYTES);
	sigmask_is_all = mask == SIGMASK_ALL;
	return before;
}

/* Is there a signal that @mask would let in? */
static inline bool sigmask_has_pending(uint64_t mask)
{
	uint64_t pending = 0;

	raw_call(SYS_rt_sigpending, &pending, SIGMASK_BYTES);
	return pending & ~mask;
}

/* Around a system call that opens the mask by itself, and closes it again. */
static inline void sigmask_open_begin(void)
{
	sigmask_is_all = false;
}

static inline void sigmask_open_end(void)
{
	sigmask_is_all = true;
}

#endif /* SWAPFAULT_SIGMASK_H */
