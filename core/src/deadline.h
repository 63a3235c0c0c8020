/* SPDX-License-Identifier: MIT */
/*
 * deadline.h - points in monotonic time, in nanoseconds; INT64_MAX never comes.
 */
#ifndef SWAPIOI_DEADLINE_H
#define SWAPIOI_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

static inline int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* Saturates, so that a timeout near INT64_MAX is for ever; negative timeouts count as 0. */
static inline int64_t deadline_after(int64_t timeout_ns)
{
	int64_t now = now_ns();

	if (timeout_ns < 0)
		timeout_ns = 0;
	return timeout_ns >= INT64_MAX - now ? INT64_MAX : now + timeout_ns;
}

/* Of a call's timeout; 0 stays 0: look only. */
static inline int64_t deadline_of(int64_t timeout_ns)
{
	return timeout_ns > 0 ? deadline_after(timeout_ns) : 0;
}

/* 0 has always passed: a look is all that was asked for. */
static inline bool deadline_passed(int64_t deadline_ns)
{
	return deadline_ns != INT64_MAX && (!deadline_ns || now_ns() >= deadline_ns);
}

/* The reverse of deadline_after(): 0 stays 0 (look only), INT64_MAX stays for ever. */
static inline int64_t left_until(int64_t deadline_ns)
{
	int64_t now;

	if (deadline_ns == INT64_MAX || !deadline_ns)
		return deadline_ns;
	now = now_ns();
	return deadline_ns > now ? deadline_ns - now : 0;
}

static inline struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SECOND),
				 .tv_nsec = (long)(ns % NS_PER_SECOND)};
}

#endif /* SWAPIOI_DEADLINE_H */
