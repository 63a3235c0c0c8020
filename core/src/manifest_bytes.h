/* SPDX-License-Identifier: MIT */
/*
 * manifest_bytes.h - where things stand in an encoded manifest, see docs/STORE.md.
 */
#ifndef SWAPIOI_MANIFEST_BYTES_H
#define SWAPIOI_MANIFEST_BYTES_H

#include "bytes.h"
#include "manifest_rules.h"

#define MANIFEST_MAGIC "SWAPMANI"
#define MANIFEST_VERSION 1u

enum {
	MANIFEST_AT_VERSION = 8,
	MANIFEST_AT_CHECKSUM = 12,
	MANIFEST_AT_BYTES = 16,
	MANIFEST_AT_STORE_ID = 24,
	MANIFEST_AT_GENERATION = 40,
	MANIFEST_AT_CHUNK_BYTES = 48,
	MANIFEST_AT_COUNT = 56,
	MANIFEST_AT_GROUP_BYTES = 60,
	MANIFEST_AT_GROUP = 64,
};

enum {
	TENSOR_AT_NUMEL = 0,
	TENSOR_AT_OFFSET = 8,
	TENSOR_AT_ELEMENT_BYTES = 16,
	TENSOR_AT_NAME_BYTES = 20,
	TENSOR_AT_DIMS = 22,
	TENSOR_AT_PLACE = 23,
	TENSOR_AT_DTYPE = 24,
	TENSOR_AT_SHAPE = 40,
};

#define SUM_BYTES 8u

static inline size_t name_room(size_t bytes)
{
	return (size_t)round_up(bytes, 8);
}

/* Sums that are stored of a tensor. */
static inline uint64_t manifest_sums(const struct manifest *manifest, unsigned tensor)
{
	return manifest->checksum == SWAPIO_CHECKSUM_NONE
		       ? 0
		       : swapioi_manifest_chunks(manifest, tensor);
}

#endif /* SWAPIOI_MANIFEST_BYTES_H */
