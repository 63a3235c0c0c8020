/* SPDX-License-Identifier: MIT */
/*
 * store_remove.c - removes a group, damaged ones too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "error.h"
#include "store_groups.h"
#include "volume_layout.h"

/* Does the volume go when @group is removed? */
static bool is_meant(struct swapio_store *store, const struct medium_entry *entry,
		     const char *group)
{
	char found[SWAPIO_NAME_BYTES_MAX + 1], name[VOLUME_NAME_BYTES];
	int ret;

	swapioi_volume_name(entry, name);
	if (strcmp(name, group) == 0)
		return true;
	if (entry->group_sum != swapioi_record_sum(group, strlen(group)))
		return false;
	ret = swapioi_volume_group(store, entry, found, NULL);
	/* A head that cannot be read has the group's sum in its name, and the group cannot be used
	 * as long as it is there. */
	return ret == 0 || ret == -EXDEV ? strcmp(found, group) == 0 : true;
}

static size_t keep_meant(struct swapio_store *store, const char *group,
			 struct medium_entry *entries, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (is_meant(store, &entries[i], group))
			entries[kept++] = entries[i];
	return kept;
}

/* The newest last, and only when the others are gone for good: none of them may come back. */
static int remove_volumes(struct swapio_store *store, const struct medium_entry *entries,
			  size_t count, struct swapio_error *error)
{
	int ret = 0;

	swapioi_store_turn_take(store);
	for (size_t i = 0; i < count && ret == 0; i++)
		ret = store->medium_ops->remove_volume(store, &entries[i], i + 2 >= count, error);
	swapioi_store_turn_give(store);
	return ret;
}

static int remove_group(struct swapio_store *store, const char *group, struct swapio_error *error)
{
	struct medium_entry *entries;
	size_t count;
	int ret = swapioi_groups_volumes(store, &entries, &count);

	if (ret < 0)
		return swapioi_error(error, ret, "%s: no memory to remove a group", store->path);
	count = keep_meant(store, group, entries, count);
	if (count)
		ret = store->medium_ops->settle(store, error);
	if (!count)
		ret = swapioi_error(error, -ENOENT, "%s: no group " NAME_SHOWN " is stored",
				    store->path, group);
	if (ret == 0)
		ret = remove_volumes(store, entries, count, error);
	free(entries);
	return ret;
}

int swapio_store_remove(struct swapio_store *store, const char *group, struct swapio_error *error)
{
	struct store_name name;
	int ret = swapioi_store_check_process(store, error);

	if (ret < 0)
		return ret;
	if (store->options.read_only)
		return swapioi_error(error, -EROFS, "%s: the store was opened read-only",
				     store->path);
	if (!swapioi_store_name_take(store, &name, group))
		return swapioi_error(error, -EBUSY, "%s: group " NAME_SHOWN " is open", store->path,
				     group);
	ret = remove_group(store, group, error);
	swapioi_store_name_give(store, &name);
	return ret;
}
