/* SPDX-License-Identifier: MIT */
/*
 * store_manifest.c - decodes a manifest, however hostile. Every length is compared with what is
 * left before it is used.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "store_manifest.h"

#define MAGIC "SWAPMANI"
#define VERSION 1u
#define HEAD_BYTES 64u
#define TENSOR_HEAD_BYTES 40u
#define SUM_BYTES 8u
#define TENSORS_MAX 65536u
#define ELEMENT_BYTES_MAX 64u
#define TENSOR_BYTES_MAX (UINT64_C(1) << 56)
/* xxhash before 0.8 has another XXH3. */
#define SUM_LAST (XXH_VERSION_NUMBER >= 800 ? STORE_SUM_XXH3 : STORE_SUM_XXH64)

struct decoder {
	const unsigned char *bytes;
	size_t end; /* of what may be read: where the sum begins */
	size_t at;
	char *text;
	struct store_manifest *manifest;
};

uint16_t store_u16(const unsigned char *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

uint32_t store_u32(const unsigned char *at)
{
	return store_u16(at) | (uint32_t)store_u16(at + 2) << 16;
}

uint64_t store_u64(const unsigned char *at)
{
	return store_u32(at) | (uint64_t)store_u32(at + 4) << 32;
}

uint64_t store_record_sum(const void *bytes, size_t count)
{
	return XXH64(bytes, count, 0);
}

uint64_t store_padded(uint64_t bytes)
{
	return (bytes + STORE_UNIT - 1) / STORE_UNIT * STORE_UNIT;
}

static __attribute__((format(printf, 3, 4))) int refuse(const struct decoder *decoder, int error,
							const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(decoder->text, STORE_TEXT_BYTES, format, arguments);
	va_end(arguments);
	return error;
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

static size_t left(const struct decoder *decoder)
{
	return decoder->end - decoder->at;
}

/* A name of @bytes without NUL, and the zeros behind it. */
static int take_name(struct decoder *decoder, const char *whose, unsigned bytes, char **ret_name)
{
	size_t padded = ((size_t)bytes + 7) / 8 * 8;
	const unsigned char *name = decoder->bytes + decoder->at;

	if (bytes == 0 || bytes > STORE_NAME_BYTES_MAX)
		return refuse(decoder, -EBADMSG, "byte %zu: the name of %s has %u bytes, 1 to %u",
			      decoder->at, whose, bytes, STORE_NAME_BYTES_MAX);
	if (padded > left(decoder))
		return refuse(decoder, -EBADMSG,
			      "byte %zu: the name of %s ends behind the manifest", decoder->at,
			      whose);
	if (memchr(name, 0, bytes) || !is_zero(name + bytes, padded - bytes))
		return refuse(decoder, -EBADMSG, "byte %zu: the name of %s is not ended by zeros",
			      decoder->at, whose);
	*ret_name = strndup((const char *)name, bytes);
	decoder->at += padded;
	return *ret_name ? 0 : -ENOMEM;
}

static int check_shape(const struct decoder *decoder, unsigned index,
		       const struct store_tensor *tensor)
{
	uint64_t product = 1;
	bool overflows = false;

	for (unsigned i = 0; i < tensor->dims; i++)
		if (tensor->shape[i] == 0)
			product = 0;
	for (unsigned i = 0; product && i < tensor->dims; i++)
		overflows |= __builtin_mul_overflow(product, tensor->shape[i], &product);
	if (tensor->dims && (overflows || product != tensor->numel))
		return refuse(decoder, -EBADMSG,
			      "tensor %u: its shape does not hold its %llu elements", index,
			      (unsigned long long)tensor->numel);
	return 0;
}

static int check_numbers(const struct decoder *decoder, unsigned index,
			 const struct store_tensor *tensor, unsigned place)
{
	unsigned long long bytes;

	if (tensor->element_bytes == 0 || tensor->element_bytes > ELEMENT_BYTES_MAX)
		return refuse(decoder, -EBADMSG, "tensor %u: %u bytes an element, 1 to %u", index,
			      tensor->element_bytes, ELEMENT_BYTES_MAX);
	if (__builtin_mul_overflow(tensor->numel, tensor->element_bytes, &bytes) ||
	    bytes > TENSOR_BYTES_MAX)
		return refuse(decoder, -EBADMSG, "tensor %u: %llu elements of %u bytes", index,
			      (unsigned long long)tensor->numel, tensor->element_bytes);
	if (tensor->place_offset % STORE_UNIT)
		return refuse(decoder, -EBADMSG, "tensor %u: offset %llu is no multiple of %u",
			      index, (unsigned long long)tensor->place_offset, STORE_UNIT);
	if (tensor->dims > STORE_DIMS_MAX)
		return refuse(decoder, -EBADMSG, "tensor %u: %u dimensions, 0 to %u", index,
			      tensor->dims, STORE_DIMS_MAX);
	if (place > 1)
		return refuse(decoder, -EBADMSG, "tensor %u: place %u, 0 or 1", index, place);
	return 0;
}

/* The element type is text, and nothing but zeros follow it. */
static int take_dtype(const struct decoder *decoder, unsigned index, const unsigned char *at,
		      struct store_tensor *tensor)
{
	size_t length = strnlen((const char *)at, STORE_DTYPE_BYTES);

	if (length == STORE_DTYPE_BYTES || !is_zero(at + length, STORE_DTYPE_BYTES - length))
		return refuse(decoder, -EBADMSG,
			      "tensor %u: its element type is not ended by zeros", index);
	memcpy(tensor->dtype, at, STORE_DTYPE_BYTES);
	return 0;
}

static int take_sums(struct decoder *decoder, unsigned index, struct store_tensor *tensor)
{
	const struct store_manifest *manifest = decoder->manifest;

	if (manifest->sum == STORE_SUM_NONE || tensor->bytes == 0)
		return 0;
	tensor->chunks = (tensor->bytes - 1) / manifest->chunk_bytes + 1;
	if (tensor->chunks > left(decoder) / SUM_BYTES)
		return refuse(decoder, -EBADMSG,
			      "tensor %u: %llu checksums do not fit into the %zu bytes left", index,
			      (unsigned long long)tensor->chunks, left(decoder));
	tensor->sums = malloc(tensor->chunks * sizeof(*tensor->sums));
	if (!tensor->sums)
		return -ENOMEM;
	for (uint64_t i = 0; i < tensor->chunks; i++, decoder->at += SUM_BYTES)
		tensor->sums[i] = store_u64(decoder->bytes + decoder->at);
	return 0;
}

static int take_shape(struct decoder *decoder, unsigned index, struct store_tensor *tensor)
{
	if (tensor->dims * sizeof(uint64_t) > left(decoder))
		return refuse(decoder, -EBADMSG, "tensor %u: its shape ends behind the manifest",
			      index);
	for (unsigned i = 0; i < tensor->dims; i++, decoder->at += sizeof(uint64_t))
		tensor->shape[i] = store_u64(decoder->bytes + decoder->at);
	return check_shape(decoder, index, tensor);
}

static int take_tensor(struct decoder *decoder, unsigned index)
{
	struct store_tensor *tensor = &decoder->manifest->tensors[index];
	const unsigned char *at = decoder->bytes + decoder->at;
	char whose[32];
	int error;

	if (left(decoder) < TENSOR_HEAD_BYTES)
		return refuse(decoder, -EBADMSG,
			      "byte %zu: tensor %u of %u ends behind the manifest", decoder->at,
			      index, decoder->manifest->count);
	tensor->numel = store_u64(at);
	tensor->place_offset = store_u64(at + 8);
	tensor->element_bytes = store_u32(at + 16);
	tensor->dims = at[22];
	tensor->place = at[23];
	error = check_numbers(decoder, index, tensor, tensor->place);
	if (error == 0)
		error = take_dtype(decoder, index, at + 24, tensor);
	tensor->bytes = tensor->numel * tensor->element_bytes;
	decoder->at += TENSOR_HEAD_BYTES;
	if (error == 0)
		error = take_shape(decoder, index, tensor);
	snprintf(whose, sizeof(whose), "tensor %u", index);
	if (error == 0)
		error = take_name(decoder, whose, store_u16(at + 20), &tensor->name);
	return error ? error : take_sums(decoder, index, tensor);
}

static int check_order(const struct decoder *decoder)
{
	const struct store_manifest *manifest = decoder->manifest;
	uint64_t end = 0;

	for (unsigned i = 0; i < manifest->count; i++) {
		const struct store_tensor *tensor = &manifest->tensors[i];

		if (tensor->place_offset < end)
			return refuse(decoder, -EBADMSG,
				      "tensor %s begins at %llu, before the end of another at %llu",
				      tensor->name, (unsigned long long)tensor->place_offset,
				      (unsigned long long)end);
		if (__builtin_add_overflow(tensor->place_offset, store_padded(tensor->bytes), &end))
			return refuse(decoder, -EBADMSG, "tensor %s begins at %llu", tensor->name,
				      (unsigned long long)tensor->place_offset);
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_twins(const struct decoder *decoder)
{
	const struct store_manifest *manifest = decoder->manifest;
	char **names = malloc(manifest->count * sizeof(*names));
	int error = names ? 0 : -ENOMEM;

	for (unsigned i = 0; names && i < manifest->count; i++)
		names[i] = manifest->tensors[i].name;
	if (names)
		qsort(names, manifest->count, sizeof(*names), compare_names);
	for (unsigned i = 1; error == 0 && i < manifest->count; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			error = refuse(decoder, -EBADMSG, "two tensors are named %s", names[i]);
	free(names);
	return error;
}

/* What begins like a manifest, and is whole. */
static int check_record(struct decoder *decoder, size_t count)
{
	const unsigned char *bytes = decoder->bytes;
	uint64_t encoded;

	if (count < HEAD_BYTES)
		return refuse(decoder, -EBADMSG, "%zu bytes are no manifest", count);
	if (memcmp(bytes, MAGIC, 8) != 0) {
		if (is_zero(bytes, HEAD_BYTES))
			return refuse(decoder, -ENOENT, "no manifest was written here");
		return refuse(decoder, -EBADMSG, "it does not begin with " MAGIC);
	}
	encoded = store_u64(bytes + 16);
	if (encoded < HEAD_BYTES + SUM_BYTES || encoded > count || encoded % 8)
		return refuse(decoder, -EBADMSG,
			      "byte 16: the manifest has %llu bytes, its slot %zu",
			      (unsigned long long)encoded, count);
	decoder->end = encoded - SUM_BYTES;
	if (store_record_sum(bytes, decoder->end) != store_u64(bytes + decoder->end))
		return refuse(decoder, -EBADMSG, "the sum of the manifest is wrong");
	if (store_u32(bytes + 8) != VERSION)
		return refuse(decoder, -ENOTSUP, "version %u, known is %u", store_u32(bytes + 8),
			      VERSION);
	return 0;
}

static int take_head(struct decoder *decoder)
{
	struct store_manifest *manifest = decoder->manifest;
	const unsigned char *bytes = decoder->bytes;
	uint32_t sum = store_u32(bytes + 12);

	if (sum > SUM_LAST)
		return refuse(decoder, -ENOTSUP, "checksum algorithm %u, known are 0 to %d", sum,
			      SUM_LAST);
	manifest->sum = (enum store_sum)sum;
	manifest->encoded_bytes = decoder->end + SUM_BYTES;
	memcpy(manifest->id, bytes + 24, STORE_ID_BYTES);
	manifest->generation = store_u64(bytes + 40);
	manifest->chunk_bytes = store_u64(bytes + 48);
	manifest->count = store_u32(bytes + 56);
	if (manifest->generation == 0)
		return refuse(decoder, -EBADMSG, "generation 0");
	if (manifest->chunk_bytes == 0 || manifest->chunk_bytes % STORE_UNIT)
		return refuse(decoder, -EBADMSG, "chunks of %llu bytes",
			      (unsigned long long)manifest->chunk_bytes);
	/* Each has a head and a name at least: no more are believed in than there is room for. */
	if (manifest->count == 0 || manifest->count > TENSORS_MAX ||
	    manifest->count > decoder->end / (TENSOR_HEAD_BYTES + 8))
		return refuse(decoder, -EBADMSG, "%u tensors in %zu bytes", manifest->count,
			      decoder->end);
	decoder->at = HEAD_BYTES;
	return take_name(decoder, "the group", store_u32(bytes + 60), &manifest->group);
}

static int decode(struct decoder *decoder)
{
	struct store_manifest *manifest = decoder->manifest;
	int error = take_head(decoder);

	if (error < 0)
		return error;
	manifest->tensors = calloc(manifest->count, sizeof(*manifest->tensors));
	if (!manifest->tensors)
		return -ENOMEM;
	for (unsigned i = 0; i < manifest->count; i++) {
		error = take_tensor(decoder, i);
		if (error < 0)
			return error;
	}
	if (decoder->at != decoder->end)
		return refuse(decoder, -EBADMSG,
			      "%zu bytes lie between the last tensor and the sum", left(decoder));
	error = check_order(decoder);
	return error ? error : check_twins(decoder);
}

int store_manifest_decode(const void *bytes, size_t count, struct store_manifest **ret_manifest,
			  char text[STORE_TEXT_BYTES])
{
	struct decoder decoder = {.bytes = bytes, .text = text};
	int error = check_record(&decoder, count);

	if (error < 0)
		return error;
	decoder.manifest = calloc(1, sizeof(*decoder.manifest));
	error = decoder.manifest ? decode(&decoder) : -ENOMEM;
	if (error == -ENOMEM)
		refuse(&decoder, error, "out of memory");
	if (error < 0)
		store_manifest_free(decoder.manifest);
	else
		*ret_manifest = decoder.manifest;
	return error;
}

void store_manifest_free(struct store_manifest *manifest)
{
	if (!manifest)
		return;
	for (unsigned i = 0; manifest->tensors && i < manifest->count; i++) {
		free(manifest->tensors[i].name);
		free(manifest->tensors[i].sums);
	}
	free(manifest->tensors);
	free(manifest->group);
	free(manifest);
}
