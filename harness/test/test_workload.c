/* SPDX-License-Identifier: MIT */
/*
 * test_workload.c - a workload crosses to the worker and back unchanged, and nothing else is taken
 * for one.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workload.h"

static struct workload *new_workload(void)
{
	struct workload *workload = calloc(1, sizeof(*workload));

	assert_non_null(workload);
	workload_defaults(workload);
	return workload;
}

/* Every member differs from its default, and the extremes are among them. */
static void fill(struct workload *workload)
{
	struct tensor *tensor = &workload->tensors[0];
	struct step *step = &workload->steps[0];

	workload->handle = (struct handle_options){
		.block_bytes = 0x7ffff000,
		.queue_depth = 4096,
		.workers = 64,
		.requests_max = 65536,
		.bounce_slots = 256,
		.single_submit = true,
		.overlap_events = false,
		.unaligned = 1,
		.alignment_bytes = 2097152,
		.direct = 1,
	};
	workload->limits = (struct limits){.memlock_bytes = 0,
					   .nofile = 17,
					   .fsize_bytes = UINT64_MAX - 1,
					   .address_space_bytes = 1ull << 63};
	workload->store = (struct store_options){.used = true,
						 .group = "a group",
						 .checksum = STORE_CHECKSUM_XXH3,
						 .durable = false,
						 .chunk_bytes = 1ull << 30,
						 .slot_bytes = 4096,
						 .slots = 65536,
						 .threads = 16};
	workload->arm_before_open = true;
	workload->aftermath = false;
	workload->tensors_count = 1;
	workload->as_count = 1;
	workload->tensors[1] =
		(struct tensor){.name = "other", .numel = 3, .dims = 1, .shape = {3}};
	*tensor = (struct tensor){.name = "exp_avg",
				  .numel = 1ull << 40,
				  .dtype = DTYPE_I64,
				  .file = "f \"quoted\" \xc3\xa9",
				  .file_offset_bytes = 1ull << 46,
				  .dims = 8,
				  .shape = {1, 2, 3, 4, 5, 6, 7, UINT64_MAX},
				  .memory = MEMORY_HEAP,
				  .pointer_offset_bytes = 4095};
	workload->steps_count = 1;
	*step = (struct step){.kind = STEP_REPEAT,
			      .tensors = 1ull << 63 | 1,
			      .write = true,
			      .by_fd = true,
			      .buffered_fd = true,
			      .threads = 16,
			      .own_handles = true,
			      .numel = 7,
			      .dtype = DTYPE_BF16,
			      .timeout_ns = 50000000,
			      .bytes = 20000,
			      .count = 2500,
			      .as_first = 1,
			      .as_count = 1,
			      .generation = UINT64_MAX,
			      .slot_timeout_ns = 7,
			      .keep = true,
			      .read_only = true,
			      .part = STORE_PART_RECORD,
			      .from = "elsewhere",
			      .to = "saved",
			      .expect_error = "ETIMEDOUT",
			      .line = 77};
}

static struct workload *round_trip(const struct workload *workload)
{
	struct workload *back = new_workload();
	struct diag diag = {0};
	char *json = workload_encode(workload);

	assert_non_null(json);
	if (workload_decode(json, back, &diag) < 0)
		fail_msg("%s in %s", diag.text, json);
	free(json);
	return back;
}

static void every_member_survives_the_way_there_and_back(void **state)
{
	struct workload *workload = new_workload(), *back;

	(void)state;
	fill(workload);
	back = round_trip(workload);
	assert_memory_equal(&back->handle, &workload->handle, sizeof(back->handle));
	assert_memory_equal(&back->limits, &workload->limits, sizeof(back->limits));
	assert_memory_equal(&back->store, &workload->store, sizeof(back->store));
	assert_memory_equal(&back->tensors, &workload->tensors, sizeof(back->tensors));
	assert_int_equal(back->tensors_count, 1);
	assert_int_equal(back->as_count, 1);
	assert_memory_equal(&back->steps[0], &workload->steps[0], sizeof(back->steps[0]));
	assert_true(back->arm_before_open && !back->aftermath);
	free(back);
	free(workload);
}

static void a_full_workload_survives(void **state)
{
	struct workload *workload = new_workload(), *back;

	(void)state;
	workload->tensors_count = WORKLOAD_TENSORS_MAX;
	workload->steps_count = WORKLOAD_STEPS_MAX;
	for (unsigned i = 0; i < WORKLOAD_TENSORS_MAX; i++) {
		tensor_defaults(&workload->tensors[i]);
		memset(workload->tensors[i].name, 'n', WORKLOAD_NAME_BYTES - 1);
		memset(workload->tensors[i].file, 'f', WORKLOAD_FILE_BYTES - 1);
	}
	for (unsigned i = 0; i < WORKLOAD_STEPS_MAX; i++)
		step_defaults(&workload->steps[i], (enum step_kind)(i % STEP_COUNT));
	back = round_trip(workload);
	assert_memory_equal(back, workload, sizeof(*back));
	free(back);
	free(workload);
}

/* Replace the first @from in the JSON of a full workload by @to and expect a refusal. */
static void refuse_edited(const char *from, const char *to, const char *complaint)
{
	struct workload *workload = new_workload(), before;
	struct diag diag = {0};
	char *json, *place, edited[8192];

	fill(workload);
	json = workload_encode(workload);
	assert_non_null(json);
	place = strstr(json, from);
	assert_non_null(place);
	snprintf(edited, sizeof(edited), "%.*s%s%s", (int)(place - json), json, to,
		 place + strlen(from));
	memcpy(&before, workload, sizeof(before));
	assert_int_equal(workload_decode(edited, workload, &diag), -EINVAL);
	if (!strstr(diag.text, complaint))
		fail_msg("'%s' lacks '%s'", diag.text, complaint);
	assert_memory_equal(workload, &before, sizeof(before));
	free(json);
	free(workload);
}

static void what_is_no_workload_is_refused_and_changes_nothing(void **state)
{
	(void)state;
	refuse_edited("{", "", "no JSON");
	refuse_edited("\"workers\":64", "\"workers\":-1", "handle.workers: is out of range");
	refuse_edited("\"workers\":64", "\"workers\":true", "handle.workers: must be an integer");
	refuse_edited("\"workers\":64,", "", "handle.workers: is missing");
	refuse_edited("\"workers\":64", "\"workers\":1,\"workers\":2", "no JSON: duplicate");
	refuse_edited("\"single_submit\":true", "\"single_submit\":1", "must be true or false");
	refuse_edited("\"dtype\":\"i64\"", "\"dtype\":\"i65\"", "tensors.dtype");
	refuse_edited("\"memory\":\"heap\"", "\"memory\":\"heaps\"", "tensors.memory");
	refuse_edited("\"kind\":\"repeat\"", "\"kind\":\"again\"", "steps.kind");
	refuse_edited("\"name\":\"exp_avg\"", "\"name\":7", "tensors.name: must be a string");
	refuse_edited("\"exp_avg\"",
		      "\"0123456789012345678901234567890123456789012345678901234567890123"
		      "0123456789012345678901234567890123456789012345678901234567890123\"",
		      "tensors.name: is too long");
	refuse_edited("\"shape\":[1,", "\"shape\":[true,", "shape: must hold integers");
	refuse_edited("\"shape\":[1,", "\"shape\":[0,1,", "shape: must be a list of at most 8");
	refuse_edited("\"as_first\":1", "\"as_first\":0", "as_first: is out of range");
	refuse_edited("\"as_first\":1,\"as_count\":1", "\"as_first\":1,\"as_count\":2",
		      "as_first: is out of range");
	refuse_edited("\"as_count\":1,\"handle\"", "\"as_count\":3,\"handle\"",
		      "as_count: is more than");
	refuse_edited("\"part\":3", "\"part\":4", "part: is out of range");
	refuse_edited("\"checksum\":3", "\"checksum\":4", "checksum: is out of range");
	refuse_edited("\"limits\":{", "\"limits\":[],\"limit\":{", "limits: must be an object");
}

static void names_of_kinds_are_found_again(void **state)
{
	enum step_kind step;
	enum dtype dtype;

	(void)state;
	for (unsigned i = 0; i < STEP_COUNT; i++) {
		assert_int_equal(step_find(step_name((enum step_kind)i), &step), 0);
		assert_int_equal(step, i);
	}
	for (unsigned i = 0; i < DTYPE_COUNT; i++) {
		assert_int_equal(dtype_find(dtype_name((enum dtype)i), &dtype), 0);
		assert_int_equal(dtype, i);
		assert_true(dtype_bytes(dtype) >= 1 && dtype_bytes(dtype) <= 8);
	}
	assert_int_equal(step_find("swap", &step), -ENOENT);
	assert_int_equal(dtype_find("", &dtype), -ENOENT);
}

static void a_diagnosis_shows_as_much_of_its_place_as_it_has(void **state)
{
	struct diag diag;
	char text[64];

	(void)state;
	assert_int_equal(diag_set(&diag, "f.yaml", 7, 3, "%s", "bad"), -EINVAL);
	diag_format(&diag, text, sizeof(text));
	assert_string_equal(text, "f.yaml:7:3: bad");
	diag_set(&diag, "f.yaml", 7, 0, "bad");
	diag_format(&diag, text, sizeof(text));
	assert_string_equal(text, "f.yaml:7: bad");
	diag_set(&diag, "f.yaml", 0, 0, "bad");
	diag_format(&diag, text, sizeof(text));
	assert_string_equal(text, "f.yaml: bad");
	diag_set(&diag, NULL, 0, 0, "bad");
	diag_format(&diag, text, sizeof(text));
	assert_string_equal(text, "bad");
	assert_int_equal(diag_set(NULL, NULL, 0, 0, "bad"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_survives_the_way_there_and_back),
		cmocka_unit_test(a_full_workload_survives),
		cmocka_unit_test(what_is_no_workload_is_refused_and_changes_nothing),
		cmocka_unit_test(names_of_kinds_are_found_again),
		cmocka_unit_test(a_diagnosis_shows_as_much_of_its_place_as_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
