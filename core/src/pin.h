/* SPDX-License-Identifier: MIT */
/*
 * pin.h - the process-wide list of pinned ranges.
 */
#ifndef SWAPIOI_PIN_H
#define SWAPIOI_PIN_H

#include <stdbool.h>
#include <stddef.h>

#include "list.h"

/* Embedded in what owns the memory. */
struct pin_range {
	struct list link;
	const char *start;
	size_t length_bytes;
};

void swapioi_pin_add(struct pin_range *range, const void *start, size_t length_bytes);
void swapioi_pin_remove(struct pin_range *range);

/* Every byte lies in one range that is listed now. */
bool swapioi_pin_contains(const void *ptr, size_t length_bytes);

void swapioi_pin_before_fork(void);
void swapioi_pin_after_fork(bool child);

#endif /* SWAPIOI_PIN_H */
