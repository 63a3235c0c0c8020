/* SPDX-License-Identifier: MIT */
/*
 * volume_find.c - looks for the newest committed generation of a group, and tells what a crash left
 * from what was damaged later.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "checksum.h"
#include "error.h"
#include "records.h"
#include "store.h"
#include "volume_layout.h"

/* What one volume turned out to be. */
enum looks {
	LOOKS_COMMITTED, /* it holds a generation */
	LOOKS_LEFT,	 /* a crash left it before its first commit */
	LOOKS_OTHER,	 /* of a group whose name has the same sum */
	LOOKS_WRONG,	 /* damaged, foreign, unknown: the error says */
};

/* What a slot holds. */
struct slot {
	int error; /* of decoding it; -ENOENT: never written */
	struct swapio_error why;
	struct manifest *manifest; /* NULL unless it holds a valid one */
	uint64_t sealed;	   /* generation of a valid seal, else 0 */
};

struct look {
	struct swapio_store *store;
	const char *group; /* NULL: not known yet */
	struct volume *volume;
	struct volume_head head;
	uint64_t length_bytes; /* of what is there */
	struct swapio_error *error;
};

static int wrong(const struct look *look, int code, const char *why)
{
	char name[VOLUME_NAME_BYTES];

	swapioi_volume_name(&look->volume->entry, name);
	if (!look->group)
		return swapioi_error(look->error, code, "volume %s: %s", name, why);
	return swapioi_error(look->error, code, "group " NAME_SHOWN ", volume %s: %s", look->group,
			     name, why);
}

static int read_at(const struct look *look, uint64_t offset, void *buf, size_t bytes)
{
	struct swapio_error why;
	struct store_io io = {.op = SWAPIO_READ,
			      .fd = look->volume->fd,
			      .offset_bytes = look->volume->entry.base + offset,
			      .buf = buf,
			      .length_bytes = bytes,
			      .what = "read its records"};
	int ret = swapioi_store_io(look->store, &io, &why);

	return ret < 0 ? wrong(look, ret, why.text) : 0;
}

static int check_head(const struct look *look)
{
	const struct medium_entry *entry = &look->volume->entry;

	if (memcmp(look->head.store_id, look->store->id, sizeof(look->store->id)) != 0)
		return wrong(look, -EXDEV, "it belongs to another store");
	if (look->head.group_sum != entry->group_sum || look->head.number != entry->number)
		return wrong(look, -EBADMSG, "it is another volume, under a wrong name");
	return 0;
}

static int read_head(struct look *look)
{
	struct swapio_error why = {.code = 0};
	void *unit;
	int ret;

	if (look->length_bytes < STORE_UNIT)
		return wrong(look, -EBADMSG, "it ends within its head");
	ret = swapio_buffer_alloc(look->store->handle, STORE_UNIT, 0, &unit);
	if (ret < 0)
		return wrong(look, ret, "no memory to read its head");
	ret = read_at(look, 0, unit, STORE_UNIT);
	if (ret == 0) {
		ret = swapioi_volume_head_decode(unit, &look->head, &why);
		if (ret < 0)
			ret = wrong(look, ret == -ENOENT ? -EBADMSG : ret, why.text);
	}
	swapio_buffer_free(look->store->handle, unit);
	return ret < 0 ? ret : check_head(look);
}

/* A manifest that is whole may still be of somebody else. */
static int check_manifest(const struct look *look, const struct manifest *manifest,
			  struct swapio_error *why)
{
	if (memcmp(manifest->store_id, look->store->id, sizeof(manifest->store_id)) != 0)
		return swapioi_error(why, -EXDEV, "its manifest belongs to another store");
	if (strcmp(manifest->group, look->group) != 0)
		return swapioi_error(why, -EBADMSG, "its manifest is that of group " NAME_SHOWN,
				     manifest->group);
	if (swapioi_manifest_place_bytes(manifest) > look->head.place_bytes)
		return swapioi_error(why, -EBADMSG,
				     "its manifest speaks of %" PRIu64
				     " bytes, and its places have %" PRIu64,
				     swapioi_manifest_place_bytes(manifest),
				     look->head.place_bytes);
	return 0;
}

static void read_seal(const struct look *look, const void *bytes, struct slot *slot)
{
	struct slot_seal seal;

	slot->error = swapioi_slot_seal_decode(bytes, &seal, &slot->why);
	if (slot->error < 0)
		return;
	if (memcmp(seal.store_id, look->store->id, sizeof(seal.store_id)) != 0 ||
	    seal.group_sum != look->head.group_sum || seal.number != look->head.number)
		slot->error = swapioi_error(&slot->why, -EBADMSG, "its seal is another volume's");
	else
		slot->sealed = seal.generation;
}

static void read_slot(const struct look *look, const void *bytes, struct slot *slot)
{
	if (swapioi_slot_seal_is(bytes)) {
		read_seal(look, bytes, slot);
		return;
	}
	slot->error =
		swapioi_manifest_decode(bytes, look->head.slot_bytes, &slot->manifest, &slot->why);
	if (slot->error < 0)
		return;
	slot->error = check_manifest(look, slot->manifest, &slot->why);
	if (slot->error < 0) {
		swapioi_manifest_destroy(slot->manifest);
		slot->manifest = NULL;
	}
}

static int read_slots(const struct look *look, struct slot slots[2])
{
	size_t bytes = (size_t)look->head.slot_bytes;
	void *buf;
	int ret;

	if (look->length_bytes < STORE_UNIT + 2 * look->head.slot_bytes)
		return wrong(look, -EBADMSG, "it ends within its manifests");
	ret = swapio_buffer_alloc(look->store->handle, 2 * bytes, 0, &buf);
	if (ret < 0)
		return wrong(look, -ENOMEM, "no memory to read its manifests");
	ret = read_at(look, STORE_UNIT, buf, 2 * bytes);
	for (unsigned i = 0; i < 2 && ret == 0; i++)
		read_slot(look, (char *)buf + i * bytes, &slots[i]);
	swapio_buffer_free(look->store->handle, buf);
	return ret;
}

static uint64_t generation_of(const struct slot *slot)
{
	return slot->manifest ? slot->manifest->generation : 0;
}

/* A seal says which generation was there: less than that is not what was stored last. */
static int check_sealed(const struct look *look, const struct slot slots[2], uint64_t newest)
{
	uint64_t sealed = slots[0].sealed > slots[1].sealed ? slots[0].sealed : slots[1].sealed;
	char why[160];

	if (sealed <= newest)
		return 0;
	snprintf(why, sizeof(why),
		 "generation %" PRIu64 " was committed, and its manifest is gone or damaged",
		 sealed);
	return wrong(look, -EBADMSG, why);
}

/* Whatever is no commit that did not come to its end stands for something that was there. */
static enum looks judge_without_manifest(const struct look *look, const struct slot slots[2])
{
	if (check_sealed(look, slots, 0) < 0)
		return LOOKS_WRONG;
	/* The first commit goes to slot 0; what is left of it is not known to have been whole. */
	if (slots[1].error == -ENOENT)
		return LOOKS_LEFT;
	wrong(look, slots[1].error, slots[1].why.text);
	return LOOKS_WRONG;
}

static enum looks judge(const struct look *look, struct slot slots[2],
			struct manifest **ret_manifest)
{
	unsigned newest = generation_of(&slots[1]) > generation_of(&slots[0]);

	for (unsigned i = 0; i < 2; i++)
		if (slots[i].error && slots[i].error != -ENOENT && slots[i].error != -EBADMSG) {
			wrong(look, slots[i].error, slots[i].why.text);
			return LOOKS_WRONG;
		}
	if (!slots[newest].manifest)
		return judge_without_manifest(look, slots);
	if (check_sealed(look, slots, generation_of(&slots[newest])) < 0)
		return LOOKS_WRONG;
	look->volume->newest_slot = newest;
	look->volume->committed = generation_of(&slots[newest]);
	*ret_manifest = slots[newest].manifest;
	slots[newest].manifest = NULL;
	return LOOKS_COMMITTED;
}

/* The volume is open. */
static enum looks look_inside(struct look *look, struct manifest **ret_manifest)
{
	struct slot slots[2] = {{.error = 0}};
	enum looks looks = LOOKS_WRONG;

	if (read_head(look) < 0)
		return LOOKS_WRONG;
	if (strcmp(look->head.group, look->group) != 0)
		return LOOKS_OTHER;
	look->volume->slot_bytes = look->head.slot_bytes;
	look->volume->place_bytes = look->head.place_bytes;
	if (read_slots(look, slots) == 0)
		looks = judge(look, slots, ret_manifest);
	swapioi_manifest_destroy(slots[0].manifest);
	swapioi_manifest_destroy(slots[1].manifest);
	return looks;
}

/* Only what is committed stays open. */
static enum looks look_at(struct look *look, struct manifest **ret_manifest)
{
	struct volume *volume = look->volume;
	enum looks looks;

	if (look->store->medium_ops->open_volume(look->store, &volume->entry, &volume->fd,
						 &look->length_bytes, look->error) < 0)
		return LOOKS_WRONG;
	volume->entry.length_bytes = look->length_bytes;
	looks = look_inside(look, ret_manifest);
	if (looks != LOOKS_COMMITTED)
		swapioi_volume_close(volume);
	return looks;
}

/* The newest entry of the group that is older than @number. */
static bool previous_entry(struct swapio_store *store, uint64_t group_sum, uint64_t number,
			   struct medium_entry *ret_entry)
{
	const struct medium_index *index = &store->medium.index;
	bool found = false;

	pthread_mutex_lock(&store->lock);
	for (size_t at = swapioi_index_end(index, group_sum); at-- > 0 && !found;) {
		const struct medium_entry *entry = &index->entries[at];

		if (entry->group_sum != group_sum)
			break;
		found = entry->number < number && entry->published;
		if (found)
			*ret_entry = *entry;
	}
	pthread_mutex_unlock(&store->lock);
	return found;
}

static void remove_left(const struct look *look)
{
	struct swapio_store *store = look->store;

	if (store->options.read_only)
		return;
	swapioi_store_turn_take(store);
	store->medium_ops->remove_volume(store, &look->volume->entry, false, NULL);
	swapioi_store_turn_give(store);
}

/*
 * From the newest volume down: the first one that holds a generation, or held one, decides. Older
 * ones were replaced by it.
 */
static int find(struct swapio_store *store, const char *group, bool tidy, struct volume *ret_volume,
		struct manifest **ret_manifest, struct swapio_error *error)
{
	uint64_t group_sum = swapioi_record_sum(group, strlen(group)), number = UINT64_MAX;
	struct swapio_error why = {.code = 0};
	struct medium_entry entry;

	while (previous_entry(store, group_sum, number, &entry)) {
		struct volume volume = {.store = store, .entry = entry, .fd = -1};
		struct look look = {
			.store = store, .group = group, .volume = &volume, .error = &why};

		number = entry.number;
		switch (look_at(&look, ret_manifest)) {
		case LOOKS_COMMITTED:
			*ret_volume = volume;
			return 0;
		case LOOKS_LEFT:
			if (tidy)
				remove_left(&look);
			break;
		case LOOKS_OTHER:
			break;
		case LOOKS_WRONG:
			return swapioi_error(error, why.code, "%s", why.text);
		}
	}
	return swapioi_error(error, -ENOENT, "group " NAME_SHOWN ": nothing is stored", group);
}

static uint64_t seals(struct swapio_store *store)
{
	uint64_t count;

	pthread_mutex_lock(&store->lock);
	count = store->seals;
	pthread_mutex_unlock(&store->lock);
	return count;
}

/*
 * Who lists and verifies may read while the group is swapped out. A slot that was read before its
 * manifest came, and the other one after it was sealed, look like damage; then it is read again.
 */
static int find_settled(struct swapio_store *store, const char *group, bool tidy,
			struct volume *ret_volume, struct manifest **ret_manifest,
			struct swapio_error *error)
{
	uint64_t before;
	int ret;

	do {
		before = seals(store);
		ret = find(store, group, tidy, ret_volume, ret_manifest, error);
	} while (ret == -EBADMSG && seals(store) != before);
	return ret;
}

int swapioi_volume_find(struct swapio_store *store, const char *group, struct volume *ret_volume,
			struct manifest **ret_manifest, struct swapio_error *error)
{
	return find_settled(store, group, true, ret_volume, ret_manifest, error);
}

int swapioi_volume_look(struct swapio_store *store, const char *group, struct volume *ret_volume,
			struct manifest **ret_manifest, struct swapio_error *error)
{
	return find_settled(store, group, false, ret_volume, ret_manifest, error);
}

int swapioi_volume_group(struct swapio_store *store, const struct medium_entry *entry,
			 char group[SWAPIO_NAME_BYTES_MAX + 1], struct swapio_error *error)
{
	struct volume volume = {.store = store, .entry = *entry, .fd = -1};
	struct look look = {.store = store, .volume = &volume, .error = error};
	int ret =
		store->medium_ops->open_volume(store, entry, &volume.fd, &look.length_bytes, error);

	if (ret < 0)
		return ret;
	ret = read_head(&look);
	swapioi_volume_close(&volume);
	if (ret == 0 || ret == -EXDEV)
		memcpy(group, look.head.group, sizeof(look.head.group));
	return ret;
}

void swapioi_volume_remove_older(struct swapio_store *store, const char *group,
				 const struct medium_entry *newest)
{
	char found[SWAPIO_NAME_BYTES_MAX + 1];
	struct medium_entry entry = *newest;

	while (previous_entry(store, newest->group_sum, entry.number, &entry)) {
		if (swapioi_volume_group(store, &entry, found, NULL) < 0 ||
		    strcmp(found, group) != 0)
			continue;
		swapioi_store_turn_take(store);
		store->medium_ops->remove_volume(store, &entry, false, NULL);
		swapioi_store_turn_give(store);
	}
}
