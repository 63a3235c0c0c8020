/* SPDX-License-Identifier: MIT */
/*
 * store_verify.c - reads groups whole, and hands out what is damaged, range by range.
 *
 * A group may be swapped out meanwhile. Then places are written that were being read, so that
 * damage counts only if the generation is still the same afterwards.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "store_groups.h"
#include "verify_read.h"
#include "volume_layout.h"

#define VERIFY_ROUNDS 100

/* What a round returns beside 0 and -errno: the generation is another now. */
#define AGAIN 1

struct verify {
	struct swapio_store *store;
	struct verify_reader *reader;
	swapio_damage_fn *each;
	void *arg;
	struct swapio_error *error;
	bool damaged;
	int ended; /* what @each returned, other than 0 */
};

static int hand_out(struct verify *verify, const struct swapio_damage *damage)
{
	verify->damaged = true;
	verify->ended = verify->each(damage, verify->arg);
	return verify->ended;
}

static int hand_out_group(struct verify *verify, const char *group, const struct swapio_error *why)
{
	struct swapio_damage damage = {.size_bytes = sizeof(damage),
				       .group = group,
				       .error = why->code,
				       .text = why->text};

	return hand_out(verify, &damage);
}

static int hand_out_range(struct verify *verify, const struct manifest *manifest,
			  const struct damage *found)
{
	const struct manifest_tensor *tensor = &manifest->tensors[found->tensor];
	char text[SWAPIO_ERROR_TEXT_BYTES];
	const char *why = found->text;
	struct swapio_damage damage = {.size_bytes = sizeof(damage),
				       .group = manifest->group,
				       .tensor = tensor->name,
				       .offset_bytes = found->offset_bytes,
				       .length_bytes = found->length_bytes,
				       .error = found->error,
				       .text = text};

	if (found->error == -ENODATA)
		why = "the file ends before";
	else if (!why)
		why = "the checksum differs from what was stored";
	snprintf(text, sizeof(text),
		 "group " NAME_SHOWN ", tensor " NAME_SHOWN ", %" PRIu64 " bytes at %" PRIu64
		 ": %s",
		 manifest->group, tensor->name, found->length_bytes, found->offset_bytes, why);
	return hand_out(verify, &damage);
}

static int hand_out_all(struct verify *verify, const struct manifest *manifest,
			const struct damages *damages)
{
	int ret = 0;

	for (size_t i = 0; i < damages->count && ret == 0; i++)
		ret = hand_out_range(verify, manifest, &damages->items[i]);
	return ret;
}

/* Is what was found there still what is stored? */
static bool is_newest(struct swapio_store *store, const char *group, uint64_t generation)
{
	struct volume volume = {.fd = -1};
	struct manifest *manifest;
	bool newest;

	if (swapioi_volume_look(store, group, &volume, &manifest, NULL) < 0)
		return true;
	newest = manifest->generation == generation;
	swapioi_manifest_destroy(manifest);
	swapioi_volume_close(&volume);
	return newest;
}

static int verify_generation(struct verify *verify, const struct volume *volume,
			     const struct manifest *manifest)
{
	struct damages damages = {.count = 0};
	int ret = swapioi_verify_read(verify->reader, volume, manifest, &damages, verify->error);

	if (ret == 0 && damages.count &&
	    !is_newest(verify->store, manifest->group, manifest->generation))
		ret = AGAIN;
	if (ret == 0)
		ret = hand_out_all(verify, manifest, &damages);
	swapioi_damages_fini(&damages);
	return ret;
}

/* What is wrong with a group that reading it again would not change. */
static bool is_damage(int code)
{
	return code != -ENOMEM && code != -EAGAIN && code != -ECHILD && code != -ENOENT;
}

static int verify_once(struct verify *verify, const char *group)
{
	struct swapio_error why = {.code = 0};
	struct volume volume = {.fd = -1};
	struct manifest *manifest;
	int ret = swapioi_volume_look(verify->store, group, &volume, &manifest, &why);

	if (ret < 0)
		return is_damage(ret) ? hand_out_group(verify, group, &why)
				      : swapioi_error(verify->error, ret, "%s", why.text);
	ret = verify_generation(verify, &volume, manifest);
	swapioi_manifest_destroy(manifest);
	swapioi_volume_close(&volume);
	return ret;
}

static int verify_group(struct verify *verify, const char *group)
{
	int ret = AGAIN;

	for (unsigned round = 0; ret == AGAIN && !verify->ended && round < VERIFY_ROUNDS; round++)
		ret = verify_once(verify, group);
	if (ret == AGAIN && !verify->ended)
		return swapioi_error(verify->error, -EAGAIN,
				     "group " NAME_SHOWN
				     " is swapped out faster than it can be read",
				     group);
	return ret;
}

/* A store that is open can have lost what the next open looks for. */
static int verify_records(struct verify *verify)
{
	struct swapio_store *store = verify->store;
	struct swapio_error why = {.code = 0};
	int ret;

	swapioi_store_turn_take(store);
	ret = store->medium_ops->check(store, &why);
	swapioi_store_turn_give(store);
	if (ret == 0)
		return 0;
	return is_damage(ret) ? hand_out_group(verify, store->path, &why)
			      : swapioi_error(verify->error, ret, "%s", why.text);
}

static int verify_all(struct verify *verify)
{
	struct group_items items;
	int ret = verify_records(verify);

	if (ret == 0)
		ret = swapioi_groups_collect(verify->store, &items, verify->error);
	if (ret < 0 || verify->ended)
		return ret;
	for (size_t i = 0; i < items.count && ret == 0; i++) {
		const struct group_item *item = &items.items[i];

		ret = item->known ? verify_group(verify, item->name)
				  : hand_out_group(verify, item->name, &item->why);
		/* Removed meanwhile, or nothing but what a crash left. */
		if (ret == -ENOENT && !verify->ended)
			ret = 0;
	}
	swapioi_groups_fini(&items);
	return ret;
}

int swapio_store_verify(struct swapio_store *store, const char *group, swapio_damage_fn *each,
			void *arg, struct swapio_error *error)
{
	struct verify verify = {.store = store, .each = each, .arg = arg, .error = error};
	int ret = swapioi_store_check_process(store, error);

	if (ret < 0)
		return ret;
	verify.reader = swapioi_verify_reader_create(store);
	if (!verify.reader)
		return swapioi_error(error, -ENOMEM, "%s: no memory to verify it", store->path);
	ret = group ? verify_group(&verify, group) : verify_all(&verify);
	swapioi_verify_reader_destroy(verify.reader);
	if (verify.ended)
		return verify.ended;
	if (ret == 0 && verify.damaged)
		return swapioi_error(error, -EBADMSG, "%s: some of it is damaged", store->path);
	return ret;
}
