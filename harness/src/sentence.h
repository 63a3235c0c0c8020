/* SPDX-License-Identifier: MIT */
/*
 * sentence.h - does a sentence of the library say what a person needs to act on it?
 *
 * Threads: pure functions.
 */
#ifndef SENTENCE_H
#define SENTENCE_H

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Long names may be cut, but not so that they are nobody's. */
#define SENTENCE_NAME_BYTES 60

static inline bool sentence_names(const char *text, const char *name)
{
	char said[SENTENCE_NAME_BYTES + 1];

	snprintf(said, sizeof(said), "%.*s", SENTENCE_NAME_BYTES, name);
	return strstr(text, said);
}

/* As a number of its own: 12 does not say 2. */
static inline bool sentence_says_number(const char *text, uint64_t number)
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);

	for (const char *at = text; (at = strstr(at, digits)); at++)
		if ((at == text || !isdigit((unsigned char)at[-1])) &&
		    !isdigit((unsigned char)at[length]))
			return true;
	return false;
}

#endif /* SENTENCE_H */
