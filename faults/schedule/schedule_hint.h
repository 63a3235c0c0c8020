/* SPDX-License-Identifier: MIT */
/*
 * schedule_hint.h - the second half of a good error: what is allowed, and what was probably meant.
 *
 * Threads: caller storage.
 */
#ifndef SCHEDULE_HINT_H
#define SCHEDULE_HINT_H

#include <stddef.h>

#include "schedule_scan.h"

/* A list of names under construction, and the one nearest to the word that was written. */
struct hint {
	struct word word;
	char list[256];
	size_t length;
	bool cut; /* the list was full */
	char nearest[32];
	unsigned distance;
};

void hint_begin(struct hint *hint, struct word word);
void hint_add(struct hint *hint, const char *name);
/* Each of @names, which are separated by blanks. */
void hint_add_all(struct hint *hint, const char *names);
/* " (did you mean X? allowed: A, B, C)" */
const char *hint_text(struct hint *hint, char *text, size_t text_bytes);

#endif /* SCHEDULE_HINT_H */
