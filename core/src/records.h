/* SPDX-License-Identifier: MIT */
/*
 * records.h - the records of a store that have one unit each, as bytes: the store's own, the head
 * of a volume, and the seal of a slot. docs/STORE.md describes them.
 */
#ifndef SWAPIOI_RECORDS_H
#define SWAPIOI_RECORDS_H

#include "manifest.h"

struct store_record {
	unsigned char id[SWAPIO_STORE_ID_BYTES];
	uint64_t length_bytes; /* of the range, 0 in a directory */
};

struct volume_head {
	unsigned char store_id[SWAPIO_STORE_ID_BYTES];
	uint64_t group_sum;
	uint64_t number;
	uint64_t slot_bytes;
	uint64_t place_bytes;
	char group[SWAPIO_NAME_BYTES_MAX + 1];
};

/* What stands in the slot that the newest manifest of a volume is not in. */
struct slot_seal {
	unsigned char store_id[SWAPIO_STORE_ID_BYTES];
	uint64_t group_sum;
	uint64_t number;     /* of the volume */
	uint64_t generation; /* that was committed */
};

/* Each fills STORE_UNIT bytes. */
void swapioi_store_record_encode(const struct store_record *record, void *bytes);
void swapioi_volume_head_encode(const struct volume_head *head, void *bytes);
void swapioi_slot_seal_encode(const struct slot_seal *seal, void *bytes);

/*
 * Each reads STORE_UNIT bytes, which may be anything: 0, -ENOENT (all zeros), -EBADMSG, -ENOTSUP
 * (another version); with a sentence that says what is wrong.
 */
int swapioi_store_record_decode(const void *bytes, struct store_record *ret_record,
				struct swapio_error *error);
int swapioi_volume_head_decode(const void *bytes, struct volume_head *ret_head,
			       struct swapio_error *error);
int swapioi_slot_seal_decode(const void *bytes, struct slot_seal *ret_seal,
			     struct swapio_error *error);

/* Does it begin like the record of a store, whatever its state? */
bool swapioi_store_record_is(const void *bytes);

/* Is there a seal, whatever its state? Then there is no manifest. */
bool swapioi_slot_seal_is(const void *bytes);

#endif /* SWAPIOI_RECORDS_H */
