/* SPDX-License-Identifier: MIT */
/*
 * kill_calls.c - signals from thread to thread. In sim the sender goes on when the other's wait has
 * ended by it: else time might pass between the two, now and then.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "interpose.h"
#include "rawcall.h"
#include "simclock.h"
#include "simthread.h"

/* Real time. It passes in full only where the other has the signal blocked. */
#define LOOK_NS 100000
#define LOOKS 500

REAL(pthread_kill)

static bool has_handler(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
	       action.sa_handler != SIG_DFL;
}

EXPORT int pthread_kill(pthread_t id, int number)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	int kept_errno = errno;
	bool waits = simthread_waits_virtually() && number > 0 &&
		     !pthread_equal(id, pthread_self()) && has_handler(number) &&
		     simclock_is_blocked(id);
	int error = real_pthread_kill()(id, number);

	for (unsigned i = 0; waits && !error && i < LOOKS && simclock_is_blocked(id); i++)
		raw_call(SYS_nanosleep, &pause, NULL);
	errno = kept_errno;
	return error;
}

INTERPOSED(pthread_kill);
