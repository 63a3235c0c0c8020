/* SPDX-License-Identifier: MIT */
/*
 * store_list.c - what each group of a store is.
 */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "store_groups.h"
#include "volume_layout.h"

static void describe(struct swapio_group_info *info, const struct manifest *manifest,
		     const struct volume *volume)
{
	info->generation = manifest->generation;
	info->checksum = manifest->checksum;
	info->tensors = manifest->count;
	for (unsigned i = 0; i < manifest->count; i++)
		info->bytes += manifest_tensor_bytes(&manifest->tensors[i]);
	info->volume_bytes = volume->entry.length_bytes;
}

/* 0 with a group that is damaged, too; -ENOENT when nothing of it is stored. */
static int look_at(struct swapio_store *store, const struct group_item *item,
		   struct swapio_group_info *info, struct swapio_error *error)
{
	struct volume volume = {.fd = -1};
	struct manifest *manifest;
	int ret = item->known ? swapioi_volume_look(store, item->name, &volume, &manifest, error)
			      : item->why.code;

	*info = (struct swapio_group_info){.size_bytes = sizeof(*info), .name = item->name};
	if (ret == -ENOENT || ret == -ENOMEM || ret == -ECHILD)
		return ret;
	info->damage = ret;
	if (ret < 0)
		return 0;
	describe(info, manifest, &volume);
	swapioi_manifest_destroy(manifest);
	swapioi_volume_close(&volume);
	return 0;
}

int swapio_store_list(struct swapio_store *store, swapio_group_fn *each, void *arg,
		      struct swapio_error *error)
{
	struct group_items items;
	int ret = swapioi_store_check_process(store, error);

	if (ret == 0)
		ret = swapioi_groups_collect(store, &items, error);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < items.count && ret == 0; i++) {
		struct swapio_group_info info;

		ret = look_at(store, &items.items[i], &info, error);
		if (ret == 0)
			ret = each(&info, arg);
		else if (ret == -ENOENT)
			ret = 0;
	}
	swapioi_groups_fini(&items);
	return ret;
}
