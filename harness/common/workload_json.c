/* SPDX-License-Identifier: MIT */
/*
 * workload_json.c - a workload as one JSON object and back. One table per struct serves both ways.
 *
 * JSON integers are signed 64 bit numbers here: an unsigned member travels as the same 64 bits, so
 * that UINT64_MAX ("untouched") is -1 on the wire.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

enum member_type {
	MEMBER_BOOL,
	MEMBER_UNSIGNED,
	MEMBER_INT,
	MEMBER_UINT64,
	MEMBER_INT64,
	MEMBER_TEXT
};

struct member {
	const char *name;
	enum member_type type;
	size_t offset;
	size_t bytes;
};

#define MEMBER(container, member_type, field)                                                      \
	{                                                                                          \
#field, member_type, offsetof(struct container, field),                            \
			sizeof(((struct container *)0)->field)                                     \
	}

static const struct member handle_members[] = {
	MEMBER(handle_options, MEMBER_UINT64, block_bytes),
	MEMBER(handle_options, MEMBER_UNSIGNED, queue_depth),
	MEMBER(handle_options, MEMBER_UNSIGNED, workers),
	MEMBER(handle_options, MEMBER_UNSIGNED, requests_max),
	MEMBER(handle_options, MEMBER_UNSIGNED, bounce_slots),
	MEMBER(handle_options, MEMBER_BOOL, single_submit),
	MEMBER(handle_options, MEMBER_BOOL, overlap_events),
	MEMBER(handle_options, MEMBER_INT, unaligned),
	MEMBER(handle_options, MEMBER_UINT64, alignment_bytes),
	MEMBER(handle_options, MEMBER_INT, direct),
	{0},
};

static const struct member store_members[] = {
	MEMBER(store_options, MEMBER_BOOL, used),
	MEMBER(store_options, MEMBER_TEXT, group),
	MEMBER(store_options, MEMBER_UNSIGNED, checksum),
	MEMBER(store_options, MEMBER_BOOL, durable),
	MEMBER(store_options, MEMBER_UINT64, chunk_bytes),
	MEMBER(store_options, MEMBER_UINT64, slot_bytes),
	MEMBER(store_options, MEMBER_UNSIGNED, slots),
	MEMBER(store_options, MEMBER_UNSIGNED, threads),
	{0},
};

static const struct member limits_members[] = {
	MEMBER(limits, MEMBER_UINT64, memlock_bytes),
	MEMBER(limits, MEMBER_UINT64, nofile),
	MEMBER(limits, MEMBER_UINT64, fsize_bytes),
	MEMBER(limits, MEMBER_UINT64, address_space_bytes),
	{0},
};

static const struct member tensor_members[] = {
	MEMBER(tensor, MEMBER_TEXT, name),
	MEMBER(tensor, MEMBER_UINT64, numel),
	MEMBER(tensor, MEMBER_TEXT, file),
	MEMBER(tensor, MEMBER_UINT64, file_offset_bytes),
	MEMBER(tensor, MEMBER_UNSIGNED, pointer_offset_bytes),
	{0},
};

static const struct member step_members[] = {
	MEMBER(step, MEMBER_UINT64, tensors),	 MEMBER(step, MEMBER_BOOL, write),
	MEMBER(step, MEMBER_BOOL, by_fd),	 MEMBER(step, MEMBER_BOOL, buffered_fd),
	MEMBER(step, MEMBER_UNSIGNED, threads),	 MEMBER(step, MEMBER_BOOL, own_handles),
	MEMBER(step, MEMBER_UINT64, numel),	 MEMBER(step, MEMBER_INT, dtype),
	MEMBER(step, MEMBER_INT64, timeout_ns),	 MEMBER(step, MEMBER_UINT64, bytes),
	MEMBER(step, MEMBER_UNSIGNED, count),	 MEMBER(step, MEMBER_TEXT, expect_error),
	MEMBER(step, MEMBER_BOOL, directory),	 MEMBER(step, MEMBER_UNSIGNED, line),
	MEMBER(step, MEMBER_UNSIGNED, as_first), MEMBER(step, MEMBER_UNSIGNED, as_count),
	MEMBER(step, MEMBER_UINT64, generation), MEMBER(step, MEMBER_INT64, slot_timeout_ns),
	MEMBER(step, MEMBER_BOOL, keep),	 MEMBER(step, MEMBER_BOOL, read_only),
	MEMBER(step, MEMBER_UNSIGNED, part),	 MEMBER(step, MEMBER_TEXT, from),
	MEMBER(step, MEMBER_TEXT, to),		 {0},
};

static const struct member workload_members[] = {
	MEMBER(workload, MEMBER_BOOL, arm_before_open),
	MEMBER(workload, MEMBER_BOOL, aftermath),
	MEMBER(workload, MEMBER_UNSIGNED, as_count),
	{0},
};

static json_t *member_encode(const struct member *member, const void *container)
{
	const void *place = (const char *)container + member->offset;

	switch (member->type) {
	case MEMBER_BOOL:
		return json_boolean(*(const bool *)place);
	case MEMBER_UNSIGNED:
		return json_integer(*(const unsigned *)place);
	case MEMBER_INT:
		return json_integer(*(const int *)place);
	case MEMBER_UINT64:
	case MEMBER_INT64:
		return json_integer(*(const int64_t *)place);
	case MEMBER_TEXT:
		return json_string(place);
	}
	return NULL;
}

static int members_encode(const struct member *members, const void *container, json_t *object)
{
	for (const struct member *member = members; member->name; member++)
		if (json_object_set_new(object, member->name, member_encode(member, container)) < 0)
			return -ENOMEM;
	return 0;
}

static int wrong(struct diag *diag, const char *where, const char *name, const char *what)
{
	return diag_set(diag, NULL, 0, 0, "workload: %s.%s: %s", where, name, what);
}

static int text_decode(const struct member *member, const json_t *value, char *place,
		       const char *where, struct diag *diag)
{
	size_t length;

	if (!json_is_string(value))
		return wrong(diag, where, member->name, "must be a string");
	length = json_string_length(value);
	if (length >= member->bytes || strlen(json_string_value(value)) != length)
		return wrong(diag, where, member->name, "is too long or holds a NUL");
	memcpy(place, json_string_value(value), length + 1);
	return 0;
}

static int integer_decode(const struct member *member, json_int_t value, void *place,
			  const char *where, struct diag *diag)
{
	if (member->type == MEMBER_UNSIGNED) {
		if (value < 0 || value > UINT32_MAX)
			return wrong(diag, where, member->name, "is out of range");
		*(unsigned *)place = (unsigned)value;
	} else if (member->type == MEMBER_INT) {
		if (value < INT32_MIN || value > INT32_MAX)
			return wrong(diag, where, member->name, "is out of range");
		*(int *)place = (int)value;
	} else {
		*(int64_t *)place = value;
	}
	return 0;
}

static int member_decode(const struct member *member, const json_t *object, void *container,
			 const char *where, struct diag *diag)
{
	const json_t *value = json_object_get(object, member->name);
	void *place = (char *)container + member->offset;

	if (!value)
		return wrong(diag, where, member->name, "is missing");
	if (member->type == MEMBER_TEXT)
		return text_decode(member, value, place, where, diag);
	if (member->type == MEMBER_BOOL) {
		if (!json_is_boolean(value))
			return wrong(diag, where, member->name, "must be true or false");
		*(bool *)place = json_is_true(value);
		return 0;
	}
	if (!json_is_integer(value))
		return wrong(diag, where, member->name, "must be an integer");
	return integer_decode(member, json_integer_value(value), place, where, diag);
}

static int members_decode(const struct member *members, const json_t *object, void *container,
			  const char *where, struct diag *diag)
{
	if (!json_is_object(object))
		return diag_set(diag, NULL, 0, 0, "workload: %s: must be an object", where);
	for (const struct member *member = members; member->name; member++)
		if (member_decode(member, object, container, where, diag) < 0)
			return -EINVAL;
	return 0;
}

static json_t *shape_encode(const struct tensor *tensor)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < tensor->dims; i++)
		json_array_append_new(list, json_integer((json_int_t)tensor->shape[i]));
	return list;
}

static json_t *tensor_encode(const struct tensor *tensor)
{
	json_t *object = json_object();
	int failed = members_encode(tensor_members, tensor, object);

	failed |= json_object_set_new(object, "dtype", json_string(dtype_name(tensor->dtype)));
	failed |= json_object_set_new(object, "memory",
				      json_string(memory_kind_name(tensor->memory)));
	failed |= json_object_set_new(object, "shape", shape_encode(tensor));
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *step_encode(const struct step *step)
{
	json_t *object = json_object();
	int failed = json_object_set_new(object, "kind", json_string(step_name(step->kind)));

	failed |= members_encode(step_members, step, object);
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *struct_encode(const struct member *members, const void *container)
{
	json_t *object = json_object();

	if (members_encode(members, container, object) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static int lists_encode(const struct workload *workload, json_t *object)
{
	json_t *tensors = json_array(), *steps = json_array();
	int failed = 0;

	for (unsigned i = 0; i < workload->tensors_count + workload->as_count; i++)
		failed |= json_array_append_new(tensors, tensor_encode(&workload->tensors[i]));
	for (unsigned i = 0; i < workload->steps_count; i++)
		failed |= json_array_append_new(steps, step_encode(&workload->steps[i]));
	failed |= json_object_set_new(object, "tensors", tensors);
	failed |= json_object_set_new(object, "steps", steps);
	return failed;
}

char *workload_encode(const struct workload *workload)
{
	json_t *object = json_object();
	char *text = NULL;
	int failed = members_encode(workload_members, workload, object);

	failed |= json_object_set_new(object, "handle",
				      struct_encode(handle_members, &workload->handle));
	failed |= json_object_set_new(object, "limits",
				      struct_encode(limits_members, &workload->limits));
	failed |= json_object_set_new(object, "store",
				      struct_encode(store_members, &workload->store));
	failed |= lists_encode(workload, object);
	if (!failed)
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	return text;
}

static int shape_decode(const json_t *list, struct tensor *tensor, struct diag *diag)
{
	size_t count = json_array_size(list);

	if (!json_is_array(list) || count > WORKLOAD_DIMS_MAX)
		return wrong(diag, "tensors", "shape", "must be a list of at most 8");
	tensor->dims = (unsigned)count;
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(list, i);

		if (!json_is_integer(value))
			return wrong(diag, "tensors", "shape", "must hold integers");
		tensor->shape[i] = (uint64_t)json_integer_value(value);
	}
	return 0;
}

static int tensor_decode(const json_t *object, struct tensor *tensor, struct diag *diag)
{
	const char *dtype = json_string_value(json_object_get(object, "dtype"));
	const char *memory = json_string_value(json_object_get(object, "memory"));
	unsigned kind = 0;

	if (members_decode(tensor_members, object, tensor, "tensors", diag) < 0)
		return -EINVAL;
	if (!dtype || dtype_find(dtype, &tensor->dtype) < 0)
		return wrong(diag, "tensors", "dtype", "must be the name of a dtype");
	while (memory && kind < MEMORY_COUNT &&
	       strcmp(memory, memory_kind_name((enum memory_kind)kind)) != 0)
		kind++;
	if (!memory || kind == MEMORY_COUNT)
		return wrong(diag, "tensors", "memory", "must be the name of a memory kind");
	tensor->memory = (enum memory_kind)kind;
	return shape_decode(json_object_get(object, "shape"), tensor, diag);
}

static int step_decode(const json_t *object, struct step *step, struct diag *diag)
{
	const char *kind = json_string_value(json_object_get(object, "kind"));

	if (members_decode(step_members, object, step, "steps", diag) < 0)
		return -EINVAL;
	if (!kind || step_find(kind, &step->kind) < 0)
		return wrong(diag, "steps", "kind", "must be the name of a step");
	if (step->dtype < -1 || step->dtype >= DTYPE_COUNT)
		return wrong(diag, "steps", "dtype", "is out of range");
	if (step->part > STORE_PART_RECORD)
		return wrong(diag, "steps", "part", "is out of range");
	return 0;
}

static int tensors_decode(const json_t *list, struct workload *workload, struct diag *diag)
{
	size_t count = json_array_size(list);

	if (!json_is_array(list) || count > WORKLOAD_TENSORS_MAX)
		return wrong(diag, "workload", "tensors", "must be a list of at most 64");
	if (workload->as_count > count)
		return wrong(diag, "workload", "as_count", "is more than there are tensors");
	workload->tensors_count = (unsigned)count - workload->as_count;
	for (size_t i = 0; i < count; i++)
		if (tensor_decode(json_array_get(list, i), &workload->tensors[i], diag) < 0)
			return -EINVAL;
	return 0;
}

/* Other tensors of a step must be there: the worker takes them by their place. */
static int as_check(const struct workload *workload, struct diag *diag)
{
	unsigned end = workload->tensors_count + workload->as_count;

	for (unsigned i = 0; i < workload->steps_count; i++) {
		const struct step *step = &workload->steps[i];

		if (step->as_count &&
		    (step->as_first < workload->tensors_count || step->as_first > end ||
		     step->as_count > end - step->as_first))
			return wrong(diag, "steps", "as_first", "is out of range");
	}
	return 0;
}

static int steps_decode(const json_t *list, struct workload *workload, struct diag *diag)
{
	size_t count = json_array_size(list);

	if (!json_is_array(list) || count > WORKLOAD_STEPS_MAX)
		return wrong(diag, "workload", "steps", "must be a list of at most 64");
	workload->steps_count = (unsigned)count;
	for (size_t i = 0; i < count; i++)
		if (step_decode(json_array_get(list, i), &workload->steps[i], diag) < 0)
			return -EINVAL;
	return as_check(workload, diag);
}

static int object_decode(const json_t *object, struct workload *workload, struct diag *diag)
{
	if (members_decode(workload_members, object, workload, "workload", diag) < 0 ||
	    members_decode(handle_members, json_object_get(object, "handle"), &workload->handle,
			   "handle", diag) < 0 ||
	    members_decode(limits_members, json_object_get(object, "limits"), &workload->limits,
			   "limits", diag) < 0 ||
	    members_decode(store_members, json_object_get(object, "store"), &workload->store,
			   "store", diag) < 0 ||
	    tensors_decode(json_object_get(object, "tensors"), workload, diag) < 0 ||
	    steps_decode(json_object_get(object, "steps"), workload, diag) < 0)
		return -EINVAL;
	if (workload->store.checksum > STORE_CHECKSUM_XXH3)
		return wrong(diag, "store", "checksum", "is out of range");
	return 0;
}

int workload_decode(const char *json, struct workload *ret_workload, struct diag *diag)
{
	json_error_t error;
	json_t *object = json_loads(json, JSON_REJECT_DUPLICATES, &error);
	struct workload *workload;
	int result;

	if (!object)
		return diag_set(diag, NULL, 0, 0, "workload: no JSON: %s", error.text);
	workload = calloc(1, sizeof(*workload));
	result = workload ? object_decode(object, workload, diag) : -ENOMEM;
	if (result == 0)
		*ret_workload = *workload;
	free(workload);
	json_decref(object);
	return result;
}
