/* SPDX-License-Identifier: MIT */
/*
 * oracle_leaks.c - what the process held before the first open it holds after the last close, no
 * more.
 */
#include <inttypes.h>
#include <string.h>

#include "oracle.h"

/* What C library, loader and preload (names of files) keep for themselves once they were used. */
#define SLACK_HEAP_BYTES (16 * 1024)
#define SLACK_MAPPED_BYTES (64 * 1024)

static int64_t slack_of(const char *name)
{
	if (strcmp(name, "heap") == 0)
		return SLACK_HEAP_BYTES;
	return strcmp(name, "mapped") == 0 ? SLACK_MAPPED_BYTES : 0;
}

static bool is_memory(const char *name)
{
	return strcmp(name, "heap") == 0 || strcmp(name, "mapped") == 0;
}

void oracle_leaks(const struct observation *seen, struct case_result *result)
{
	const struct outcome_counts *before = &seen->outcome->before;
	const struct outcome_counts *after = &seen->outcome->after;

	if (!before->known || !after->known)
		return; /* it did not get that far: another oracle says why */
	for (unsigned i = 0; i < OUTCOME_COUNTS; i++) {
		const char *name = outcome_count_names[i];
		int64_t more = after->values[i] - before->values[i];

		if (more <= slack_of(name) || (seen->emulated && is_memory(name)))
			continue;
		result_add(result, "leaks", CLASS_LEAK,
			   "%s: %" PRId64 " before the first open, %" PRId64
			   " after the last close: %" PRId64 " leaked",
			   name, before->values[i], after->values[i], more);
	}
}
