/* SPDX-License-Identifier: MIT */
/*
 * volume.c - room for the next generation: the volume of the last one if it will do, or a new one.
 */
#include "volume.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "align.h"
#include "checksum.h"
#include "error.h"
#include "store.h"
#include "volume_layout.h"

uint64_t swapioi_volume_tensor_offset(const struct volume *volume,
				      const struct manifest_tensor *tensor)
{
	return volume_place_offset(volume, tensor->place) + tensor->offset_bytes;
}

bool swapioi_volume_same(const struct volume *a, const struct volume *b)
{
	return a->fd >= 0 && b->fd >= 0 && a->entry.group_sum == b->entry.group_sum &&
	       a->entry.number == b->entry.number;
}

static bool same_layout(const struct manifest *stored, const struct manifest *next)
{
	if (stored->count != next->count)
		return false;
	for (unsigned i = 0; i < next->count; i++)
		if (stored->tensors[i].offset_bytes != next->tensors[i].offset_bytes ||
		    stored->tensors[i].padded_bytes != next->tensors[i].padded_bytes)
			return false;
	return true;
}

/* What makes a volume unfit for the next generation; NULL: it will do. */
static const char *unfit(const struct manifest *stored, const struct manifest *next,
			 const struct volume *volume, uint64_t length_bytes)
{
	if (!stored || volume->fd < 0)
		return "there is none";
	if (volume->doubtful)
		return "a commit failed in it and could not be taken back";
	if (swapioi_manifest_encoded_bytes(next) > volume->slot_bytes)
		return "the manifest is larger than its slots";
	if (!same_layout(stored, next))
		return "its tensors lie in it in another way";
	if (length_bytes < volume_length_bytes(volume->slot_bytes, volume->place_bytes))
		return "its end is missing";
	return NULL;
}

/*
 * A process that ended may have left a manifest that is not durable yet. Before the places of the
 * generation before it are written to, it has to be.
 */
static int settle(struct volume *volume, const char *group, struct swapio_error *error)
{
	struct swapio_store *store = volume->store;
	char what[160];
	int ret;

	if (volume->settled)
		return 0;
	snprintf(what, sizeof(what), "group " NAME_SHOWN ": sync what is stored", group);
	ret = swapioi_store_sync(store, volume->fd, what, error);
	if (ret < 0)
		return ret;
	volume->settled = true;
	swapioi_volume_remove_older(store, group, &volume->entry);
	return 0;
}

static int alloc_buf(struct volume *volume, uint64_t bytes, const char *group,
		     struct swapio_error *error)
{
	int ret = swapio_buffer_alloc(volume->store->handle, (size_t)bytes, 0, &volume->buf);

	return ret < 0 ? swapioi_error(error, ret,
				       "group " NAME_SHOWN ": no memory for %" PRIu64
				       " bytes of manifest",
				       group, bytes)
		       : 0;
}

static uint64_t next_number(struct swapio_store *store, uint64_t group_sum)
{
	const struct medium_index *index = &store->medium.index;
	uint64_t number = 1;
	size_t end;

	pthread_mutex_lock(&store->lock);
	end = swapioi_index_end(index, group_sum);
	if (end && index->entries[end - 1].group_sum == group_sum)
		number = index->entries[end - 1].number + 1;
	pthread_mutex_unlock(&store->lock);
	return number;
}

/* With the head's unit and two slots before them, both places begin a unit behind a stride. */
static void keep_stride(struct volume *volume)
{
	if (volume->place_bytes < STORE_STRIDE)
		return;
	volume->slot_bytes = round_up(volume->slot_bytes, STORE_STRIDE / 2);
	volume->place_bytes = round_up(volume->place_bytes, STORE_STRIDE);
}

static int create(struct swapio_store *store, const struct manifest *next, struct volume *volume,
		  struct swapio_error *error)
{
	uint64_t group_sum = swapioi_record_sum(next->group, strlen(next->group));
	struct swapio_error why = {0};
	int ret;

	*volume = (struct volume){.store = store,
				  .fd = -1,
				  .slot_bytes = swapioi_manifest_encoded_bytes(next),
				  .place_bytes = swapioi_manifest_place_bytes(next),
				  .settled = true};
	keep_stride(volume);
	ret = alloc_buf(volume, STORE_UNIT + 2 * volume->slot_bytes, next->group, error);
	if (ret < 0)
		return ret;
	volume->entry.group_sum = group_sum;
	volume->entry.length_bytes = volume_length_bytes(volume->slot_bytes, volume->place_bytes);
	swapioi_store_turn_take(store);
	volume->entry.number = next_number(store, group_sum);
	ret = store->medium_ops->create_volume(store, &volume->entry, &volume->fd, &why);
	swapioi_store_turn_give(store);
	if (ret < 0) {
		swapioi_error(error, ret, "group " NAME_SHOWN ": %s", next->group, why.text);
		swapio_buffer_free(store->handle, volume->buf);
		volume->buf = NULL;
	}
	return ret;
}

/* What there is of a volume now; it may have been cut short since. */
static uint64_t length_now(const struct volume *volume)
{
	uint64_t length_bytes = 0;

	if (volume->fd < 0 || volume->store->medium_ops->length_now(volume->store, &volume->entry,
								    volume->fd, &length_bytes) < 0)
		return 0;
	return length_bytes;
}

int swapioi_volume_prepare(struct swapio_store *store, const struct manifest *stored,
			   const struct manifest *next, bool partial, struct volume *volume,
			   struct volume *ret_next, struct swapio_error *error)
{
	const char *why = unfit(stored, next, volume, length_now(volume));
	struct volume prepared = {.fd = -1};
	int ret = 0;

	if (volume->fd >= 0)
		ret = settle(volume, next->group, error);
	if (ret == 0 && why && partial)
		ret = swapioi_error(error, -EIO,
				    "group " NAME_SHOWN
				    ": some of its tensors cannot be written to its volume alone: "
				    "%s; swap the whole group out",
				    next->group, why);
	if (ret < 0)
		return ret;
	if (why) {
		ret = create(store, next, &prepared, error);
	} else {
		prepared = *volume;
		ret = alloc_buf(&prepared, volume->slot_bytes, next->group, error);
	}
	if (ret == 0)
		*ret_next = prepared;
	return ret;
}

/*
 * A volume without a manifest may come back in a crash: it counts for nothing. One with a manifest
 * would count for more than those before it, and may not.
 */
static bool remove_for_good(struct volume *volume)
{
	struct swapio_store *store = volume->store;
	int ret;

	swapioi_volume_close_noted(volume);
	swapioi_store_turn_take(store);
	ret = store->medium_ops->remove_volume(store, &volume->entry, volume->doubtful, NULL);
	swapioi_store_turn_give(store);
	return ret == 0 || !volume->doubtful;
}

bool swapioi_volume_abandon(struct volume *next_volume, struct volume *old)
{
	bool gone = true;

	if (next_volume->fd < 0)
		return true;
	swapio_buffer_free(next_volume->store->handle, next_volume->buf);
	next_volume->buf = NULL;
	if (next_volume->committed)
		gone = !next_volume->doubtful;
	else
		gone = remove_for_good(next_volume);
	if (!gone && old)
		old->doubtful = true;
	return gone;
}

void swapioi_volume_close_noted(struct volume *volume)
{
	struct swapio_store *store = volume->store;
	struct volume closed = *volume;

	if (volume->fd < 0)
		return;
	pthread_mutex_lock(&store->lock);
	volume->fd = -1;
	pthread_mutex_unlock(&store->lock);
	swapioi_volume_close(&closed);
}

void swapioi_volume_close(struct volume *volume)
{
	if (volume->fd < 0)
		return;
	volume->store->medium_ops->close_volume(volume->store, volume->fd);
	volume->fd = -1;
}
