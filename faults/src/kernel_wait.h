/* SPDX-License-Identifier: MIT */
/*
 * kernel_wait.h - the real wait of the kernel back end, and a watch that sends a signal to a thread
 * once it is seen in there.
 *
 * Threads: any; each wait and watch belongs to one thread.
 */
#ifndef SWAPFAULT_KERNEL_WAIT_H
#define SWAPFAULT_KERNEL_WAIT_H

#include <pthread.h>

#include "stage_internal.h"

struct kernel_wait {
	aio_context_t context;
	enum fault_call_name call; /* which of the two is made, where there is a choice */
	long min, nr;
	struct io_event *events; /* [nr] */
	uint64_t timeout_ns;	 /* STAGE_FOREVER: none */
	uint64_t mask;		 /* in the call */
};

/* Wait with the signals of @mask blocked; all are blocked before and after. What the call answers.
 */
long kernel_wait(const struct kernel_wait *wait);
/* False: an old kernel, or a filter that does not know the call. */
bool kernel_has_pgetevents(void);
/* Looks at the kernel's ring, without a system call. */
bool kernel_has_events(const struct stage_ctx *ctx);

struct kernel_watch {
	pthread_t thread;
	int pid, tid, signal;
	_Atomic uint32_t state;
};

/* Send @signal to the calling thread once it is in a wait. 0, -errno: no watch could be set. */
int kernel_watch_begin(struct kernel_watch *watch, int signal);
bool kernel_watch_done(struct kernel_watch *watch);
/* 0, or -ETIME: it was never seen there. */
int kernel_watch_end(struct kernel_watch *watch);

#endif /* SWAPFAULT_KERNEL_WAIT_H */
