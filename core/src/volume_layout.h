/* SPDX-License-Identifier: MIT */
/*
 * volume_layout.h - where things lie in a volume: head, slot 0, slot 1, place 0, place 1.
 */
#ifndef SWAPIOI_VOLUME_LAYOUT_H
#define SWAPIOI_VOLUME_LAYOUT_H

#include "volume.h"

static inline uint64_t volume_slot_offset(const struct volume *volume, unsigned slot)
{
	return volume->entry.base + STORE_UNIT + slot * volume->slot_bytes;
}

static inline uint64_t volume_place_offset(const struct volume *volume, unsigned place)
{
	return volume_slot_offset(volume, 2) + place * volume->place_bytes;
}

static inline uint64_t volume_length_bytes(uint64_t slot_bytes, uint64_t place_bytes)
{
	return STORE_UNIT + 2 * slot_bytes + 2 * place_bytes;
}

/*
 * Whose volume is it? Reads its head: 0; -EXDEV when it is another store's, with a name all the
 * same; else it has no name, and the error says why.
 */
int swapioi_volume_group(struct swapio_store *store, const struct medium_entry *entry,
			 char group[SWAPIO_NAME_BYTES_MAX + 1], struct swapio_error *error);

/* Remove volumes that were replaced by @newest, which is durable, and that a crash kept. */
void swapioi_volume_remove_older(struct swapio_store *store, const char *group,
				 const struct medium_entry *newest);

#endif /* SWAPIOI_VOLUME_LAYOUT_H */
