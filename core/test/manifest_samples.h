/* SPDX-License-Identifier: MIT */
/*
 * manifest_samples.h - manifests that tests encode, and bytes whose sum is made right again.
 */
#ifndef TEST_MANIFEST_SAMPLES_H
#define TEST_MANIFEST_SAMPLES_H

#include "checksum.h"
#include "helpers.h"
#include "manifest_bytes.h"

static inline struct manifest *make_manifest(const char *group, const struct swapio_tensor *tensors,
					     unsigned count, enum swapio_checksum checksum,
					     uint64_t chunk_bytes)
{
	struct swapio_error error = {0};
	struct manifest *manifest = NULL;

	if (swapioi_manifest_create(group, tensors, count, checksum, chunk_bytes, &error,
				    &manifest) < 0)
		fail_msg("swapioi_manifest_create: %s", error.text);
	return manifest;
}

/* An optimizer's states: a scalar step, two moments of several chunks, and an empty tensor. */
static inline struct manifest *sample_manifest(void)
{
	static const uint64_t shape[] = {50, 101};
	struct swapio_tensor tensors[] = {tensor_of("step", 1, 4), tensor_of("exp_avg", 5050, 4),
					  tensor_of("exp_avg_sq", 5050, 2),
					  tensor_of("none", 0, 8)};
	struct manifest *manifest;

	tensors[1].shape = shape;
	tensors[1].dims = 2;
	tensors[1].dtype = "fp32";
	tensors[2].dtype = "fifteen letters";
	manifest = make_manifest("layer.0", tensors, 4, SWAPIO_CHECKSUM_XXH64, 4096);
	manifest->generation = 7;
	memset(manifest->store_id, 0xab, sizeof(manifest->store_id));
	manifest->tensors[1].place = 1;
	for (unsigned i = 0; i < manifest->count; i++)
		for (uint64_t chunk = 0; chunk < manifest_sums(manifest, i); chunk++)
			manifest->tensors[i].sums[chunk] = 1000 * i + chunk;
	return manifest;
}

static inline unsigned char *encode(const struct manifest *manifest)
{
	unsigned char *bytes = malloc(swapioi_manifest_encoded_bytes(manifest));

	assert_non_null(bytes);
	swapioi_manifest_encode(manifest, bytes);
	return bytes;
}

/* Make the sum fit what was changed, if the length still says where it stands. */
static inline void sum_again(unsigned char *bytes, size_t count)
{
	uint64_t exact = count < MANIFEST_AT_GROUP ? 0 : get_u64(bytes + MANIFEST_AT_BYTES);

	if (exact >= MANIFEST_AT_GROUP + SUM_BYTES && exact <= count)
		put_u64(bytes + exact - SUM_BYTES, swapioi_record_sum(bytes, exact - SUM_BYTES));
}

#endif /* TEST_MANIFEST_SAMPLES_H */
