/* SPDX-License-Identifier: MIT */
/*
 * catalog.c - the catalog of a range, encoded and decoded.
 */
#include "catalog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "align.h"
#include "bytes.h"
#include "checksum.h"
#include "error.h"

#define CATALOG_MAGIC "SWAPCATA"
#define CATALOG_VERSION 1u

enum {
	AT_VERSION = 8,
	AT_COUNT = 12,
	AT_STORE_ID = 16,
	AT_SEQUENCE = 32,
};

enum {
	ENTRY_AT_GROUP_SUM = 0,
	ENTRY_AT_NUMBER = 8,
	ENTRY_AT_OFFSET = 16,
	ENTRY_AT_LENGTH = 24,
};

static size_t exact_bytes(size_t count)
{
	return CATALOG_HEAD_BYTES + count * CATALOG_ENTRY_BYTES;
}

size_t swapioi_catalog_encode(const struct catalog *catalog, void *bytes)
{
	unsigned char *start = bytes, *at = start + CATALOG_HEAD_BYTES;
	size_t exact = exact_bytes(catalog->count);

	memcpy(start, CATALOG_MAGIC, AT_VERSION);
	put_u32(start + AT_VERSION, CATALOG_VERSION);
	put_u32(start + AT_COUNT, (uint32_t)catalog->count);
	memcpy(start + AT_STORE_ID, catalog->store_id, sizeof(catalog->store_id));
	put_u64(start + AT_SEQUENCE, catalog->sequence);
	for (size_t i = 0; i < catalog->count; i++, at += CATALOG_ENTRY_BYTES) {
		put_u64(at + ENTRY_AT_GROUP_SUM, catalog->entries[i].group_sum);
		put_u64(at + ENTRY_AT_NUMBER, catalog->entries[i].number);
		put_u64(at + ENTRY_AT_OFFSET, catalog->entries[i].base);
		put_u64(at + ENTRY_AT_LENGTH, catalog->entries[i].length_bytes);
	}
	put_u64(at, swapioi_record_sum(start, exact));
	return (size_t)round_up(exact + sizeof(uint64_t), STORE_UNIT);
}

static int check(const unsigned char *bytes, const unsigned char store_id[SWAPIO_STORE_ID_BYTES],
		 struct swapio_error *error)
{
	uint32_t count = get_u32(bytes + AT_COUNT), version = get_u32(bytes + AT_VERSION);
	size_t exact = exact_bytes(count);

	if (memcmp(bytes, CATALOG_MAGIC, AT_VERSION) != 0)
		return swapioi_error(error, -EBADMSG, "no catalog is where one belongs");
	if (count > CATALOG_ENTRIES_MAX)
		return swapioi_error(error, -EBADMSG,
				     "the catalog has %" PRIu32 " entries, room is for %u", count,
				     CATALOG_ENTRIES_MAX);
	if (swapioi_record_sum(bytes, exact) != get_u64(bytes + exact))
		return swapioi_error(error, -EBADMSG,
				     "the sum of the catalog differs: it is torn or damaged");
	if (version != CATALOG_VERSION)
		return swapioi_error(error, -ENOTSUP,
				     "the catalog has version %" PRIu32 ", known here: %u", version,
				     CATALOG_VERSION);
	if (memcmp(bytes + AT_STORE_ID, store_id, SWAPIO_STORE_ID_BYTES) != 0)
		return swapioi_error(error, -EXDEV, "the catalog belongs to another store");
	return 0;
}

/* In order, within the range, and none over another; @end is where the last one ended. */
static int read_entry(const unsigned char *at, uint64_t end, uint64_t range_bytes,
		      struct medium_entry *ret_entry, struct swapio_error *error)
{
	struct medium_entry entry = {.group_sum = get_u64(at + ENTRY_AT_GROUP_SUM),
				     .number = get_u64(at + ENTRY_AT_NUMBER),
				     .base = get_u64(at + ENTRY_AT_OFFSET),
				     .length_bytes = get_u64(at + ENTRY_AT_LENGTH),
				     .published = true};

	if (!entry.number || entry.base < end || entry.base % STORE_UNIT || !entry.length_bytes ||
	    entry.length_bytes % STORE_UNIT || entry.base > range_bytes ||
	    entry.length_bytes > range_bytes - entry.base)
		return swapioi_error(error, -EBADMSG,
				     "the catalog has a volume of %" PRIu64 " bytes at %" PRIu64
				     ", in a range of %" PRIu64
				     ", behind one that ends at %" PRIu64,
				     entry.length_bytes, entry.base, range_bytes, end);
	*ret_entry = entry;
	return 0;
}

int swapioi_catalog_decode(const void *bytes, const unsigned char store_id[SWAPIO_STORE_ID_BYTES],
			   uint64_t range_bytes, struct catalog *ret_catalog,
			   struct swapio_error *error)
{
	const unsigned char *start = bytes;
	struct catalog catalog = {.sequence = get_u64(start + AT_SEQUENCE)};
	uint64_t end = VOLUMES_AT;
	int ret = check(start, store_id, error);

	if (ret < 0)
		return ret;
	catalog.count = get_u32(start + AT_COUNT);
	memcpy(catalog.store_id, store_id, SWAPIO_STORE_ID_BYTES);
	catalog.entries = calloc(catalog.count + 1, sizeof(*catalog.entries));
	if (!catalog.entries)
		return swapioi_error(error, -ENOMEM, "no memory for a catalog of %zu volumes",
				     catalog.count);
	for (size_t i = 0; i < catalog.count && ret == 0; i++) {
		ret = read_entry(start + exact_bytes(i), end, range_bytes, &catalog.entries[i],
				 error);
		end = catalog.entries[i].base + catalog.entries[i].length_bytes;
	}
	if (ret == 0)
		*ret_catalog = catalog;
	else
		free(catalog.entries);
	return ret;
}
