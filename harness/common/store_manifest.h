/* SPDX-License-Identifier: MIT */
/*
 * store_manifest.h - the manifest of a group in a store, decoded from its bytes as docs/STORE.md
 * describes them. It shares nothing with the library: what the library writes is checked by it.
 *
 * Threads: pure functions.
 */
#ifndef STORE_MANIFEST_H
#define STORE_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#define STORE_UNIT 4096u
#define STORE_ID_BYTES 16
#define STORE_NAME_BYTES_MAX 1023
#define STORE_DIMS_MAX 8
#define STORE_DTYPE_BYTES 16
#define STORE_TEXT_BYTES 320

enum store_sum { STORE_SUM_NONE, STORE_SUM_XXH64, STORE_SUM_XXH3 };

struct store_tensor {
	char *name;
	char dtype[STORE_DTYPE_BYTES]; /* "" not given */
	uint64_t numel;
	uint32_t element_bytes;
	unsigned dims;
	uint64_t shape[STORE_DIMS_MAX];
	uint64_t bytes;	       /* numel * element_bytes */
	uint64_t place_offset; /* within its place */
	unsigned place;
	uint64_t chunks; /* sums that it has; 0 when nothing is summed */
	uint64_t *sums;
};

struct store_manifest {
	unsigned char id[STORE_ID_BYTES];
	char *group;
	uint64_t generation;
	enum store_sum sum;
	uint64_t chunk_bytes;
	uint64_t encoded_bytes; /* of the manifest, the sum included */
	unsigned count;
	struct store_tensor *tensors;
};

/*
 * 0; -ENOENT all zeros where it should begin: never written; -EBADMSG it cannot be; -ENOTSUP
 * another version or checksum; -ENOMEM. @text says what is wrong, with the value and where it
 * stands. Nothing behind @count is looked at.
 */
int store_manifest_decode(const void *bytes, size_t count, struct store_manifest **ret_manifest,
			  char text[STORE_TEXT_BYTES]);
void store_manifest_free(struct store_manifest *manifest);

/* Bytes up to the next multiple of the unit. */
uint64_t store_padded(uint64_t bytes);

/* Numbers of the store, little-endian whatever the machine is. */
uint16_t store_u16(const unsigned char *at);
uint32_t store_u32(const unsigned char *at);
uint64_t store_u64(const unsigned char *at);

/* XXH64 with seed 0, as of every record. */
uint64_t store_record_sum(const void *bytes, size_t count);

#endif /* STORE_MANIFEST_H */
