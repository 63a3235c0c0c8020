/* SPDX-License-Identifier: MIT */
/*
 * guest_wait.c - poll with a deadline that signals do not stretch.
 */
#include <errno.h>
#include <time.h>

#include "guest_wait.h"

#define NS_PER_S 1000000000u

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

uint64_t guest_deadline(unsigned milliseconds)
{
	return now() + (uint64_t)milliseconds * 1000000;
}

int guest_wait(struct pollfd *polled, unsigned count, uint64_t deadline,
	       const struct guest_interrupt *interrupt)
{
	for (;;) {
		uint64_t at = now(), left = at < deadline ? deadline - at : 0;
		struct timespec timeout = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};
		int ready = ppoll(polled, count, &timeout, interrupt->mask);

		if (ready > 0)
			return 0;
		if (ready == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
		if (interrupt->came && interrupt->came())
			return -EINTR;
	}
}
