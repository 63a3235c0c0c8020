/* SPDX-License-Identifier: MIT */
/*
 * store_range.h - what the files of the range medium share.
 */
#ifndef SWAPIOI_STORE_RANGE_H
#define SWAPIOI_STORE_RANGE_H

#include "catalog.h"
#include "store.h"

/*
 * Open and lock the device, find its range, read the record: 0 or -errno; *ret_found is false when
 * there is none, and zeros are where it would be. On failure nothing stays open.
 */
int swapioi_range_claim(struct swapio_store *store, bool *ret_found, struct swapio_error *error);

/* Read both copies of the catalog into the index. */
int swapioi_range_load(struct swapio_store *store, struct swapio_error *error);

/* Are they still there, and the same? medium_ops.check */
int swapioi_range_record_check(struct swapio_store *store, struct swapio_error *error);
int swapioi_range_catalog_check(struct swapio_store *store, struct swapio_error *error);

/*
 * Write the published entries of the index, with @change instead of what the index says of it, as
 * the next catalog into both copies. The caller has the turn.
 */
int swapioi_range_save(struct swapio_store *store, const struct medium_entry *change,
		       struct swapio_error *error);

/* Where @length_bytes are free, as an offset of the device. -ENOSPC with a sentence. */
int swapioi_range_find_room(struct swapio_store *store, uint64_t length_bytes, uint64_t *ret_base,
			    struct swapio_error *error);

#endif /* SWAPIOI_STORE_RANGE_H */
