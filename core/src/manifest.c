/* SPDX-License-Identifier: MIT */
/*
 * manifest.c - manifests in memory: made of what a caller wants to store, copied, measured.
 */
#include "manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "error.h"
#include "manifest_rules.h"

struct manifest *swapioi_manifest_alloc(unsigned count)
{
	struct manifest *manifest = calloc(1, sizeof(*manifest));

	if (!manifest)
		return NULL;
	manifest->tensors = calloc(count, sizeof(*manifest->tensors));
	if (!manifest->tensors) {
		free(manifest);
		return NULL;
	}
	manifest->count = count;
	return manifest;
}

void swapioi_manifest_destroy(struct manifest *manifest)
{
	if (!manifest)
		return;
	for (unsigned i = 0; i < manifest->count; i++) {
		free(manifest->tensors[i].name);
		free(manifest->tensors[i].sums);
	}
	free(manifest->tensors);
	free(manifest->group);
	free(manifest);
}

uint64_t swapioi_manifest_chunks(const struct manifest *manifest, unsigned tensor)
{
	uint64_t bytes = manifest_tensor_bytes(&manifest->tensors[tensor]);

	return bytes / manifest->chunk_bytes + !!(bytes % manifest->chunk_bytes);
}

int swapioi_manifest_alloc_sums(struct manifest *manifest, unsigned index)
{
	struct manifest_tensor *tensor = &manifest->tensors[index];
	uint64_t chunks = swapioi_manifest_chunks(manifest, index);

	if (manifest->checksum == SWAPIO_CHECKSUM_NONE || !chunks)
		return 0;
	tensor->sums = calloc(chunks, sizeof(*tensor->sums));
	return tensor->sums ? 0 : -ENOMEM;
}

/* Empty tensors have no extent, so the last that counts is the last with bytes. */
uint64_t swapioi_manifest_place_bytes(const struct manifest *manifest)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < manifest->count; i++)
		if (manifest->tensors[i].padded_bytes)
			end = manifest->tensors[i].offset_bytes + manifest->tensors[i].padded_bytes;
	return end;
}

static int check_name(const char *name, const char *what, struct swapio_error *error)
{
	size_t bytes = name ? strnlen(name, SWAPIO_NAME_BYTES_MAX + 1) : 0;

	if (bytes >= 1 && bytes <= SWAPIO_NAME_BYTES_MAX)
		return 0;
	if (!bytes)
		return swapioi_error(error, -EINVAL, "%s has no name, allowed: 1 to %d bytes", what,
				     SWAPIO_NAME_BYTES_MAX);
	return swapioi_error(error, -EINVAL,
			     "the name of %s has more than %d bytes and begins " NAME_SHOWN, what,
			     SWAPIO_NAME_BYTES_MAX, name);
}

static int check_numbers(const struct swapio_tensor *tensor, struct swapio_error *error)
{
	const char *name = tensor->name;

	if (!element_bytes_allowed(tensor->element_bytes))
		return swapioi_error(error, -EINVAL,
				     "tensor " NAME_SHOWN ": element_bytes is %" PRIu32
				     ", allowed: 1 to %u",
				     name, tensor->element_bytes, ELEMENT_BYTES_MAX);
	if (!numel_allowed(tensor->numel, tensor->element_bytes))
		return swapioi_error(error, -EINVAL,
				     "tensor " NAME_SHOWN ": numel is %" PRIu64
				     ", allowed: 0 to %" PRIu64 " with elements of %" PRIu32
				     " bytes",
				     name, tensor->numel, TENSOR_BYTES_MAX / tensor->element_bytes,
				     tensor->element_bytes);
	if (tensor->dtype &&
	    strnlen(tensor->dtype, SWAPIO_DTYPE_BYTES_MAX + 1) > SWAPIO_DTYPE_BYTES_MAX)
		return swapioi_error(error, -EINVAL,
				     "tensor " NAME_SHOWN
				     ": dtype begins \"%.16s\", allowed: up to %d bytes",
				     name, tensor->dtype, SWAPIO_DTYPE_BYTES_MAX);
	return 0;
}

static int check_shape(const struct swapio_tensor *tensor, struct swapio_error *error)
{
	if (tensor->dims > SWAPIO_DIMS_MAX)
		return swapioi_error(error, -EINVAL,
				     "tensor " NAME_SHOWN ": dims is %u, allowed: 0 to %d",
				     tensor->name, tensor->dims, SWAPIO_DIMS_MAX);
	if (tensor->dims && !tensor->shape)
		return swapioi_error(error, -EINVAL,
				     "tensor " NAME_SHOWN ": shape is NULL, with dims %u",
				     tensor->name, tensor->dims);
	if (tensor->dims && !swapioi_shape_is_numel(tensor->shape, tensor->dims, tensor->numel))
		return swapioi_error(error, -EINVAL,
				     "tensor " NAME_SHOWN
				     ": the product of its %u dimensions is not numel, %" PRIu64,
				     tensor->name, tensor->dims, tensor->numel);
	return 0;
}

static int check_tensor(const struct swapio_tensor *tensor, unsigned index,
			struct swapio_error *error)
{
	char what[32];
	int ret;

	if (tensor->size_bytes != sizeof(*tensor))
		return swapioi_error(error, -EINVAL, "size_bytes of tensor %u is %zu, allowed: %zu",
				     index, tensor->size_bytes, sizeof(*tensor));
	snprintf(what, sizeof(what), "tensor %u", index);
	ret = check_name(tensor->name, what, error);
	if (ret == 0)
		ret = check_numbers(tensor, error);
	if (ret == 0)
		ret = check_shape(tensor, error);
	return ret;
}

static int check_asked(const char *group, const struct swapio_tensor *tensors, unsigned count,
		       struct swapio_error *error)
{
	int ret = check_name(group, "the group", error);

	if (ret == 0 && (!count || count > SWAPIO_TENSORS_MAX))
		ret = swapioi_error(error, -EINVAL,
				    "group " NAME_SHOWN " has %u tensors, allowed: 1 to %u", group,
				    count, SWAPIO_TENSORS_MAX);
	if (ret == 0 && !tensors)
		ret = swapioi_error(error, -EINVAL, "group " NAME_SHOWN ": tensors is NULL", group);
	for (unsigned i = 0; i < count && ret == 0; i++)
		ret = check_tensor(&tensors[i], i, error);
	return ret;
}

static int copy_tensor(struct manifest *manifest, unsigned index, const struct swapio_tensor *from)
{
	struct manifest_tensor *to = &manifest->tensors[index];

	to->name = strdup(from->name);
	if (!to->name)
		return -ENOMEM;
	if (from->dtype)
		memcpy(to->dtype, from->dtype, strlen(from->dtype));
	to->numel = from->numel;
	to->element_bytes = from->element_bytes;
	to->dims = from->dims;
	if (from->dims)
		memcpy(to->shape, from->shape, from->dims * sizeof(*to->shape));
	return swapioi_manifest_alloc_sums(manifest, index);
}

/*
 * One after the other, each from a unit of its own; large ones so that they begin at a stride of
 * their volume, where the head's unit comes before everything.
 */
static int lay_out(struct manifest *manifest, struct swapio_error *error)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < manifest->count; i++) {
		struct manifest_tensor *tensor = &manifest->tensors[i];

		tensor->padded_bytes = round_up(manifest_tensor_bytes(tensor), STORE_UNIT);
		if (tensor->padded_bytes >= STORE_STRIDE)
			end = round_up(end + STORE_UNIT, STORE_STRIDE) - STORE_UNIT;
		tensor->offset_bytes = end;
		end += tensor->padded_bytes;
		if (end > PLACE_BYTES_MAX)
			return swapioi_error(error, -EINVAL,
					     "group " NAME_SHOWN ": its tensors up to " NAME_SHOWN
					     " take %" PRIu64 " bytes, allowed: %" PRIu64,
					     manifest->group, tensor->name, end, PLACE_BYTES_MAX);
	}
	return 0;
}

static int check_unique(const struct manifest *manifest, struct swapio_error *error)
{
	unsigned same[2];
	int ret = swapioi_manifest_names_differ(manifest, same);

	if (ret == -EEXIST)
		return swapioi_error(error, -EINVAL,
				     "group " NAME_SHOWN
				     ": tensors %u and %u have the same name, " NAME_SHOWN,
				     manifest->group, same[0], same[1],
				     manifest->tensors[same[0]].name);
	return ret;
}

static int fill(struct manifest *manifest, const char *group, const struct swapio_tensor *tensors,
		struct swapio_error *error)
{
	int ret = 0;

	manifest->group = strdup(group);
	if (!manifest->group)
		return -ENOMEM;
	for (unsigned i = 0; i < manifest->count && ret == 0; i++)
		ret = copy_tensor(manifest, i, &tensors[i]);
	if (ret == 0)
		ret = lay_out(manifest, error);
	if (ret == 0)
		ret = check_unique(manifest, error);
	return ret;
}

int swapioi_manifest_create(const char *group, const struct swapio_tensor *tensors, unsigned count,
			    enum swapio_checksum checksum, uint64_t chunk_bytes,
			    struct swapio_error *error, struct manifest **ret_manifest)
{
	struct manifest *manifest;
	int ret = check_asked(group, tensors, count, error);

	if (ret < 0)
		return ret;
	manifest = swapioi_manifest_alloc(count);
	if (manifest) {
		manifest->checksum = checksum;
		manifest->chunk_bytes = chunk_bytes;
		ret = fill(manifest, group, tensors, error);
	} else {
		ret = -ENOMEM;
	}
	if (ret == 0) {
		*ret_manifest = manifest;
		return 0;
	}
	swapioi_manifest_destroy(manifest);
	if (ret == -ENOMEM)
		swapioi_error(error, ret,
			      "no memory for the manifest of " NAME_SHOWN " with %u tensors", group,
			      count);
	return ret;
}

static int dup_tensor(struct manifest *to, const struct manifest *from, unsigned index)
{
	const struct manifest_tensor *source = &from->tensors[index];
	struct manifest_tensor *tensor = &to->tensors[index];
	int ret;

	*tensor = *source;
	tensor->sums = NULL;
	tensor->name = strdup(source->name);
	if (!tensor->name)
		return -ENOMEM;
	ret = swapioi_manifest_alloc_sums(to, index);
	if (ret == 0 && tensor->sums)
		memcpy(tensor->sums, source->sums,
		       swapioi_manifest_chunks(from, index) * sizeof(*tensor->sums));
	return ret;
}

int swapioi_manifest_dup(const struct manifest *from, struct manifest **ret_manifest)
{
	struct manifest *manifest = swapioi_manifest_alloc(from->count);
	int ret = 0;

	if (!manifest)
		return -ENOMEM;
	memcpy(manifest->store_id, from->store_id, sizeof(manifest->store_id));
	manifest->generation = from->generation;
	manifest->checksum = from->checksum;
	manifest->chunk_bytes = from->chunk_bytes;
	manifest->group = strdup(from->group);
	if (!manifest->group)
		ret = -ENOMEM;
	for (unsigned i = 0; i < from->count && ret == 0; i++)
		ret = dup_tensor(manifest, from, i);
	if (ret < 0) {
		swapioi_manifest_destroy(manifest);
		return ret;
	}
	*ret_manifest = manifest;
	return 0;
}
