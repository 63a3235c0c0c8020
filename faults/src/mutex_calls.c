/* SPDX-License-Identifier: MIT */
/*
 * mutex_calls.c - mutexes: who finds one taken waits in virtual time, because its owner may sleep
 * there. The mutex itself stays libc's; only the waiting is ours.
 */
#include "mutex_calls.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "interpose.h"
#include "rawcall.h"
#include "simqueue.h"
#include "simthread.h"
#include "simtime.h"

#if !__GLIBC_PREREQ(2, 30)
int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);
#endif

REAL(pthread_mutex_lock)
REAL(pthread_mutex_trylock)
REAL(pthread_mutex_timedlock)
REAL(pthread_mutex_clocklock)
REAL(pthread_mutex_unlock)

/* glibc's bits in the kind of a mutex (nptl/pthreadP.h). */
#define KIND_TYPE 3
#define KIND_SHARED 128

static bool is_shared(const pthread_mutex_t *mutex)
{
	return (mutex->__data.__kind & KIND_SHARED) && simthread_shares();
}

/* A mutex that checks for errors answers its owner at once. */
static bool answers_owner(const pthread_mutex_t *mutex)
{
	return (mutex->__data.__kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK &&
	       mutex->__data.__owner == (int)raw_call(SYS_gettid);
}

static int wait_and_lock(pthread_mutex_t *mutex, uint64_t deadline_ns)
{
	struct simqueue_place place;
	int result;

	for (;;) {
		simqueue_join(&place, mutex);
		result = real_pthread_mutex_trylock()(mutex);
		if (result != EBUSY) {
			simqueue_leave(&place);
			return result;
		}
		if (simqueue_block(&place, deadline_ns) == -ETIMEDOUT)
			return ETIMEDOUT;
	}
}

int mutex_lock_virtually(pthread_mutex_t *mutex, uint64_t deadline_ns)
{
	int result;

	if (is_shared(mutex))
		return real_pthread_mutex_lock()(mutex);
	result = real_pthread_mutex_trylock()(mutex);
	if (result != EBUSY)
		return result;
	return answers_owner(mutex) ? EDEADLK : wait_and_lock(mutex, deadline_ns);
}

int mutex_unlock_virtually(pthread_mutex_t *mutex)
{
	int result = real_pthread_mutex_unlock()(mutex);

	simqueue_wake_first(mutex); /* only its address: it may be gone */
	return result;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!simthread_waits_virtually())
		return real_pthread_mutex_lock()(mutex);
	return mutex_lock_virtually(mutex, UINT64_MAX);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
				   const struct timespec *restrict until)
{
	struct timespec real;

	if (!simthread_waits_virtually() || is_shared(mutex) || !simtime_is_valid(until))
		return real_pthread_mutex_timedlock()(mutex, simtime_for_real(until, &real));
	return mutex_lock_virtually(mutex, simtime_deadline(until));
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
				   const struct timespec *restrict until)
{
	struct timespec real;

	if (!simthread_waits_virtually() || is_shared(mutex) || !simtime_is_valid(until))
		return real_pthread_mutex_clocklock()(mutex, clock, simtime_for_real(until, &real));
	return mutex_lock_virtually(mutex, simtime_deadline(until));
}

/* Also by threads that are not counted: somebody who is may wait. */
EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!runtime_sim())
		return real_pthread_mutex_unlock()(mutex);
	return mutex_unlock_virtually(mutex);
}

INTERPOSED(pthread_mutex_lock);
INTERPOSED(pthread_mutex_timedlock);
INTERPOSED(pthread_mutex_clocklock);
INTERPOSED(pthread_mutex_unlock);
