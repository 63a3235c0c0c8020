/* SPDX-License-Identifier: MIT */
/*
 * sem_calls.c - semaphores: who finds one at zero waits in virtual time. The count stays libc's.
 */
#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "emulated.h"
#include "interpose.h"
#include "simqueue.h"
#include "simthread.h"
#include "simtime.h"

#if !__GLIBC_PREREQ(2, 30)
int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until);
#endif

REAL(sem_wait)
REAL(sem_trywait)
REAL(sem_timedwait)
REAL(sem_clockwait)
REAL(sem_post)

#define SHARED_AT 8 /* in glibc's struct new_sem of 64-bit machines, after count and waiters */

static bool waits_virtually(const sem_t *sem)
{
	int shared;

	if (!simthread_waits_virtually())
		return false;
	memcpy(&shared, (const char *)sem + SHARED_AT, sizeof(shared));
	return shared == 0 || !simthread_shares();
}

/* Helgrind knows sem_wait() and sem_post(), but not that this one takes, too. */
static bool take(sem_t *sem)
{
	if (real_sem_trywait()(sem) < 0)
		return false;
	emulated_take_over(sem);
	return true;
}

static int wait_virtually(sem_t *sem, uint64_t deadline_ns)
{
	struct simqueue_place place;
	int error;

	while (!take(sem)) {
		if (errno != EAGAIN)
			return -1;
		simqueue_join(&place, sem);
		if (take(sem)) {
			simqueue_leave(&place);
			return 0;
		}
		error = -simqueue_block(&place, deadline_ns);
		if (error) {
			errno = error;
			return -1;
		}
	}
	return 0;
}

EXPORT int sem_wait(sem_t *sem)
{
	if (!waits_virtually(sem))
		return real_sem_wait()(sem);
	return wait_virtually(sem, UINT64_MAX);
}

EXPORT int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict until)
{
	struct timespec real;

	if (!waits_virtually(sem) || !simtime_is_valid(until))
		return real_sem_timedwait()(sem, simtime_for_real(until, &real));
	return wait_virtually(sem, simtime_deadline(until));
}

EXPORT int sem_clockwait(sem_t *restrict sem, clockid_t clock,
			 const struct timespec *restrict until)
{
	struct timespec real;

	if (!waits_virtually(sem) || !simtime_is_valid(until))
		return real_sem_clockwait()(sem, clock, simtime_for_real(until, &real));
	return wait_virtually(sem, simtime_deadline(until));
}

/* Signal safe, as libc's is. */
EXPORT int sem_post(sem_t *sem)
{
	int result;

	emulated_hand_over(sem);
	result = real_sem_post()(sem);
	if (runtime_sim())
		simqueue_wake_first(sem);
	return result;
}

INTERPOSED(sem_wait);
INTERPOSED(sem_timedwait);
INTERPOSED(sem_clockwait);
INTERPOSED(sem_post);
