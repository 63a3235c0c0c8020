/* SPDX-License-Identifier: MIT */
/*
 * number.h - numbers as people write them: counts, sizes with K M G T, durations with a unit.
 *
 * Threads: pure functions.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdint.h>

/* All: 0; -EINVAL if @text is no such number; -ERANGE if it does not fit. */
int number_count(const char *text, uint64_t *ret_value);
/* Powers of 1024: "16K" is 16384. */
int number_bytes(const char *text, uint64_t *ret_bytes);
/* "5s", "100ms", "50us", "10ns", "2m", and "0" without a unit. */
int number_duration(const char *text, int64_t *ret_ns);

#endif /* NUMBER_H */
