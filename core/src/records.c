/* SPDX-License-Identifier: MIT */
/*
 * records.c - records of one unit: a magic, a version, fields, zeros, and a sum at the end.
 */
#include "records.h"

#include <errno.h>
#include <inttypes.h>

#include "bytes.h"
#include "checksum.h"
#include "error.h"

#define RECORD_VERSION 1u

enum {
	AT_VERSION = 8,
	AT_SMALL = 12, /* a u32 that some records have */
	AT_STORE_ID = 16,
	AT_FIELDS = 32,
	AT_SUM = STORE_UNIT - 8,

	STORE_AT_LENGTH = AT_FIELDS,
	STORE_END = 40,

	VOLUME_AT_GROUP_SUM = AT_FIELDS,
	VOLUME_AT_NUMBER = 40,
	VOLUME_AT_SLOT_BYTES = 48,
	VOLUME_AT_PLACE_BYTES = 56,
	VOLUME_AT_GROUP = 64,

	SEAL_AT_GROUP_SUM = AT_FIELDS,
	SEAL_AT_NUMBER = 40,
	SEAL_AT_GENERATION = 48,
	SEAL_END = 56,
};

struct record_kind {
	const char *magic, *what;
};

static const struct record_kind store_kind = {"SWAPSTOR", "the store's record"};
static const struct record_kind volume_kind = {"SWAPVOLU", "the head of the volume"};
static const struct record_kind seal_kind = {"SWAPSEAL", "the seal of the slot"};

static void begin(unsigned char *bytes, const struct record_kind *kind,
		  const unsigned char store_id[SWAPIO_STORE_ID_BYTES])
{
	memset(bytes, 0, STORE_UNIT);
	memcpy(bytes, kind->magic, AT_VERSION);
	put_u32(bytes + AT_VERSION, RECORD_VERSION);
	memcpy(bytes + AT_STORE_ID, store_id, SWAPIO_STORE_ID_BYTES);
}

static void end(unsigned char *bytes)
{
	put_u64(bytes + AT_SUM, swapioi_record_sum(bytes, AT_SUM));
}

/* What the records share. */
static int check(const unsigned char *bytes, const struct record_kind *kind,
		 struct swapio_error *error)
{
	uint32_t version = get_u32(bytes + AT_VERSION);

	if (all_zeros(bytes, STORE_UNIT))
		return swapioi_error(error, -ENOENT, "%s was never written", kind->what);
	if (memcmp(bytes, kind->magic, AT_VERSION) != 0)
		return swapioi_error(error, -EBADMSG, "something else is where %s belongs",
				     kind->what);
	if (swapioi_record_sum(bytes, AT_SUM) != get_u64(bytes + AT_SUM))
		return swapioi_error(error, -EBADMSG, "the sum of %s differs: it is damaged",
				     kind->what);
	if (version != RECORD_VERSION)
		return swapioi_error(error, -ENOTSUP, "%s has version %" PRIu32 ", known here: %u",
				     kind->what, version, RECORD_VERSION);
	return 0;
}

static int check_zeros(const unsigned char *bytes, size_t used, const struct record_kind *kind,
		       struct swapio_error *error)
{
	if (all_zeros(bytes + used, AT_SUM - used))
		return 0;
	return swapioi_error(error, -EBADMSG, "%s has bytes where zeros belong", kind->what);
}

void swapioi_store_record_encode(const struct store_record *record, void *bytes)
{
	begin(bytes, &store_kind, record->id);
	put_u64((unsigned char *)bytes + STORE_AT_LENGTH, record->length_bytes);
	end(bytes);
}

int swapioi_store_record_decode(const void *bytes, struct store_record *ret_record,
				struct swapio_error *error)
{
	const unsigned char *at = bytes;
	int ret = check(at, &store_kind, error);

	if (ret == 0 && get_u32(at + AT_SMALL))
		ret = swapioi_error(error, -EBADMSG, "%s has bytes where zeros belong",
				    store_kind.what);
	if (ret == 0)
		ret = check_zeros(at, STORE_END, &store_kind, error);
	if (ret < 0)
		return ret;
	memcpy(ret_record->id, at + AT_STORE_ID, sizeof(ret_record->id));
	ret_record->length_bytes = get_u64(at + STORE_AT_LENGTH);
	return 0;
}

bool swapioi_store_record_is(const void *bytes)
{
	return memcmp(bytes, store_kind.magic, AT_VERSION) == 0;
}

void swapioi_volume_head_encode(const struct volume_head *head, void *bytes)
{
	unsigned char *at = bytes;
	size_t name_bytes = strlen(head->group);

	begin(at, &volume_kind, head->store_id);
	put_u32(at + AT_SMALL, (uint32_t)name_bytes);
	put_u64(at + VOLUME_AT_GROUP_SUM, head->group_sum);
	put_u64(at + VOLUME_AT_NUMBER, head->number);
	put_u64(at + VOLUME_AT_SLOT_BYTES, head->slot_bytes);
	put_u64(at + VOLUME_AT_PLACE_BYTES, head->place_bytes);
	memcpy(at + VOLUME_AT_GROUP, head->group, name_bytes);
	end(at);
}

static int check_head_name(const unsigned char *at, uint32_t name_bytes, struct swapio_error *error)
{
	if (name_bytes < 1 || name_bytes > SWAPIO_NAME_BYTES_MAX ||
	    memchr(at + VOLUME_AT_GROUP, 0, name_bytes) ||
	    swapioi_record_sum(at + VOLUME_AT_GROUP, name_bytes) !=
		    get_u64(at + VOLUME_AT_GROUP_SUM))
		return swapioi_error(error, -EBADMSG,
				     "%s has a name of %" PRIu32 " bytes that does not fit its sum",
				     volume_kind.what, name_bytes);
	return check_zeros(at, VOLUME_AT_GROUP + name_bytes, &volume_kind, error);
}

/* So that the end of the volume is a number, too. */
static int check_head_sizes(const struct volume_head *head, struct swapio_error *error)
{
	if (head->slot_bytes && head->slot_bytes % STORE_UNIT == 0 &&
	    head->slot_bytes <= PLACE_BYTES_MAX && head->place_bytes % STORE_UNIT == 0 &&
	    head->place_bytes <= PLACE_BYTES_MAX && head->number)
		return 0;
	return swapioi_error(error, -EBADMSG,
			     "%s has number %" PRIu64 ", slots of %" PRIu64
			     " bytes and places of %" PRIu64,
			     volume_kind.what, head->number, head->slot_bytes, head->place_bytes);
}

int swapioi_volume_head_decode(const void *bytes, struct volume_head *ret_head,
			       struct swapio_error *error)
{
	const unsigned char *at = bytes;
	struct volume_head head = {.number = 0};
	uint32_t name_bytes = get_u32(at + AT_SMALL);
	int ret = check(at, &volume_kind, error);

	if (ret == 0)
		ret = check_head_name(at, name_bytes, error);
	if (ret < 0)
		return ret;
	memcpy(head.store_id, at + AT_STORE_ID, sizeof(head.store_id));
	head.group_sum = get_u64(at + VOLUME_AT_GROUP_SUM);
	head.number = get_u64(at + VOLUME_AT_NUMBER);
	head.slot_bytes = get_u64(at + VOLUME_AT_SLOT_BYTES);
	head.place_bytes = get_u64(at + VOLUME_AT_PLACE_BYTES);
	memcpy(head.group, at + VOLUME_AT_GROUP, name_bytes);
	ret = check_head_sizes(&head, error);
	if (ret == 0)
		*ret_head = head;
	return ret;
}

void swapioi_slot_seal_encode(const struct slot_seal *seal, void *bytes)
{
	unsigned char *at = bytes;

	begin(at, &seal_kind, seal->store_id);
	put_u64(at + SEAL_AT_GROUP_SUM, seal->group_sum);
	put_u64(at + SEAL_AT_NUMBER, seal->number);
	put_u64(at + SEAL_AT_GENERATION, seal->generation);
	end(at);
}

int swapioi_slot_seal_decode(const void *bytes, struct slot_seal *ret_seal,
			     struct swapio_error *error)
{
	const unsigned char *at = bytes;
	int ret = check(at, &seal_kind, error);

	if (ret == 0 && (get_u32(at + AT_SMALL) || !get_u64(at + SEAL_AT_GENERATION)))
		ret = swapioi_error(error, -EBADMSG, "%s is of no generation", seal_kind.what);
	if (ret == 0)
		ret = check_zeros(at, SEAL_END, &seal_kind, error);
	if (ret < 0)
		return ret;
	memcpy(ret_seal->store_id, at + AT_STORE_ID, sizeof(ret_seal->store_id));
	ret_seal->group_sum = get_u64(at + SEAL_AT_GROUP_SUM);
	ret_seal->number = get_u64(at + SEAL_AT_NUMBER);
	ret_seal->generation = get_u64(at + SEAL_AT_GENERATION);
	return 0;
}

bool swapioi_slot_seal_is(const void *bytes)
{
	return memcmp(bytes, seal_kind.magic, AT_VERSION) == 0;
}
