/* SPDX-License-Identifier: MIT */
/*
 * durable_draw.c - which of the effects that are not durable the crash takes back: any subset,
 * drawn from the seed of the fault. Effects on one name come one after another: when one is
 * dropped, so are those after it. Contents need no such rule: each is undone to what was there
 * before it, and what was earlier wins.
 */
#include <string.h>

#include "durable_internal.h"

#define MIX 0x9e3779b97f4a7c15u
#define EIGHTHS 8u

static uint64_t draw(uint64_t *state)
{
	uint64_t x = *state += MIX;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* In eighths; all and nothing are as likely as anything between, or they would hardly ever be. */
static unsigned draw_chance(uint64_t *state)
{
	static const unsigned chances[] = {0, 1, 4, 7, EIGHTHS};

	return chances[draw(state) % (sizeof(chances) / sizeof(chances[0]))];
}

static bool same_name(const struct durable_names *a, unsigned i, const struct durable_names *b,
		      unsigned j)
{
	return a->directory[i].device == b->directory[j].device &&
	       a->directory[i].inode == b->directory[j].inode &&
	       strcmp(strrchr(a->text + a->at[i], '/'), strrchr(b->text + b->at[j], '/')) == 0;
}

static bool touches(struct durable_record *record, struct durable_record *other)
{
	const struct durable_names *a = durable_names_of(record), *b = durable_names_of(other);

	for (unsigned i = 0; i < a->count; i++)
		for (unsigned j = 0; j < b->count; j++)
			if (same_name(a, i, b, j))
				return true;
	return false;
}

static bool follows_dropped(struct durable_record *record)
{
	for (struct durable_record *other = durable_first(); other != record;
	     other = durable_next(other))
		if (durable_is_name(other) && other->dropped && touches(record, other))
			return true;
	return false;
}

struct durable_count durable_draw(uint64_t seed)
{
	uint64_t state = seed * MIX;
	unsigned names = draw_chance(&state), data = draw_chance(&state);
	struct durable_count count = {0, 0};

	for (struct durable_record *record = durable_first(); record;
	     record = durable_next(record)) {
		bool name = durable_is_name(record);

		record->dropped = draw(&state) % EIGHTHS < (name ? names : data);
		if (name && !record->dropped)
			record->dropped = follows_dropped(record);
		count.live++;
		count.dropped += record->dropped;
	}
	return count;
}
