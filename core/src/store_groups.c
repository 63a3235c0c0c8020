/* SPDX-License-Identifier: MIT */
/*
 * store_groups.c - looks at the head of each volume to find out what groups there are.
 */
#include "store_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "volume_layout.h"

int swapioi_groups_volumes(struct swapio_store *store, struct medium_entry **ret_entries,
			   size_t *ret_count)
{
	const struct medium_index *index = &store->medium.index;
	struct medium_entry *entries;
	size_t count = 0;

	pthread_mutex_lock(&store->lock);
	entries = calloc(index->count + 1, sizeof(*entries));
	for (size_t i = 0; entries && i < index->count; i++)
		if (index->entries[i].published)
			entries[count++] = index->entries[i];
	pthread_mutex_unlock(&store->lock);
	if (!entries)
		return -ENOMEM;
	*ret_entries = entries;
	*ret_count = count;
	return 0;
}

static int compare_items(const void *a, const void *b)
{
	const struct group_item *left = a, *right = b;

	return strcmp(left->name, right->name);
}

/* Volumes of one group follow each other in the index, but for those whose names have one sum. */
static struct group_item *find_item(struct group_items *items, const char *name)
{
	for (size_t i = items->count; i-- > 0;)
		if (items->items[i].known && strcmp(items->items[i].name, name) == 0)
			return &items->items[i];
	return NULL;
}

static int add_item(struct group_items *items, const char *name, bool known,
		    const struct swapio_error *why)
{
	struct group_item *item = &items->items[items->count];

	*item = (struct group_item){.name = strdup(name), .known = known, .why = *why};
	if (!item->name)
		return -ENOMEM;
	items->count++;
	return 0;
}

static int note_volume(struct swapio_store *store, const struct medium_entry *entry,
		       struct group_items *items)
{
	char group[SWAPIO_NAME_BYTES_MAX + 1], name[VOLUME_NAME_BYTES];
	struct swapio_error why = {.code = 0};
	int ret = swapioi_volume_group(store, entry, group, &why);

	if (ret == -ENOENT || ret == -ENOMEM)
		return ret == -ENOMEM ? ret : 0; /* removed meanwhile */
	if (ret == 0 || ret == -EXDEV)
		return find_item(items, group) ? 0 : add_item(items, group, true, &why);
	swapioi_volume_name(entry, name);
	return add_item(items, name, false, &why);
}

int swapioi_groups_collect(struct swapio_store *store, struct group_items *ret_items,
			   struct swapio_error *error)
{
	struct group_items items = {.count = 0};
	struct medium_entry *entries = NULL;
	size_t count = 0;
	int ret = swapioi_groups_volumes(store, &entries, &count);

	if (ret == 0) {
		items.items = calloc(count + 1, sizeof(*items.items));
		ret = items.items ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < count && ret == 0; i++)
		ret = note_volume(store, &entries[i], &items);
	free(entries);
	if (ret < 0) {
		swapioi_groups_fini(&items);
		return swapioi_error(error, ret, "%s: no memory to list %zu volumes", store->path,
				     count);
	}
	qsort(items.items, items.count, sizeof(*items.items), compare_items);
	*ret_items = items;
	return 0;
}

void swapioi_groups_fini(struct group_items *items)
{
	for (size_t i = 0; i < items->count; i++)
		free(items->items[i].name);
	free(items->items);
	*items = (struct group_items){.count = 0};
}
