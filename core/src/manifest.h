/* SPDX-License-Identifier: MIT */
/*
 * manifest.h - what one generation of a group consists of: in memory, and as bytes. Decoding takes
 * hostile bytes. docs/STORE.md describes them; nothing here does I/O.
 */
#ifndef SWAPIOI_MANIFEST_H
#define SWAPIOI_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swapio/swap.h"

/* The unit of everything in a store: records and tensors begin at multiples of it. */
#define STORE_UNIT 4096u

/*
 * Large tensors begin at multiples of it where nothing speaks against that: transfers that do move
 * up to a tenth faster. Nobody may rely on it.
 */
#define STORE_STRIDE 65536u

#define CHUNK_BYTES_MAX (UINT64_C(1) << 30)
#define ELEMENT_BYTES_MAX 64u
#define TENSOR_BYTES_MAX (UINT64_C(1) << 56)
#define PLACE_BYTES_MAX (UINT64_C(1) << 60)

/* As much of a name as a sentence shows. */
#define NAME_SHOWN "%.120s"

struct manifest_tensor {
	char *name;				/* owned */
	char dtype[SWAPIO_DTYPE_BYTES_MAX + 1]; /* "" when not given */
	uint64_t numel;
	uint32_t element_bytes;
	unsigned dims;
	uint64_t shape[SWAPIO_DIMS_MAX];
	uint64_t offset_bytes; /* within a place, multiple of STORE_UNIT */
	uint64_t padded_bytes; /* numel * element_bytes rounded up to STORE_UNIT; 0 when empty */
	unsigned place;	       /* 0 or 1: which of its two places holds this generation */
	uint64_t *sums;	       /* owned; one for each chunk of the unpadded bytes; NULL for NONE */
};

struct manifest {
	unsigned char store_id[SWAPIO_STORE_ID_BYTES];
	char *group; /* owned */
	uint64_t generation;
	enum swapio_checksum checksum;
	uint64_t chunk_bytes; /* multiple of STORE_UNIT */
	unsigned count;
	struct manifest_tensor *tensors; /* owned, [count] */
};

static inline uint64_t manifest_tensor_bytes(const struct manifest_tensor *tensor)
{
	return tensor->numel * tensor->element_bytes; /* checked when it was made */
}

/* Chunks of a tensor, whether they are summed or not; 0 of an empty one. */
uint64_t swapioi_manifest_chunks(const struct manifest *manifest, unsigned tensor);

/* Bytes that all tensors take in one place: the end of the last one; PLACE_BYTES_MAX at most. */
uint64_t swapioi_manifest_place_bytes(const struct manifest *manifest);

/*
 * Make a manifest of generation 0 of what the caller wants to store: checks every tensor, copies
 * names and shapes, lays tensors out one after the other, all of them at place 0; allocates sums.
 * 0, -EINVAL with a sentence that names the tensor, its value and range, -ENOMEM.
 */
int swapioi_manifest_create(const char *group, const struct swapio_tensor *tensors, unsigned count,
			    enum swapio_checksum checksum, uint64_t chunk_bytes,
			    struct swapio_error *error, struct manifest **ret_manifest);
int swapioi_manifest_dup(const struct manifest *from, struct manifest **ret_manifest);
void swapioi_manifest_destroy(struct manifest *manifest);

/*
 * Do both describe the same tensors? 0, or -EINVAL with a sentence that names the group, the first
 * tensor that differs, what is stored and what was asked, and its index (UINT_MAX: their number
 * differs). Empty dtype or no shape on either side is not compared.
 */
int swapioi_manifest_compare(const struct manifest *stored, const struct manifest *asked,
			     unsigned *ret_tensor, struct swapio_error *error);

/* Bytes of the encoded form, a multiple of STORE_UNIT: what a slot of a volume must hold. */
size_t swapioi_manifest_encoded_bytes(const struct manifest *manifest);

/* Write it into @bytes, which swapioi_manifest_encoded_bytes() many are; the rest is zeros. */
void swapioi_manifest_encode(const struct manifest *manifest, void *bytes);

/*
 * 0, -ENOENT (the first unit is all zeros: never written), -EBADMSG (anything that cannot be),
 * -ENOTSUP (another version; a checksum unknown here), -ENOMEM; with a sentence that says what is
 * wrong. Nothing is read past @count.
 */
int swapioi_manifest_decode(const void *bytes, size_t count, struct manifest **ret_manifest,
			    struct swapio_error *error);

#endif /* SWAPIOI_MANIFEST_H */
