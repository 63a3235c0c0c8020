/* SPDX-License-Identifier: MIT */
/*
 * simclock.h - virtual time of the sim back end, and who is blocked.
 *
 * Time advances only when every thread of the process is blocked, to the earliest timed wait. When
 * all are blocked and none is timed, that is a hang: it is logged (EVENTLOG_HANG) and the process
 * ends at once with SIMCLOCK_EXIT_HANG. The same when virtual time passes the deadline of the case.
 *
 * Threads: every thread is registered (main at begin, others at pthread_create).
 */
#ifndef SWAPFAULT_SIMCLOCK_H
#define SWAPFAULT_SIMCLOCK_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SIMCLOCK_EXIT_HANG 124

/* Start the clock with the calling thread alone in it; past @deadline_ns the case is hung. */
void simclock_begin(uint64_t deadline_ns);
/* Is the calling thread alone in it? */
bool simclock_is_alone(void);
void simclock_end(void);
void simclock_after_fork_child(void);

/* Virtual nanoseconds, also CLOCK_MONOTONIC of the program. Signal safe. */
uint64_t simclock_now_ns(void);
/* The same, read by the program: one that does nothing else for long makes time go on. */
uint64_t simclock_read_ns(void);

/* A place to block at; caller storage, zeroed. */
struct simclock_waiter {
	uint32_t wake;	      /* futex: 0 blocked, 1 woken, 2 timed out */
	uint64_t deadline_ns; /* virtual; UINT64_MAX: none */
	struct simclock_waiter *next;
	struct pollfd *fds; /* descriptors that wake it, too, once something is ready there */
	uint64_t fds_count;
	pthread_t thread;
};

/* Block the calling thread until simclock_wake() or virtual @deadline_ns. 0 woken, -ETIMEDOUT,
 * -EINTR when a handler ran. */
int simclock_block(struct simclock_waiter *waiter, uint64_t deadline_ns);
/* The same for a caller that blocks every signal: @mask is the one to wait with. */
int simclock_block_open(struct simclock_waiter *waiter, uint64_t deadline_ns, uint64_t mask);
/* Make @waiter runnable: it counts as running from this very call on. */
void simclock_wake(struct simclock_waiter *waiter);

/* Is the thread at a wait, as far as the clock knows? */
bool simclock_is_blocked(pthread_t thread);
bool simclock_has_children(void);

/*
 * A thread counts from its creation on (its creator calls started) until it ended. One that blocks
 * in the kernel for something outside of virtual time (a read of a pipe) counts as running: time
 * stands still until it comes back.
 */
void simclock_thread_started(void);
void simclock_thread_ended(void);

#endif /* SWAPFAULT_SIMCLOCK_H */
