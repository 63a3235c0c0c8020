/* SPDX-License-Identifier: MIT */
/*
 * group.c - opening and closing groups.
 */
#include "group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fork.h"

void swapioi_group_free(struct swapio_group *group)
{
	swapioi_volume_close(&group->volume);
	swapioi_manifest_destroy(group->stored);
	swapioi_manifest_destroy(group->asked);
	free(group);
}

static int check_name(const char *name, struct swapio_error *error)
{
	size_t bytes = name ? strlen(name) : 0;

	if (bytes >= 1 && bytes <= SWAPIO_NAME_BYTES_MAX)
		return 0;
	return swapioi_error(error, -EINVAL, "the group's name has %zu bytes, allowed: 1 to %d",
			     bytes, SWAPIO_NAME_BYTES_MAX);
}

/* What the owner wants, and what is stored. */
static int fill(struct swapio_group *group, const char *name, const struct swapio_tensor *tensors,
		unsigned count, struct swapio_error *error)
{
	struct swapio_store *store = group->store;
	int ret = swapioi_manifest_create(name, tensors, count, store->options.checksum,
					  store->options.chunk_bytes, error, &group->asked);

	if (ret < 0)
		return ret;
	memcpy(group->asked->store_id, store->id, sizeof(store->id));
	if (!swapioi_store_name_take(store, &group->name, group->asked->group))
		return swapioi_error(error, -EBUSY, "group %.200s is open already", name);
	ret = swapioi_volume_find(store, name, &group->volume, &group->stored, error);
	if (ret == -ENOENT)
		return 0;
	if (ret < 0)
		swapioi_store_name_give(store, &group->name);
	else
		group->generation = group->stored->generation;
	return ret;
}

int swapio_group_open(struct swapio_store *store, const char *name,
		      const struct swapio_tensor *tensors, unsigned count,
		      struct swapio_error *error, struct swapio_group **ret_group)
{
	struct swapio_group *group;
	int ret = swapioi_store_check_process(store, error);

	if (ret == 0)
		ret = check_name(name, error);
	if (ret < 0)
		return ret;
	group = calloc(1, sizeof(*group));
	if (!group)
		return swapioi_error(error, -ENOMEM, "no memory for a group");
	group->store = store;
	group->volume.fd = -1;
	list_init(&group->jobs);
	ret = fill(group, name, tensors, count, error);
	if (ret < 0) {
		swapioi_group_free(group);
		return ret;
	}
	pthread_mutex_lock(&store->lock);
	list_append(&store->swaps.groups, &group->link);
	pthread_mutex_unlock(&store->lock);
	*ret_group = group;
	return 0;
}

static void forget(struct swapio_group *group)
{
	list_remove(&group->link);
	swapioi_group_free(group);
}

int swapio_group_close(struct swapio_group *group)
{
	struct swapio_store *store;
	bool busy;

	if (!group)
		return 0;
	store = group->store;
	if (swapioi_fork_passed(store->epoch)) {
		forget(group);
		return 0;
	}
	pthread_mutex_lock(&store->lock);
	busy = !list_empty(&group->jobs);
	if (!busy)
		list_remove(&group->link);
	pthread_mutex_unlock(&store->lock);
	if (busy)
		return -EBUSY;
	swapioi_store_name_give(store, &group->name);
	swapioi_group_free(group);
	return 0;
}

uint64_t swapio_group_generation(struct swapio_group *group)
{
	uint64_t generation;

	if (swapioi_fork_passed(group->store->epoch))
		return 0;
	pthread_mutex_lock(&group->store->lock);
	generation = group->generation;
	pthread_mutex_unlock(&group->store->lock);
	return generation;
}
