/* SPDX-License-Identifier: MIT */
/*
 * catalog.h - which volumes a range holds, as bytes. docs/STORE.md describes them.
 */
#ifndef SWAPIOI_CATALOG_H
#define SWAPIOI_CATALOG_H

#include "manifest.h"
#include "medium.h"

/* Offsets in the range. */
#define CATALOG_0_AT UINT64_C(4096)
#define CATALOG_1_AT UINT64_C(524288)
#define VOLUMES_AT UINT64_C(1048576)

#define CATALOG_BYTES 520192u
#define CATALOG_HEAD_BYTES 40u
#define CATALOG_ENTRY_BYTES 32u
#define CATALOG_ENTRIES_MAX ((CATALOG_BYTES - CATALOG_HEAD_BYTES - 8u) / CATALOG_ENTRY_BYTES)

struct catalog {
	unsigned char store_id[SWAPIO_STORE_ID_BYTES];
	uint64_t sequence;
	struct medium_entry *entries; /* in order of base, which is relative to the range */
	size_t count;
};

/* Into @bytes, CATALOG_BYTES of zeros; how many are to be written, a multiple of the unit. */
size_t swapioi_catalog_encode(const struct catalog *catalog, void *bytes);

/*
 * Of CATALOG_BYTES that may be anything. 0 with entries that the caller frees, -EBADMSG, -ENOTSUP,
 * -EXDEV, -ENOMEM; with a sentence.
 */
int swapioi_catalog_decode(const void *bytes, const unsigned char store_id[SWAPIO_STORE_ID_BYTES],
			   uint64_t range_bytes, struct catalog *ret_catalog,
			   struct swapio_error *error);

#endif /* SWAPIOI_CATALOG_H */
