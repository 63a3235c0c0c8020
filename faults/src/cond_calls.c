/* SPDX-License-Identifier: MIT */
/*
 * cond_calls.c - condition variables: waiters stand in a queue of ours, in virtual time. A handler
 * that runs ends a wait early, which is a spurious wake-up: programs must be ready for those.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "interpose.h"
#include "mutex_calls.h"
#include "simqueue.h"
#include "simthread.h"
#include "simtime.h"

#if !__GLIBC_PREREQ(2, 30)
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
			   const struct timespec *until);
#endif

REAL(pthread_cond_wait)
REAL(pthread_cond_timedwait)
REAL(pthread_cond_clockwait)
REAL(pthread_cond_signal)
REAL(pthread_cond_broadcast)

/* glibc's bit in __wrefs (nptl/pthread_cond_common.c). */
#define WREFS_SHARED 1u

static bool waits_virtually(const pthread_cond_t *condition)
{
	if (!simthread_waits_virtually())
		return false;
	return !(condition->__data.__wrefs & WREFS_SHARED) || !simthread_shares();
}

static int wait_virtually(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline_ns)
{
	struct simqueue_place place;
	int result, error;

	pthread_testcancel();
	simqueue_join(&place, condition);
	error = mutex_unlock_virtually(mutex);
	if (error) {
		if (!simqueue_leave(&place))
			simqueue_wake_first(condition); /* the wake was for somebody else */
		return error;
	}
	result = simqueue_block(&place, deadline_ns);
	error = mutex_lock_virtually(mutex, UINT64_MAX);
	pthread_testcancel();
	if (error)
		return error;
	return result == -ETIMEDOUT ? ETIMEDOUT : 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
	if (!waits_virtually(condition))
		return real_pthread_cond_wait()(condition, mutex);
	return wait_virtually(condition, mutex, UINT64_MAX);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition,
				  pthread_mutex_t *restrict mutex,
				  const struct timespec *restrict until)
{
	struct timespec real;

	if (!waits_virtually(condition) || !simtime_is_valid(until))
		return real_pthread_cond_timedwait()(condition, mutex,
						     simtime_for_real(until, &real));
	return wait_virtually(condition, mutex, simtime_deadline(until));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition,
				  pthread_mutex_t *restrict mutex, clockid_t clock,
				  const struct timespec *restrict until)
{
	struct timespec real;

	if (!waits_virtually(condition) || !simtime_is_valid(until))
		return real_pthread_cond_clockwait()(condition, mutex, clock,
						     simtime_for_real(until, &real));
	return wait_virtually(condition, mutex, simtime_deadline(until));
}

/* libc's own waiters are threads that are not counted, and other processes. */
EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
	if (runtime_sim())
		simqueue_wake_first(condition);
	return real_pthread_cond_signal()(condition);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
	if (runtime_sim())
		simqueue_wake_all(condition);
	return real_pthread_cond_broadcast()(condition);
}

INTERPOSED(pthread_cond_wait);
INTERPOSED(pthread_cond_timedwait);
INTERPOSED(pthread_cond_clockwait);
INTERPOSED(pthread_cond_signal);
INTERPOSED(pthread_cond_broadcast);
