/* SPDX-License-Identifier: MIT */
/*
 * time_calls.c - clocks and sleeps: virtual in sim, libc's otherwise.
 */
#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "interpose.h"
#include "simthread.h"
#include "simtime.h"

REAL(clock_gettime)
REAL(gettimeofday)
REAL(time)
REAL(nanosleep)
REAL(clock_nanosleep)
REAL(usleep)
REAL(sleep)

/* 0, or -EINTR with the rest in @ret_left. */
static int sleep_until(uint64_t deadline_ns, uint64_t *ret_left)
{
	struct simclock_waiter waiter = {0};
	int result = simclock_block(&waiter, deadline_ns);
	uint64_t now = simclock_now_ns();

	if (result != -EINTR)
		return 0;
	*ret_left = deadline_ns > now ? deadline_ns - now : 0;
	return -EINTR;
}

static int sleep_for(const struct timespec *time, struct timespec *ret_left)
{
	uint64_t left;

	if (!simtime_is_valid(time) || time->tv_sec < 0)
		return -EINVAL;
	if (sleep_until(simtime_after(simtime_ns(time)), &left) == 0)
		return 0;
	if (ret_left)
		*ret_left = simtime_timespec(left);
	return -EINTR;
}

static int finish(int result)
{
	if (result == 0)
		return 0;
	errno = -result;
	return -1;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	if (!runtime_sim() || !simtime_is_virtual(clock))
		return real_clock_gettime()(clock, ret_time);
	*ret_time = simtime_timespec(simtime_now(clock));
	return 0;
}

EXPORT int gettimeofday(struct timeval *restrict ret_time, void *restrict zone)
{
	uint64_t now;

	if (!runtime_sim() || zone)
		return real_gettimeofday()(ret_time, zone);
	now = simtime_now(CLOCK_REALTIME);
	ret_time->tv_sec = (time_t)(now / SIMTIME_SECOND_NS);
	ret_time->tv_usec = (suseconds_t)(now % SIMTIME_SECOND_NS / 1000);
	return 0;
}

EXPORT time_t time(time_t *ret_time)
{
	time_t now;

	if (!runtime_sim())
		return real_time()(ret_time);
	now = (time_t)(simtime_now(CLOCK_REALTIME) / SIMTIME_SECOND_NS);
	if (ret_time)
		*ret_time = now;
	return now;
}

EXPORT int nanosleep(const struct timespec *time, struct timespec *ret_left)
{
	if (!simthread_waits_virtually())
		return real_nanosleep()(time, ret_left);
	return finish(sleep_for(time, ret_left));
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *ret_left)
{
	struct timespec real;
	uint64_t left;

	if (!simthread_waits_virtually() || !simtime_is_virtual(clock)) {
		if (flags & TIMER_ABSTIME && simtime_is_virtual(clock))
			time = simtime_for_real(time, &real);
		return real_clock_nanosleep()(clock, flags, time, ret_left);
	}
	if (!(flags & TIMER_ABSTIME))
		return -sleep_for(time, ret_left);
	if (!simtime_is_valid(time))
		return EINVAL;
	return -sleep_until(simtime_deadline(time), &left);
}

EXPORT int usleep(useconds_t microseconds)
{
	struct timespec time = simtime_timespec((uint64_t)microseconds * 1000);

	if (!simthread_waits_virtually())
		return real_usleep()(microseconds);
	return finish(sleep_for(&time, NULL));
}

EXPORT unsigned sleep(unsigned seconds)
{
	struct timespec time = {.tv_sec = (time_t)seconds}, left = {0};

	if (!simthread_waits_virtually())
		return real_sleep()(seconds);
	return sleep_for(&time, &left) ? (unsigned)left.tv_sec + (left.tv_nsec > 0) : 0;
}

INTERPOSED(clock_gettime);
INTERPOSED(gettimeofday);
INTERPOSED(time);
INTERPOSED(nanosleep);
INTERPOSED(clock_nanosleep);
INTERPOSED(usleep);
INTERPOSED(sleep);
