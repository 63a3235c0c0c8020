/* SPDX-License-Identifier: MIT */
/*
 * scenario_check.c - contradictions between keys, and names that must exist.
 */
#include <errno.h>
#include <string.h>

#include "nearest.h"
#include "points.h"
#include "scenario_schema.h"

/* The node at top.key, or the nearest one above that exists: where to point. */
static const struct yaml_node *place_of(const struct yaml_node *root, const char *top,
					const char *key)
{
	const struct yaml_node *node = yaml_node_member(root, top);
	const struct yaml_node *value = key ? yaml_node_member(node, key) : NULL;

	return value ? value : node ? node : root;
}

static int check_what_runs(struct scenario_reader *reader, const struct yaml_node *root)
{
	if (!yaml_node_member(root, "swap") && !yaml_node_member(root, "program"))
		return scenario_refuse(reader, root, "key 'swap' or 'program' is missing");
	return scenario_check_program(reader, root);
}

/* Tensors that were not listed one by one have the place of what made them. */
static const struct yaml_node *tensor_node(const struct yaml_node *root, unsigned index)
{
	const struct yaml_node *list = place_of(root, "swap", "tensors");

	return list->kind == YAML_KIND_LIST ? list->items[index] : list;
}

static const struct yaml_node *tensor_place(const struct yaml_node *root, unsigned index,
					    const char *key)
{
	const struct yaml_node *node = tensor_node(root, index);
	const struct yaml_node *value = yaml_node_member(node, key);

	return value ? value : node;
}

/* Tensors of a store have no files. */
static int check_file(struct scenario_reader *reader, const struct yaml_node *root, unsigned index)
{
	static const char *const of_files[] = {"file", "file_offset"};
	const struct yaml_node *node = tensor_place(root, index, "name");

	for (unsigned i = 0; i < 2; i++) {
		const struct yaml_node *value = tensor_place(root, index, of_files[i]);

		if (reader->scenario->workload.store.used && value != tensor_node(root, index))
			return scenario_refuse(reader, value, "%s: goes without a store only",
					       of_files[i]);
	}
	if (!reader->scenario->workload.store.used &&
	    reader->scenario->workload.tensors[index].memory == MEMORY_SLOT)
		return scenario_refuse(reader, node, "memory: slot goes with a store only");
	return 0;
}

static bool overlap(const struct tensor *a, const struct tensor *b)
{
	return strcmp(a->file, b->file) == 0 &&
	       a->file_offset_bytes < b->file_offset_bytes + tensor_bytes(b) &&
	       b->file_offset_bytes < a->file_offset_bytes + tensor_bytes(a);
}

/* Overlapping tensors would have to hold two contents at once: no oracle could tell right from
 * wrong. */
static int check_pair(struct scenario_reader *reader, const struct yaml_node *root, unsigned later,
		      unsigned earlier)
{
	const struct tensor *a = &reader->scenario->workload.tensors[earlier];
	const struct tensor *b = &reader->scenario->workload.tensors[later];

	if (strcmp(a->name, b->name) == 0)
		return scenario_refuse(reader, tensor_place(root, later, "name"),
				       "name: '%s' is given twice", b->name);
	if (!reader->scenario->workload.store.used && overlap(a, b))
		return scenario_refuse(reader, tensor_place(root, later, "file_offset"),
				       "tensors %s and %s overlap in file %s", a->name, b->name,
				       a->file);
	return 0;
}

static void name_file(struct tensor *tensor)
{
	size_t length = strlen(tensor->name);

	_Static_assert(sizeof(tensor->file) >= sizeof(tensor->name) + sizeof(".swp"), "it fits");
	memcpy(tensor->file, tensor->name, length);
	memcpy(tensor->file + length, ".swp", sizeof(".swp"));
	for (char *at = tensor->file; *at; at++)
		if (*at == '/') /* names of a checkpoint may hold anything */
			*at = '_';
}

static int check_tensor(struct scenario_reader *reader, const struct yaml_node *root,
			unsigned index)
{
	struct tensor *tensor = &reader->scenario->workload.tensors[index];

	if (!tensor->file[0])
		name_file(tensor);
	if (check_file(reader, root, index) < 0)
		return -EINVAL;
	if (tensor->pointer_offset_bytes && tensor->memory != MEMORY_HEAP)
		return scenario_refuse(reader, tensor_place(root, index, "pointer_offset"),
				       "pointer_offset: goes with memory: heap only");
	for (unsigned i = 0; i < index; i++)
		if (check_pair(reader, root, index, i) < 0)
			return -EINVAL;
	return 0;
}

static int check_expected_tensor(struct scenario_reader *reader, const struct yaml_node *node)
{
	const struct workload *workload = &reader->scenario->workload;
	const char *name = reader->scenario->expect.tensor;
	struct nearest nearest;

	if (!name[0])
		return 0;
	nearest_init(&nearest, name);
	for (unsigned i = 0; i < workload->tensors_count + workload->as_count; i++) {
		if (strcmp(workload->tensors[i].name, name) == 0)
			return 0;
		nearest_offer(&nearest, workload->tensors[i].name);
	}
	return scenario_refuse(reader, node, "tensor: no tensor is named '%s'%s%s%s", name,
			       nearest.best ? ", did you mean '" : "",
			       nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

/* Keys that describe a failure contradict a result without one. */
static int check_expected_result(struct scenario_reader *reader, const struct yaml_node *root)
{
	static const char *const of_failures[] = {"error", "cause", "tensor", "message",
						  "failures"};
	const struct yaml_node *expect = yaml_node_member(root, "expect");

	for (size_t i = 0; i < sizeof(of_failures) / sizeof(of_failures[0]); i++) {
		const struct yaml_node *node = yaml_node_member(expect, of_failures[i]);

		if (node && reader->scenario->expect.result == EXPECT_OK)
			return scenario_refuse(reader, node, "%s: contradicts result: ok",
					       of_failures[i]);
	}
	return 0;
}

static int check_expect(struct scenario_reader *reader, const struct yaml_node *root)
{
	const char *error = reader->scenario->expect.error;
	int number;

	if (error[0] && errno_find(error, &number) < 0)
		return scenario_refuse(reader, place_of(root, "expect", "error"),
				       "error: '%s' is no errno name that is known here", error);
	if (reader->scenario->expect.data == EXPECT_DATA_OLD_OR_NEW &&
	    workload_images(&reader->scenario->workload) == 1 &&
	    !workload_has_return(&reader->scenario->workload))
		return scenario_refuse(reader, place_of(root, "expect", "data"),
				       "data: old-or-new is what a fresh process finds: a step "
				       "restart is due, or device-return");
	if (check_expected_tensor(reader, place_of(root, "expect", "tensor")) < 0)
		return -EINVAL;
	return check_expected_result(reader, root);
}

static int check_targets(struct scenario_reader *reader, const struct yaml_node *root)
{
	const struct yaml_node *device = yaml_node_member(root, "device");

	if (device && reader->scenario->targets & (1u << TARGET_HOST))
		return scenario_refuse(
			reader, device,
			"device: a host's disk has its own geometry, targets must not "
			"name host");
	return 0;
}

static int check_meta(struct scenario_reader *reader, const struct yaml_node *root)
{
	const struct scenario *scenario = reader->scenario;

	if (scenario->meta_class[0] && strcmp(scenario->meta_verdict, "fail") != 0)
		return scenario_refuse(reader, place_of(root, "meta", "class"),
				       "class: goes with verdict: fail only");
	return 0;
}

int scenario_check(struct scenario_reader *reader, const struct yaml_node *root)
{
	if (check_what_runs(reader, root) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < reader->scenario->workload.tensors_count; i++)
		if (check_tensor(reader, root, i) < 0)
			return -EINVAL;
	if (scenario_check_steps(reader, root) < 0 || check_expect(reader, root) < 0 ||
	    check_targets(reader, root) < 0)
		return -EINVAL;
	return check_meta(reader, root);
}
