/* SPDX-License-Identifier: MIT */
/*
 * simqueue.h - who waits for what in sim: first-in first-out queues of threads, keyed by the
 * address of the condition variable, semaphore, mutex or thread that they wait for.
 *
 * Threads: any; safe in signal handlers.
 */
#ifndef SWAPFAULT_SIMQUEUE_H
#define SWAPFAULT_SIMQUEUE_H

#include <stdbool.h>

#include "simclock.h"

/* Caller storage, zeroed by simqueue_join(). */
struct simqueue_place {
	struct simclock_waiter waiter;
	const void *key;
	struct simqueue_place *next;
};

/* Stand at the end of the queue of @key; from here on a wake is not lost. */
void simqueue_join(struct simqueue_place *place, const void *key);
/* Block there. 0 woken; -ETIMEDOUT or -EINTR: not woken, and out of the queue. */
int simqueue_block(struct simqueue_place *place, uint64_t deadline_ns);
/* Step out without blocking. False: too late, it was woken, and the wake is the caller's to use. */
bool simqueue_leave(struct simqueue_place *place);

/* Wake the first or all of @key. */
void simqueue_wake_first(const void *key);
void simqueue_wake_all(const void *key);
void simqueue_after_fork_child(void);

#endif /* SWAPFAULT_SIMQUEUE_H */
