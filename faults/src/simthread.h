/* SPDX-License-Identifier: MIT */
/*
 * simthread.h - the threads that virtual time counts: the one that began the case and all that were
 * created through pthread_create() since. Others (helpers of libfiu or of the preload, threads
 * older than the case) wait in real time, and nobody waits for them.
 *
 * Threads: any.
 */
#ifndef SWAPFAULT_SIMTHREAD_H
#define SWAPFAULT_SIMTHREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime.h"

typedef void *thread_function(void *argument);
typedef int create_function(pthread_t *ret_id, const pthread_attr_t *attributes,
			    thread_function *start, void *argument);

/* Must this thread's waits happen in virtual time? */
bool simthread_counted(void);

static inline bool simthread_waits_virtually(void)
{
	return runtime_sim() && !runtime_inside() && simthread_counted();
}

/*
 * Must a wait at something shared between processes happen in real time? Other processes do not
 * know our time; while there are none, it is like any other.
 */
bool simthread_shares(void);

void simthread_begin(void);
/* Only for the thread that began, when it is alone. */
void simthread_end(void);
void simthread_after_fork_child(void);

/* pthread_create() with @create: the thread takes the next number, and in sim is counted. */
int simthread_create(create_function *create, pthread_t *ret_id, const pthread_attr_t *attributes,
		     thread_function *start, void *argument);

/* Wait until the thread has ended: 0 (also for one that is not counted), or ETIMEDOUT. */
int simthread_wait_end(pthread_t id, uint64_t deadline_ns);
bool simthread_has_ended(pthread_t id);
/* Nobody will ask for it any more: it is about to be joined, or detached. */
void simthread_forget(pthread_t id);

#endif /* SWAPFAULT_SIMTHREAD_H */
