/* SPDX-License-Identifier: MIT */
/*
 * manifest_rules.h - what a tensor may be, for those who make manifests and those who read them.
 */
#ifndef SWAPIOI_MANIFEST_RULES_H
#define SWAPIOI_MANIFEST_RULES_H

#include "align.h"
#include "manifest.h"

static inline bool element_bytes_allowed(uint32_t element_bytes)
{
	return element_bytes >= 1 && element_bytes <= ELEMENT_BYTES_MAX;
}

/* @element_bytes is allowed; the product then fits, too. */
static inline bool numel_allowed(uint64_t numel, uint32_t element_bytes)
{
	return numel <= TENSOR_BYTES_MAX / element_bytes;
}

static inline bool chunk_bytes_allowed(uint64_t chunk_bytes)
{
	return chunk_bytes && chunk_bytes <= CHUNK_BYTES_MAX && chunk_bytes % STORE_UNIT == 0;
}

/* Is the product of the dimensions @numel, computed without overflow? */
bool swapioi_shape_is_numel(const uint64_t *shape, unsigned dims, uint64_t numel);

/*
 * Two tensors of one name: their indexes, -EEXIST; 0 if there are none, -ENOMEM.
 */
int swapioi_manifest_names_differ(const struct manifest *manifest, unsigned ret_same[2]);

/* An empty manifest with room for @count tensors; NULL: no memory. */
struct manifest *swapioi_manifest_alloc(unsigned count);

/* Room for the sums of tensor @index, zeros; nothing for NONE. 0 or -ENOMEM. */
int swapioi_manifest_alloc_sums(struct manifest *manifest, unsigned index);

#endif /* SWAPIOI_MANIFEST_RULES_H */
