/* SPDX-License-Identifier: MIT */
/*
 * medium_index.c - which volumes there are, in memory and in order; and the names of their files.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

#define INDEX_ROOM_FIRST 64u

static int compare_key(const struct medium_entry *entry, uint64_t group_sum, uint64_t number)
{
	if (entry->group_sum != group_sum)
		return entry->group_sum < group_sum ? -1 : 1;
	if (entry->number != number)
		return entry->number < number ? -1 : 1;
	return 0;
}

/* Position of the first entry that is not before the key. */
static size_t lower_bound(const struct medium_index *index, uint64_t group_sum, uint64_t number)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_key(&index->entries[middle], group_sum, number) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int grow(struct medium_index *index)
{
	size_t room = index->room ? 2 * index->room : INDEX_ROOM_FIRST;
	struct medium_entry *entries;

	if (index->count < index->room)
		return 0;
	entries = realloc(index->entries, room * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	index->entries = entries;
	index->room = room;
	return 0;
}

int swapioi_index_add(struct medium_index *index, const struct medium_entry *entry)
{
	size_t at = lower_bound(index, entry->group_sum, entry->number);

	if (grow(index) < 0)
		return -ENOMEM;
	memmove(&index->entries[at + 1], &index->entries[at],
		(index->count - at) * sizeof(*index->entries));
	index->entries[at] = *entry;
	index->count++;
	return 0;
}

struct medium_entry *swapioi_index_find(struct medium_index *index, uint64_t group_sum,
					uint64_t number)
{
	size_t at = lower_bound(index, group_sum, number);

	if (at == index->count || compare_key(&index->entries[at], group_sum, number) != 0)
		return NULL;
	return &index->entries[at];
}

void swapioi_index_remove(struct medium_index *index, uint64_t group_sum, uint64_t number)
{
	struct medium_entry *entry = swapioi_index_find(index, group_sum, number);

	if (!entry)
		return;
	index->count--;
	memmove(entry, entry + 1, (size_t)(&index->entries[index->count] - entry) * sizeof(*entry));
}

void swapioi_index_publish(struct swapio_store *store, struct medium_entry *entry)
{
	struct medium_entry *noted;

	entry->published = true;
	pthread_mutex_lock(&store->lock);
	noted = swapioi_index_find(&store->medium.index, entry->group_sum, entry->number);
	if (noted)
		noted->published = true;
	pthread_mutex_unlock(&store->lock);
}

size_t swapioi_index_end(const struct medium_index *index, uint64_t group_sum)
{
	size_t at = lower_bound(index, group_sum, UINT64_MAX);

	return at < index->count && index->entries[at].group_sum == group_sum ? at + 1 : at;
}

void swapioi_index_fini(struct medium_index *index)
{
	free(index->entries);
	*index = (struct medium_index){.count = 0};
}

void swapioi_volume_name(const struct medium_entry *entry, char name[VOLUME_NAME_BYTES])
{
	snprintf(name, VOLUME_NAME_BYTES, "%016" PRIx64 "-%" PRIu64 ".vol", entry->group_sum,
		 entry->number);
}

/* Whatever is read leniently must come out as it was written. */
bool swapioi_volume_name_parse(const char *name, struct medium_entry *ret_entry)
{
	struct medium_entry entry = {.published = true};
	char again[VOLUME_NAME_BYTES];

	if (sscanf(name, "%16" SCNx64 "-%20" SCNu64 ".vol", &entry.group_sum, &entry.number) != 2 ||
	    !entry.number)
		return false;
	swapioi_volume_name(&entry, again);
	if (strcmp(name, again) != 0)
		return false;
	*ret_entry = entry;
	return true;
}
