/* SPDX-License-Identifier: MIT */
/*
 * simtime.h - the clocks of the program in terms of virtual time. The calendar starts at a fixed
 * date: a case must not depend on the day it runs.
 *
 * Threads: any.
 */
#ifndef SWAPFAULT_SIMTIME_H
#define SWAPFAULT_SIMTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "rawcall.h"
#include "runtime.h"
#include "simclock.h"

#define SIMTIME_SECOND_NS 1000000000u
#define SIMTIME_CALENDAR_NS 1700000000000000000u /* November 2023: what CLOCK_REALTIME is ahead */

static inline bool simtime_is_calendar(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

/* Clocks of processes and threads count work done, not time: they stay the kernel's. */
static inline bool simtime_is_virtual(clockid_t clock)
{
	return simtime_is_calendar(clock) || clock == CLOCK_MONOTONIC ||
	       clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
	       clock == CLOCK_BOOTTIME;
}

static inline uint64_t simtime_now(clockid_t clock)
{
	return simclock_read_ns() + (simtime_is_calendar(clock) ? SIMTIME_CALENDAR_NS : 0);
}

static inline uint64_t simtime_ns(const struct timespec *time)
{
	if (time->tv_sec < 0)
		return 0;
	if ((uint64_t)time->tv_sec > INT64_MAX / SIMTIME_SECOND_NS - 1)
		return INT64_MAX;
	return (uint64_t)time->tv_sec * SIMTIME_SECOND_NS + (uint64_t)time->tv_nsec;
}

static inline struct timespec simtime_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / SIMTIME_SECOND_NS),
				 .tv_nsec = (long)(ns % SIMTIME_SECOND_NS)};
}

static inline bool simtime_is_valid(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < (long)SIMTIME_SECOND_NS;
}

/* A point in time on the program's clock. Whether a condition variable counts by the calendar or
 * since boot cannot be read from it, but the two are decades apart. */
static inline uint64_t simtime_deadline(const struct timespec *time)
{
	uint64_t ns = simtime_ns(time);

	return ns >= SIMTIME_CALENDAR_NS / 2
		       ? (ns > SIMTIME_CALENDAR_NS ? ns - SIMTIME_CALENDAR_NS : 0)
		       : ns;
}

/*
 * The same point in time for a wait that happens in real time after all, on the clock that it was
 * given on: @until itself, or @storage.
 */
static inline const struct timespec *simtime_for_real(const struct timespec *until,
						      struct timespec *storage)
{
	uint64_t deadline, now;
	struct timespec real;
	bool calendar;

	if (!runtime_sim() || !until || !simtime_is_valid(until))
		return until;
	calendar = simtime_ns(until) >= SIMTIME_CALENDAR_NS / 2;
	deadline = simtime_deadline(until);
	now = simclock_now_ns();
	raw_call(SYS_clock_gettime, calendar ? CLOCK_REALTIME : CLOCK_MONOTONIC, &real);
	*storage = simtime_timespec(simtime_ns(&real) + (deadline > now ? deadline - now : 0));
	return storage;
}

static inline uint64_t simtime_after(uint64_t ns)
{
	uint64_t now = simclock_now_ns();

	return ns >= UINT64_MAX - now ? UINT64_MAX - 1 : now + ns;
}

#endif /* SWAPFAULT_SIMTIME_H */
