/* SPDX-License-Identifier: MIT */
/*
 * schedule_glob.c - path=GLOB: * and ? stand for slashes, too; [a-z] and [!a-z] for one letter.
 * fnmatch() allocates and looks at the locale, which a signal handler must not.
 */
#include <stddef.h>

#include "schedule_draft.h"

/* The set at @at (behind its bracket) holds @c. The end of the set, or NULL when there is none:
 * then the bracket is a letter like others. */
static const char *match_set(const char *at, char c, bool *ret_holds)
{
	bool negated = *at == '!', holds = false;
	const char *first;

	at += negated;
	for (first = at; *at && (*at != ']' || at == first); at++) {
		char low = *at, high = *at;

		if (at[1] == '-' && at[2] && at[2] != ']') {
			high = at[2];
			at += 2;
		}
		holds |= (unsigned char)low <= (unsigned char)c &&
			 (unsigned char)c <= (unsigned char)high;
	}
	*ret_holds = holds != negated;
	return *at ? at + 1 : NULL;
}

/* One letter of the pattern against @c: what of the pattern is left, or NULL. */
static const char *match_one(const char *glob, char c)
{
	const char *after;
	bool holds;

	if (*glob == '?')
		return glob + 1;
	if (*glob == '[') {
		after = match_set(glob + 1, c, &holds);
		if (after)
			return holds ? after : NULL;
	}
	return *glob == c ? glob + 1 : NULL;
}

bool glob_matches(const char *glob, const char *text)
{
	const char *star = NULL, *star_text = NULL;

	while (*text) {
		const char *next = *glob == '*' ? NULL : match_one(glob, *text);

		if (*glob == '*') {
			star = ++glob; /* stands for nothing at first */
			star_text = text;
		} else if (next) {
			glob = next;
			text++;
		} else if (star) {
			glob = star; /* let it stand for one letter more */
			text = ++star_text;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return *glob == '\0';
}
