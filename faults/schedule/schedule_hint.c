/* SPDX-License-Identifier: MIT */
/*
 * schedule_hint.c - lists of what is allowed, and the nearest name by edit distance.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "schedule_hint.h"

#define HINT_WORD_BYTES 32 /* longer words resemble nothing */

void hint_begin(struct hint *hint, struct word word)
{
	*hint = (struct hint){.word = word, .distance = UINT32_MAX};
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned d = a < b ? a : b;

	return d < c ? d : c;
}

/* Letters to insert, delete or change; case does not matter. */
static unsigned edit_distance(struct word word, const char *name, size_t name_length)
{
	unsigned row[HINT_WORD_BYTES + 1];

	for (unsigned j = 0; j <= name_length; j++)
		row[j] = j;
	for (unsigned i = 1; i <= word.length; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= name_length; j++) {
			int differs = tolower((unsigned char)word.at[i - 1]) !=
				      tolower((unsigned char)name[j - 1]);
			unsigned above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1, diagonal + (unsigned)differs);
			diagonal = above;
		}
	}
	return row[name_length];
}

static void consider(struct hint *hint, const char *name, size_t length)
{
	unsigned distance;

	if (length >= HINT_WORD_BYTES || hint->word.length >= HINT_WORD_BYTES)
		return;
	distance = edit_distance(hint->word, name, length);
	if (distance >= hint->distance)
		return;
	hint->distance = distance;
	memcpy(hint->nearest, name, length);
	hint->nearest[length] = '\0';
}

static void add(struct hint *hint, const char *name, size_t length)
{
	const char *comma = hint->length ? ", " : "";
	size_t room = sizeof(hint->list) - hint->length;

	consider(hint, name, length);
	if (length + strlen(comma) >= room) {
		hint->cut = true;
		return;
	}
	hint->length += (size_t)snprintf(&hint->list[hint->length], room, "%s%.*s", comma,
					 (int)length, name);
}

void hint_add(struct hint *hint, const char *name)
{
	add(hint, name, strlen(name));
}

void hint_add_all(struct hint *hint, const char *names)
{
	while (*names) {
		size_t length = strcspn(names, " ");

		add(hint, names, length);
		names += length;
		names += strspn(names, " ");
	}
}

/* Near: at most every third letter is wrong. */
static bool is_near(const struct hint *hint)
{
	return hint->distance <= (strlen(hint->nearest) + 2) / 3;
}

const char *hint_text(struct hint *hint, char *text, size_t text_bytes)
{
	if (is_near(hint))
		snprintf(text, text_bytes, " (did you mean %s? allowed: %s%s)", hint->nearest,
			 hint->list, hint->cut ? ", ..." : "");
	else
		snprintf(text, text_bytes, " (allowed: %s%s)", hint->list,
			 hint->cut ? ", ..." : "");
	return text;
}
