/* SPDX-License-Identifier: MIT */
/*
 * scenario_tensors.c - the tensors of a workload: a list of them, the states of an optimizer
 * (presets.c), or those of a checkpoint (safetensors.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "presets.h"
#include "safetensors.h"
#include "scenario_schema.h"

static const struct yaml_node *key_place(const struct yaml_node *node, const char *key)
{
	const struct yaml_node *value = yaml_node_member(node, key);

	return value ? value : node;
}

/* Elements of a shape; refused where they are more than a tensor may have. */
static int shape_numel(struct scenario_reader *reader, const struct yaml_node *node, unsigned dims,
		       const uint64_t *shape, uint64_t *ret_numel)
{
	*ret_numel = 1;
	for (unsigned i = 0; i < dims; i++)
		if (shape[i] == 0)
			*ret_numel = 0;
	for (unsigned i = 0; *ret_numel && i < dims; i++)
		if (__builtin_mul_overflow(*ret_numel, shape[i], ret_numel) ||
		    *ret_numel > SCENARIO_NUMEL_MAX)
			return scenario_refuse(reader, node,
					       "shape: more than %llu elements in all",
					       (unsigned long long)SCENARIO_NUMEL_MAX);
	return 0;
}

/* A shape says how many elements there are; a numel beside it must agree. */
static int join_shape(struct scenario_reader *reader, const struct yaml_node *node, unsigned dims,
		      const uint64_t *shape, uint64_t *numel)
{
	const struct yaml_node *place = yaml_node_member(node, "shape");
	uint64_t product;

	if (!place)
		return 0;
	if (shape_numel(reader, place, dims, shape, &product) < 0)
		return -EINVAL;
	if (yaml_node_member(node, "numel") && *numel != product)
		return scenario_refuse(reader, place, "shape: holds %llu elements, numel says %llu",
				       (unsigned long long)product, (unsigned long long)*numel);
	*numel = product;
	return 0;
}

static int read_one(struct scenario_reader *reader, const struct yaml_node *node,
		    struct tensor *tensor)
{
	tensor_defaults(tensor);
	if (scenario_read_map(reader, tensor_keys, node, tensor, "tensors") < 0)
		return -EINVAL;
	if (!yaml_node_member(node, "numel") && !yaml_node_member(node, "shape"))
		return scenario_refuse(reader, node, "key 'numel' is missing in tensors");
	return join_shape(reader, node, tensor->dims, tensor->shape, &tensor->numel);
}

static int read_list(struct scenario_reader *reader, const struct yaml_node *node,
		     struct tensor *tensors, unsigned room, unsigned *ret_count)
{
	if (node->count < 1 || node->count > room)
		return scenario_refuse(reader, node, "tensors: %u given, must be 1 to %u",
				       node->count, room);
	for (unsigned i = 0; i < node->count; i++)
		if (read_one(reader, node->items[i], &tensors[i]) < 0)
			return -EINVAL;
	*ret_count = node->count;
	return 0;
}

static int read_preset(struct scenario_reader *reader, const struct yaml_node *node,
		       struct tensor *tensors, unsigned room, unsigned *ret_count)
{
	struct preset_asked asked = {.block = 256, .parameters = 1};
	char text[DIAG_TEXT_BYTES / 2];
	int count;

	if (scenario_read_map(reader, preset_keys, node, &asked, "a preset") < 0 ||
	    join_shape(reader, node, asked.dims, asked.shape, &asked.numel) < 0)
		return -EINVAL;
	count = preset_expand(&asked, tensors, room, text, sizeof(text));
	if (count < 0)
		return scenario_refuse(reader,
				       key_place(node, count == -ERANGE ? "parameters" : "preset"),
				       "%s", text);
	*ret_count = (unsigned)count;
	return 0;
}

/* A relative path begins where the scenario file lies. */
static int find_file(struct scenario_reader *reader, const struct yaml_node *node, const char *file,
		     char path[2 * DIAG_FILE_BYTES])
{
	const char *slash = strrchr(reader->path, '/');
	int bytes = file[0] != '/' && slash ? (int)(slash + 1 - reader->path) : 0;

	if (snprintf(path, 2 * DIAG_FILE_BYTES, "%.*s%s", bytes, reader->path, file) <
	    2 * DIAG_FILE_BYTES)
		return 0;
	return scenario_refuse(reader, node, "safetensors: the path is too long");
}

static int take_tensor(struct scenario_reader *reader, const struct yaml_node *node,
		       const struct checkpoint_asked *asked, const struct safetensors_tensor *from,
		       struct tensor *tensor)
{
	tensor_defaults(tensor);
	if (strlen(from->name) >= sizeof(tensor->name))
		return scenario_refuse(reader, node,
				       "safetensors: %s: the name %.40s... has %zu bytes, at most "
				       "%zu are taken",
				       asked->file, from->name, strlen(from->name),
				       sizeof(tensor->name) - 1);
	memcpy(tensor->name, from->name, strlen(from->name) + 1);
	tensor->numel = from->numel;
	tensor->dtype = from->dtype;
	tensor->dims = from->dims;
	memcpy(tensor->shape, from->shape, sizeof(tensor->shape));
	tensor->memory = asked->memory;
	tensor->pointer_offset_bytes = asked->pointer_offset_bytes;
	return 0;
}

static int take_tensors(struct scenario_reader *reader, const struct yaml_node *node,
			const struct checkpoint_asked *asked, const struct safetensors *file,
			struct tensor *tensors, unsigned room, unsigned *ret_count)
{
	size_t left = file->count > asked->first ? file->count - asked->first : 0;
	size_t count = asked->count ? asked->count : left;

	if (left == 0 || count > left)
		return scenario_refuse(reader, key_place(node, asked->count ? "count" : "first"),
				       "safetensors: %s has %zu tensors, from number %u on there "
				       "are %zu",
				       asked->file, file->count, asked->first, left);
	if (count > room)
		return scenario_refuse(reader, key_place(node, "safetensors"),
				       "safetensors: %zu tensors of %s, at most %u are taken: say "
				       "first and count",
				       count, asked->file, room);
	for (size_t i = 0; i < count; i++)
		if (take_tensor(reader, key_place(node, "safetensors"), asked,
				&file->tensors[asked->first + i], &tensors[i]) < 0)
			return -EINVAL;
	*ret_count = (unsigned)count;
	return 0;
}

static int read_checkpoint(struct scenario_reader *reader, const struct yaml_node *node,
			   struct tensor *tensors, unsigned room, unsigned *ret_count)
{
	struct checkpoint_asked asked = {.memory = MEMORY_ALIGNED};
	const struct yaml_node *place = yaml_node_member(node, "safetensors");
	char path[2 * DIAG_FILE_BYTES], text[DIAG_TEXT_BYTES / 2];
	struct safetensors *file = NULL;
	int error;

	if (scenario_read_map(reader, checkpoint_keys, node, &asked, "safetensors") < 0 ||
	    find_file(reader, place, asked.file, path) < 0)
		return -EINVAL;
	snprintf(reader->scenario->checkpoint, sizeof(reader->scenario->checkpoint), "%s", path);
	error = safetensors_read(path, &file, text, sizeof(text));
	if (error == -ENOMEM)
		return error;
	if (error < 0)
		return scenario_refuse(reader, place, "safetensors: %s: %s", asked.file, text);
	error = take_tensors(reader, node, &asked, file, tensors, room, ret_count);
	safetensors_free(file);
	return error;
}

int scenario_read_tensor_list(struct scenario_reader *reader, const struct yaml_node *node,
			      struct tensor *tensors, unsigned room, unsigned *ret_count)
{
	if (node->kind == YAML_KIND_LIST)
		return read_list(reader, node, tensors, room, ret_count);
	if (yaml_node_member(node, "preset"))
		return read_preset(reader, node, tensors, room, ret_count);
	if (yaml_node_member(node, "safetensors"))
		return read_checkpoint(reader, node, tensors, room, ret_count);
	return scenario_refuse(reader, node,
			       "tensors: %s, must be a list of tensors, or a map with preset or "
			       "safetensors",
			       yaml_kind_name(node->kind));
}

int scenario_read_tensors(struct scenario_reader *reader, const struct yaml_node *node)
{
	struct workload *workload = &reader->scenario->workload;

	return scenario_read_tensor_list(reader, node, workload->tensors, WORKLOAD_TENSORS_MAX,
					 &workload->tensors_count);
}
