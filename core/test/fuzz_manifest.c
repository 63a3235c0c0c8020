/* SPDX-License-Identifier: MIT */
/*
 * fuzz_manifest.c - any bytes as a record of a store. What is accepted encodes to the same bytes.
 *
 * The first byte of the input says which record, and whether its sum is made right before.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>

#include "catalog.h"
#include "checksum.h"
#include "manifest_bytes.h"
#include "records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sum_at(unsigned char *bytes, size_t at)
{
	put_u64(bytes + at, swapioi_record_sum(bytes, at));
}

static void fuzz_manifest(unsigned char *bytes, size_t count, bool sum)
{
	uint64_t exact = count < MANIFEST_AT_GROUP ? 0 : get_u64(bytes + MANIFEST_AT_BYTES);
	struct swapio_error error;
	struct manifest *manifest, *copy;
	unsigned char *again;

	if (sum && exact >= MANIFEST_AT_GROUP + SUM_BYTES && exact <= count)
		sum_at(bytes, (size_t)exact - SUM_BYTES);
	if (swapioi_manifest_decode(bytes, count, &manifest, &error) < 0) {
		assert(error.code < 0 && error.text[0]);
		return;
	}
	assert(swapioi_manifest_dup(manifest, &copy) == 0);
	again = malloc(swapioi_manifest_encoded_bytes(copy));
	assert(again);
	swapioi_manifest_encode(copy, again);
	assert(memcmp(bytes, again, (size_t)exact) == 0);
	assert(swapioi_manifest_place_bytes(copy) <= PLACE_BYTES_MAX);
	free(again);
	swapioi_manifest_destroy(copy);
	swapioi_manifest_destroy(manifest);
}

static void fuzz_head(unsigned char *bytes)
{
	unsigned char again[STORE_UNIT];
	struct volume_head head;

	if (swapioi_volume_head_decode(bytes, &head, NULL) < 0)
		return;
	swapioi_volume_head_encode(&head, again);
	assert(memcmp(bytes, again, sizeof(again)) == 0);
}

static void fuzz_seal(unsigned char *bytes)
{
	unsigned char again[STORE_UNIT];
	struct slot_seal seal;

	if (swapioi_slot_seal_decode(bytes, &seal, NULL) < 0)
		return;
	swapioi_slot_seal_encode(&seal, again);
	assert(memcmp(bytes, again, sizeof(again)) == 0);
}

static void fuzz_record(unsigned char *bytes)
{
	unsigned char again[STORE_UNIT];
	struct store_record record;

	if (swapioi_store_record_decode(bytes, &record, NULL) < 0)
		return;
	swapioi_store_record_encode(&record, again);
	assert(memcmp(bytes, again, sizeof(again)) == 0);
}

static void fuzz_catalog(unsigned char *bytes, bool sum)
{
	size_t exact = CATALOG_HEAD_BYTES + (size_t)get_u32(bytes + 12) * CATALOG_ENTRY_BYTES;
	unsigned char *again = calloc(1, CATALOG_BYTES);
	struct catalog catalog;

	assert(again);
	if (sum && exact + SUM_BYTES <= CATALOG_BYTES)
		sum_at(bytes, exact);
	if (swapioi_catalog_decode(bytes, bytes + 16, UINT64_C(1) << 40, &catalog, NULL) == 0) {
		swapioi_catalog_encode(&catalog, again);
		assert(memcmp(bytes, again, exact + SUM_BYTES) == 0);
		free(catalog.entries);
	}
	free(again);
}

/* A copy of exactly as many bytes as the record may have, zeros behind the input. */
static unsigned char *record_of(const uint8_t *data, size_t size, size_t bytes)
{
	unsigned char *record = calloc(1, bytes ? bytes : 1);

	assert(record);
	memcpy(record, data, size < bytes ? size : bytes);
	return record;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t rooms[] = {0, STORE_UNIT, STORE_UNIT, STORE_UNIT, CATALOG_BYTES};
	unsigned kind = size ? data[0] % 5u : 0;
	bool sum = size && data[0] >= 128;
	unsigned char *bytes;

	if (!size)
		return 0;
	bytes = record_of(data + 1, size - 1, kind ? rooms[kind] : size - 1);
	if (sum && rooms[kind] == STORE_UNIT)
		sum_at(bytes, STORE_UNIT - SUM_BYTES);
	if (kind == 0)
		fuzz_manifest(bytes, size - 1, sum);
	else if (kind == 1)
		fuzz_head(bytes);
	else if (kind == 2)
		fuzz_seal(bytes);
	else if (kind == 3)
		fuzz_record(bytes);
	else
		fuzz_catalog(bytes, sum);
	free(bytes);
	return 0;
}
