/* SPDX-License-Identifier: MIT */
/*
 * manifest_decode.c - bytes as a manifest. They may be anything: nothing is believed before it was
 * checked, and nothing is allocated that the bytes are not long enough for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "checksum.h"
#include "error.h"
#include "manifest_bytes.h"

/* What is left to be read. */
struct cursor {
	const unsigned char *at;
	size_t left;
	struct swapio_error *error;
};

/* @bytes of it, or NULL if there are not so many. */
static const unsigned char *take(struct cursor *cursor, uint64_t bytes)
{
	const unsigned char *at = cursor->at;

	if (bytes > cursor->left)
		return NULL;
	cursor->at += bytes;
	cursor->left -= (size_t)bytes;
	return at;
}

static int ends_early(const struct cursor *cursor, const char *what)
{
	return swapioi_error(cursor->error, -EBADMSG, "the manifest ends within %s", what);
}

/* A name of @bytes, with zeros behind it up to a multiple of 8. */
static int take_name(struct cursor *cursor, uint32_t bytes, const char *what, char **ret_name)
{
	const unsigned char *at;
	size_t room;

	if (bytes < 1 || bytes > SWAPIO_NAME_BYTES_MAX)
		return swapioi_error(cursor->error, -EBADMSG,
				     "the name of %s has %" PRIu32 " bytes, allowed: 1 to %d", what,
				     bytes, SWAPIO_NAME_BYTES_MAX);
	room = name_room(bytes);
	at = take(cursor, room);
	if (!at)
		return ends_early(cursor, "a name");
	if (memchr(at, 0, bytes) || !all_zeros(at + bytes, room - bytes))
		return swapioi_error(cursor->error, -EBADMSG,
				     "the name of %s has a zero in it, or none behind it", what);
	*ret_name = calloc(1, bytes + (size_t)1);
	if (!*ret_name)
		return -ENOMEM;
	memcpy(*ret_name, at, bytes);
	return 0;
}

static int take_numbers(struct cursor *cursor, uint64_t *numbers, uint64_t count, const char *what)
{
	/* @count is below 2^56 / 4096. */
	const unsigned char *at = take(cursor, count * sizeof(*numbers));

	if (!at)
		return ends_early(cursor, what);
	for (uint64_t i = 0; i < count; i++)
		numbers[i] = get_u64(at + i * sizeof(*numbers));
	return 0;
}

static int check_dtype(const char dtype[SWAPIO_DTYPE_BYTES_MAX + 1])
{
	size_t bytes = strnlen(dtype, SWAPIO_DTYPE_BYTES_MAX + 1);

	return all_zeros(dtype + bytes, SWAPIO_DTYPE_BYTES_MAX + 1 - bytes) &&
			       bytes <= SWAPIO_DTYPE_BYTES_MAX
		       ? 0
		       : -EBADMSG;
}

/* Numbers of a fixed place; the rest of the record depends on them. */
static int read_tensor_head(struct cursor *cursor, struct manifest_tensor *tensor, unsigned index,
			    uint32_t *ret_name_bytes)
{
	const unsigned char *at = take(cursor, TENSOR_AT_SHAPE);

	if (!at)
		return ends_early(cursor, "a tensor");
	tensor->numel = get_u64(at + TENSOR_AT_NUMEL);
	tensor->offset_bytes = get_u64(at + TENSOR_AT_OFFSET);
	tensor->element_bytes = get_u32(at + TENSOR_AT_ELEMENT_BYTES);
	tensor->dims = at[TENSOR_AT_DIMS];
	tensor->place = at[TENSOR_AT_PLACE];
	memcpy(tensor->dtype, at + TENSOR_AT_DTYPE, sizeof(tensor->dtype));
	*ret_name_bytes = get_u16(at + TENSOR_AT_NAME_BYTES);
	if (!element_bytes_allowed(tensor->element_bytes) ||
	    !numel_allowed(tensor->numel, tensor->element_bytes))
		return swapioi_error(cursor->error, -EBADMSG,
				     "tensor %u has %" PRIu64 " elements of %" PRIu32 " bytes",
				     index, tensor->numel, tensor->element_bytes);
	if (tensor->dims > SWAPIO_DIMS_MAX || tensor->place > 1 || check_dtype(tensor->dtype) < 0)
		return swapioi_error(cursor->error, -EBADMSG,
				     "tensor %u has %u dimensions, place %u, or a type that does "
				     "not end",
				     index, tensor->dims, tensor->place);
	tensor->padded_bytes = round_up(manifest_tensor_bytes(tensor), STORE_UNIT);
	return 0;
}

/* In order of offset, without overlap; @end is where the last one ended. */
static int check_extent(const struct manifest_tensor *tensor, unsigned index, uint64_t end,
			struct swapio_error *error)
{
	if (tensor->offset_bytes % STORE_UNIT == 0 && tensor->offset_bytes >= end &&
	    tensor->offset_bytes <= PLACE_BYTES_MAX &&
	    tensor->padded_bytes <= PLACE_BYTES_MAX - tensor->offset_bytes)
		return 0;
	return swapioi_error(error, -EBADMSG,
			     "tensor %u begins at %" PRIu64 " with %" PRIu64
			     " bytes, and the one before ends at %" PRIu64,
			     index, tensor->offset_bytes, tensor->padded_bytes, end);
}

static int read_tensor_rest(struct cursor *cursor, struct manifest *manifest, unsigned index,
			    uint32_t name_bytes)
{
	struct manifest_tensor *tensor = &manifest->tensors[index];
	uint64_t sums = manifest_sums(manifest, index);
	char what[32];
	int ret;

	snprintf(what, sizeof(what), "tensor %u", index);
	ret = take_numbers(cursor, tensor->shape, tensor->dims, "a shape");
	if (ret == 0 && tensor->dims &&
	    !swapioi_shape_is_numel(tensor->shape, tensor->dims, tensor->numel))
		ret = swapioi_error(cursor->error, -EBADMSG,
				    "the shape of tensor %u is not of %" PRIu64 " elements", index,
				    tensor->numel);
	if (ret == 0)
		ret = take_name(cursor, name_bytes, what, &tensor->name);
	if (ret == 0 && sums > cursor->left / SUM_BYTES)
		ret = ends_early(cursor, "the checksums of a tensor");
	if (ret == 0)
		ret = swapioi_manifest_alloc_sums(manifest, index);
	if (ret == 0)
		ret = take_numbers(cursor, tensor->sums, sums, "the checksums of a tensor");
	return ret;
}

static int read_tensors(struct cursor *cursor, struct manifest *manifest)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < manifest->count; i++) {
		struct manifest_tensor *tensor = &manifest->tensors[i];
		uint32_t name_bytes = 0;
		int ret = read_tensor_head(cursor, tensor, i, &name_bytes);

		if (ret == 0)
			ret = check_extent(tensor, i, end, cursor->error);
		if (ret == 0)
			ret = read_tensor_rest(cursor, manifest, i, name_bytes);
		if (ret < 0)
			return ret;
		end = tensor->offset_bytes + tensor->padded_bytes;
	}
	return 0;
}

static int check_whole(const struct cursor *cursor, const struct manifest *manifest)
{
	unsigned same[2];
	int ret;

	if (cursor->left)
		return swapioi_error(cursor->error, -EBADMSG,
				     "%zu bytes of the manifest are behind its last tensor",
				     cursor->left);
	ret = swapioi_manifest_names_differ(manifest, same);
	if (ret == -EEXIST)
		return swapioi_error(cursor->error, -EBADMSG, "tensors %u and %u have one name",
				     same[0], same[1]);
	return ret;
}

static int read_body(struct cursor *cursor, struct manifest *manifest, uint32_t group_bytes)
{
	int ret = take_name(cursor, group_bytes, "the group", &manifest->group);

	if (ret == 0)
		ret = read_tensors(cursor, manifest);
	if (ret == 0)
		ret = check_whole(cursor, manifest);
	return ret;
}

/* The sum stands behind everything, version and algorithm included, and so is looked at first. */
static int check_sum(const unsigned char *bytes, size_t count, size_t *ret_exact,
		     struct swapio_error *error)
{
	uint64_t exact;

	if (count < MANIFEST_AT_GROUP || memcmp(bytes, MANIFEST_MAGIC, MANIFEST_AT_VERSION) != 0)
		return swapioi_error(error, -EBADMSG, "no manifest is there, but something is");
	exact = get_u64(bytes + MANIFEST_AT_BYTES);
	if (exact < MANIFEST_AT_GROUP + SUM_BYTES || exact > count)
		return swapioi_error(error, -EBADMSG,
				     "the manifest says that it has %" PRIu64
				     " bytes, its slot has %zu",
				     exact, count);
	*ret_exact = (size_t)exact - SUM_BYTES;
	if (swapioi_record_sum(bytes, *ret_exact) != get_u64(bytes + *ret_exact))
		return swapioi_error(error, -EBADMSG,
				     "the sum of the manifest differs: it is torn or damaged");
	return 0;
}

static int check_head(const unsigned char *bytes, size_t exact, struct swapio_error *error)
{
	uint32_t version = get_u32(bytes + MANIFEST_AT_VERSION);
	uint32_t checksum = get_u32(bytes + MANIFEST_AT_CHECKSUM);
	uint64_t chunk_bytes = get_u64(bytes + MANIFEST_AT_CHUNK_BYTES);
	uint64_t generation = get_u64(bytes + MANIFEST_AT_GENERATION);
	uint32_t count = get_u32(bytes + MANIFEST_AT_COUNT);

	if (version != MANIFEST_VERSION)
		return swapioi_error(error, -ENOTSUP,
				     "the manifest has version %" PRIu32 ", known here: %u",
				     version, MANIFEST_VERSION);
	if (!swapioi_checksum_known((enum swapio_checksum)checksum))
		return swapioi_error(error, -ENOTSUP,
				     "the manifest has checksums of algorithm %" PRIu32
				     ", which this build does not know",
				     checksum);
	if (!chunk_bytes_allowed(chunk_bytes) || !generation)
		return swapioi_error(error, -EBADMSG,
				     "the manifest has chunks of %" PRIu64
				     " bytes and generation %" PRIu64,
				     chunk_bytes, generation);
	if (!count || count > SWAPIO_TENSORS_MAX || count > exact / TENSOR_AT_SHAPE)
		return swapioi_error(error, -EBADMSG,
				     "the manifest has %" PRIu32 " tensors in %zu bytes", count,
				     exact);
	return 0;
}

static int decode(const unsigned char *bytes, size_t exact, struct manifest *manifest,
		  struct swapio_error *error)
{
	struct cursor cursor = {
		.at = bytes + MANIFEST_AT_GROUP, .left = exact - MANIFEST_AT_GROUP, .error = error};

	memcpy(manifest->store_id, bytes + MANIFEST_AT_STORE_ID, sizeof(manifest->store_id));
	manifest->checksum = (enum swapio_checksum)get_u32(bytes + MANIFEST_AT_CHECKSUM);
	manifest->chunk_bytes = get_u64(bytes + MANIFEST_AT_CHUNK_BYTES);
	manifest->generation = get_u64(bytes + MANIFEST_AT_GENERATION);
	return read_body(&cursor, manifest, get_u32(bytes + MANIFEST_AT_GROUP_BYTES));
}

int swapioi_manifest_decode(const void *bytes, size_t count, struct manifest **ret_manifest,
			    struct swapio_error *error)
{
	struct manifest *manifest;
	size_t exact = 0;
	int ret;

	if (all_zeros(bytes, count < STORE_UNIT ? count : STORE_UNIT))
		return swapioi_error(error, -ENOENT, "no manifest was ever written there");
	ret = check_sum(bytes, count, &exact, error);
	if (ret == 0)
		ret = check_head(bytes, exact, error);
	if (ret < 0)
		return ret;
	manifest =
		swapioi_manifest_alloc(get_u32((const unsigned char *)bytes + MANIFEST_AT_COUNT));
	ret = manifest ? decode(bytes, exact, manifest, error) : -ENOMEM;
	if (ret == 0) {
		*ret_manifest = manifest;
		return 0;
	}
	swapioi_manifest_destroy(manifest);
	if (ret == -ENOMEM)
		swapioi_error(error, ret, "no memory for a manifest of %zu bytes", exact);
	return ret;
}
