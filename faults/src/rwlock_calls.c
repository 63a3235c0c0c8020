/* SPDX-License-Identifier: MIT */
/*
 * rwlock_calls.c - read-write locks: who cannot have one waits in virtual time, and every unlock
 * wakes all, who then try again.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "interpose.h"
#include "simqueue.h"
#include "simthread.h"
#include "simtime.h"

REAL(pthread_rwlock_rdlock)
REAL(pthread_rwlock_tryrdlock)
REAL(pthread_rwlock_timedrdlock)
REAL(pthread_rwlock_wrlock)
REAL(pthread_rwlock_trywrlock)
REAL(pthread_rwlock_timedwrlock)
REAL(pthread_rwlock_unlock)

typedef int try_function(pthread_rwlock_t *rwlock);

static bool waits_virtually(const pthread_rwlock_t *rwlock)
{
	if (!simthread_waits_virtually())
		return false;
	return !rwlock->__data.__shared || !simthread_shares();
}

static int lock_virtually(pthread_rwlock_t *rwlock, try_function *try_lock, uint64_t deadline_ns)
{
	struct simqueue_place place;
	int result = try_lock(rwlock);

	while (result == EBUSY) {
		simqueue_join(&place, rwlock);
		result = try_lock(rwlock);
		if (result != EBUSY)
			simqueue_leave(&place);
		else if (simqueue_block(&place, deadline_ns) == -ETIMEDOUT)
			return ETIMEDOUT;
	}
	return result;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
	if (!waits_virtually(rwlock))
		return real_pthread_rwlock_rdlock()(rwlock);
	return lock_virtually(rwlock, real_pthread_rwlock_tryrdlock(), UINT64_MAX);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
	if (!waits_virtually(rwlock))
		return real_pthread_rwlock_wrlock()(rwlock);
	return lock_virtually(rwlock, real_pthread_rwlock_trywrlock(), UINT64_MAX);
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict rwlock,
				      const struct timespec *restrict until)
{
	struct timespec real;

	if (!waits_virtually(rwlock) || !simtime_is_valid(until))
		return real_pthread_rwlock_timedrdlock()(rwlock, simtime_for_real(until, &real));
	return lock_virtually(rwlock, real_pthread_rwlock_tryrdlock(), simtime_deadline(until));
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict rwlock,
				      const struct timespec *restrict until)
{
	struct timespec real;

	if (!waits_virtually(rwlock) || !simtime_is_valid(until))
		return real_pthread_rwlock_timedwrlock()(rwlock, simtime_for_real(until, &real));
	return lock_virtually(rwlock, real_pthread_rwlock_trywrlock(), simtime_deadline(until));
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *rwlock)
{
	int result = real_pthread_rwlock_unlock()(rwlock);

	if (runtime_sim())
		simqueue_wake_all(rwlock);
	return result;
}

INTERPOSED(pthread_rwlock_rdlock);
INTERPOSED(pthread_rwlock_wrlock);
INTERPOSED(pthread_rwlock_timedrdlock);
INTERPOSED(pthread_rwlock_timedwrlock);
INTERPOSED(pthread_rwlock_unlock);
