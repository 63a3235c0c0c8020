/* SPDX-License-Identifier: MIT */
/*
 * manifest_encode.c - a manifest as bytes.
 */
#include "checksum.h"
#include "manifest_bytes.h"

static size_t exact_bytes(const struct manifest *manifest)
{
	size_t bytes = MANIFEST_AT_GROUP + name_room(strlen(manifest->group)) + SUM_BYTES;

	for (unsigned i = 0; i < manifest->count; i++) {
		const struct manifest_tensor *tensor = &manifest->tensors[i];

		bytes += TENSOR_AT_SHAPE + tensor->dims * sizeof(uint64_t) +
			 name_room(strlen(tensor->name)) +
			 (size_t)manifest_sums(manifest, i) * SUM_BYTES;
	}
	return bytes;
}

size_t swapioi_manifest_encoded_bytes(const struct manifest *manifest)
{
	return (size_t)round_up(exact_bytes(manifest), STORE_UNIT);
}

static unsigned char *put_numbers(unsigned char *at, const uint64_t *numbers, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++, at += sizeof(*numbers))
		put_u64(at, numbers[i]);
	return at;
}

static unsigned char *put_name(unsigned char *at, const char *name)
{
	size_t bytes = strlen(name);

	memcpy(at, name, bytes);
	return at + name_room(bytes);
}

static unsigned char *put_tensor(unsigned char *at, const struct manifest *manifest, unsigned index)
{
	const struct manifest_tensor *tensor = &manifest->tensors[index];

	put_u64(at + TENSOR_AT_NUMEL, tensor->numel);
	put_u64(at + TENSOR_AT_OFFSET, tensor->offset_bytes);
	put_u32(at + TENSOR_AT_ELEMENT_BYTES, tensor->element_bytes);
	put_u16(at + TENSOR_AT_NAME_BYTES, (uint16_t)strlen(tensor->name));
	at[TENSOR_AT_DIMS] = (unsigned char)tensor->dims;
	at[TENSOR_AT_PLACE] = (unsigned char)tensor->place;
	memcpy(at + TENSOR_AT_DTYPE, tensor->dtype, sizeof(tensor->dtype));
	at = put_numbers(at + TENSOR_AT_SHAPE, tensor->shape, tensor->dims);
	at = put_name(at, tensor->name);
	return put_numbers(at, tensor->sums, manifest_sums(manifest, index));
}

void swapioi_manifest_encode(const struct manifest *manifest, void *bytes)
{
	unsigned char *start = bytes, *at;
	size_t exact = exact_bytes(manifest);

	memset(start, 0, swapioi_manifest_encoded_bytes(manifest));
	memcpy(start, MANIFEST_MAGIC, MANIFEST_AT_VERSION);
	put_u32(start + MANIFEST_AT_VERSION, MANIFEST_VERSION);
	put_u32(start + MANIFEST_AT_CHECKSUM, manifest->checksum);
	put_u64(start + MANIFEST_AT_BYTES, exact);
	memcpy(start + MANIFEST_AT_STORE_ID, manifest->store_id, sizeof(manifest->store_id));
	put_u64(start + MANIFEST_AT_GENERATION, manifest->generation);
	put_u64(start + MANIFEST_AT_CHUNK_BYTES, manifest->chunk_bytes);
	put_u32(start + MANIFEST_AT_COUNT, manifest->count);
	put_u32(start + MANIFEST_AT_GROUP_BYTES, (uint32_t)strlen(manifest->group));
	at = put_name(start + MANIFEST_AT_GROUP, manifest->group);
	for (unsigned i = 0; i < manifest->count; i++)
		at = put_tensor(at, manifest, i);
	put_u64(at, swapioi_record_sum(start, exact - SUM_BYTES));
}
