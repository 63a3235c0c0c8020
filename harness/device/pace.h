/* SPDX-License-Identifier: MIT */
/*
 * pace.h - one lane that requests pass one after the other, so many a second: who comes early waits
 * for those before him, and there is no burst to use up.
 *
 * Threads: caller storage.
 */
#ifndef PACE_H
#define PACE_H

#include <stdint.h>

struct pace {
	uint64_t free_ns; /* when the lane is free again */
};

/* @amount of what @rate a second pass, begun at @now_ns: when it is through. */
static inline uint64_t pace_take(struct pace *pace, uint64_t now_ns, uint64_t amount, uint64_t rate)
{
	uint64_t begin = pace->free_ns > now_ns ? pace->free_ns : now_ns;

	pace->free_ns = begin + amount * 1000000000u / rate;
	return pace->free_ns;
}

#endif /* PACE_H */
