/* SPDX-License-Identifier: MIT */
/*
 * nearest.h - "did you mean": the known word that is nearest to a mistyped one.
 *
 * Threads: pure functions.
 */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

struct nearest {
	const char *word; /* what was written */
	const char *best; /* the nearest so far, borrowed; NULL if none is near */
	unsigned distance;
};

void nearest_init(struct nearest *nearest, const char *word);
void nearest_offer(struct nearest *nearest, const char *known);

#endif /* NEAREST_H */
