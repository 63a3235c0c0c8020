/* SPDX-License-Identifier: MIT */
/*
 * test_limits.c - what fits into this machine: cases at planning, and how many of them at once.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"
#include "plan_room.h"
#include "run_internal.h"

#define MIB ((uint64_t)1 << 20)
#define CASES 40u

static struct workload workload;
static struct test_case cases[CASES];
static struct plan plan = {.cases = cases};
static struct run run;
static char reason[128];

static void set_tensor(struct workload *of, uint64_t numel)
{
	workload_defaults(of);
	of->tensors_count = 1;
	tensor_defaults(&of->tensors[0]);
	of->tensors[0].numel = numel;
	of->steps_count = 1;
	step_defaults(&of->steps[0], STEP_SWAP_IN);
}

/* @count cases of @bytes each, by turns on host and sim, with @room in either lane. */
static void set_run(unsigned count, uint64_t bytes, unsigned room)
{
	memset(&run, 0, sizeof(run));
	plan.count = count;
	for (unsigned i = 0; i < count; i++) {
		cases[i] = (struct test_case){.target = i % 2 ? TARGET_SIM : TARGET_HOST};
		set_tensor(&cases[i].workload, bytes / 4);
	}
	run.plan = &plan;
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		run.lanes[t] = (struct lane){.target = (enum target)t, .room = room};
}

static void a_workload_takes_its_longest_transfers(void **state)
{
	(void)state;
	set_tensor(&workload, 1000);
	assert_int_equal(workload_bytes(&workload), 4000);
	workload.steps[0].numel = 1500;
	workload.steps[0].dtype = DTYPE_FP64;
	assert_int_equal(workload_bytes(&workload), 12000);
	workload.steps[0].tensors = 2; /* not this one */
	assert_int_equal(workload_bytes(&workload), 4000);
	workload.tensors_count = 3;
	for (unsigned i = 0; i < 3; i++)
		workload.tensors[i] = workload.tensors[0];
	for (unsigned i = 0; i < 3; i++)
		workload.tensors[i].numel = UINT64_MAX / 8;
	assert_true(workload_bytes(&workload) == UINT64_MAX);
}

static void a_store_takes_what_its_steps_move_and_twice_that_on_disk(void **state)
{
	(void)state;
	set_tensor(&workload, 1000);
	assert_int_equal(workload_file_bytes(&workload), 4000);
	workload.store.used = true;
	workload.steps_count = 1;
	step_defaults(&workload.steps[0], STEP_SWAP_OUT);
	workload.tensors_count = 2;
	workload.tensors[1] = workload.tensors[0];
	workload.tensors[1].numel = UINT64_MAX / 8; /* a hole, which nobody touches */
	workload.steps[0].tensors = 1;
	assert_int_equal(workload_bytes(&workload), 4000);
	assert_int_equal(workload_file_bytes(&workload), 8000);
	workload.tensors[2] = workload.tensors[0]; /* another one, of a step of its own */
	workload.as_count = 1;
	workload.steps_count = 2;
	step_defaults(&workload.steps[1], STEP_SWAP_IN);
	workload.steps[1].as_first = 2;
	workload.steps[1].as_count = 1;
	assert_int_equal(workload_bytes(&workload), 8000);
	workload.steps[0].tensors = 0;
	assert_true(workload_file_bytes(&workload) == UINT64_MAX);
	workload.steps[0].kind = STEP_PREPARE; /* by another program: not held in memory */
	assert_int_equal(workload_bytes(&workload), 4000);
}

static void what_does_not_fit_is_told_with_both_numbers(void **state)
{
	struct plan_room room = {"/disk", 100 * MIB, 60 * MIB, 90 * MIB};

	(void)state;
	set_tensor(&workload, 50 * MIB / 4);
	plan_room_check(&room, &workload, TARGET_SIM, reason, sizeof(reason));
	assert_string_equal(reason, "");
	set_tensor(&workload, 51 * MIB / 4);
	plan_room_check(&room, &workload, TARGET_SIM, reason, sizeof(reason));
	assert_string_equal(reason, "memory: 100 MiB available, 102 MiB needed");
	plan_room_check(&room, &workload, TARGET_HOST, reason, sizeof(reason));
	assert_string_equal(reason, "");
	/* Files of sim that do not fit into memory lie on the disk. */
	set_tensor(&workload, 61 * MIB / 4);
	plan_room_check(&room, &workload, TARGET_SIM, reason, sizeof(reason));
	assert_string_equal(reason, "");
	set_tensor(&workload, 90 * MIB / 4 + 1);
	plan_room_check(&room, &workload, TARGET_HOST, reason, sizeof(reason));
	assert_string_equal(reason, "disk space in /disk: 90 MiB free, 91 MiB needed");
	set_tensor(&workload, UINT64_MAX / 4);
	plan_room_check(&room, &workload, TARGET_HOST, reason, sizeof(reason));
	assert_non_null(strstr(reason, "memory: 100 MiB available, "));
}

static void plenty_of_room_changes_nothing(void **state)
{
	(void)state;
	set_run(CASES, 32 * MIB, 16);
	run_limit_room(&run, 16 * 3 * 32 * MIB + 3 * 32 * MIB, 17 * 32 * MIB);
	assert_int_equal(run.lanes[TARGET_HOST].room, 16);
	assert_int_equal(run.lanes[TARGET_SIM].room, 16);
	assert_int_equal(run.jobs_limit, 0);
}

static void small_cases_run_at_once_in_little_memory(void **state)
{
	(void)state;
	set_run(CASES, MIB, 16);
	run_limit_room(&run, 64 * MIB, 32 * MIB);
	assert_int_equal(run.lanes[TARGET_HOST].room, 16);
	assert_int_equal(run.jobs_limit, 0);
}

static void little_memory_means_fewer_cases(void **state)
{
	(void)state;
	set_run(CASES, 32 * MIB, 16);
	run_limit_room(&run, 800 * MIB, UINT64_MAX);
	assert_int_equal(run.lanes[TARGET_HOST].room, 8);
	assert_int_equal(run.jobs_limit, 0);
}

static void a_small_disk_means_fewer_cases(void **state)
{
	(void)state;
	set_run(CASES, 32 * MIB, 16);
	run_limit_room(&run, UINT64_MAX, 4 * 32 * MIB);
	assert_int_equal(run.lanes[TARGET_HOST].room, 4);
	assert_int_equal(run.jobs_limit, 0);
}

static void what_fits_only_alone_runs_alone(void **state)
{
	(void)state;
	set_run(2, 1000 * MIB, 16);
	run_limit_room(&run, 2000 * MIB, UINT64_MAX);
	assert_int_equal(run.jobs_limit, 1);
}

static void what_is_skipped_takes_nothing(void **state)
{
	(void)state;
	set_run(2, 1000 * MIB, 16);
	cases[0].skip_reason[0] = 'x';
	run_limit_room(&run, 2000 * MIB, UINT64_MAX);
	assert_int_equal(run.jobs_limit, 0);
	assert_int_equal(run_files_in_memory(&run), 1000 * MIB);
}

static void a_machine_has_memory_and_disk(void **state)
{
	uint64_t bytes = 0;

	(void)state;
	assert_int_equal(machine_memory(&bytes), 0);
	assert_in_range(bytes, MIB, UINT64_MAX - 1);
	assert_int_equal(machine_disk("/", &bytes), 0);
	assert_int_equal(machine_disk("/nowhere", &bytes), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_workload_takes_its_longest_transfers),
		cmocka_unit_test(a_store_takes_what_its_steps_move_and_twice_that_on_disk),
		cmocka_unit_test(what_does_not_fit_is_told_with_both_numbers),
		cmocka_unit_test(plenty_of_room_changes_nothing),
		cmocka_unit_test(small_cases_run_at_once_in_little_memory),
		cmocka_unit_test(little_memory_means_fewer_cases),
		cmocka_unit_test(a_small_disk_means_fewer_cases),
		cmocka_unit_test(what_fits_only_alone_runs_alone),
		cmocka_unit_test(what_is_skipped_takes_nothing),
		cmocka_unit_test(a_machine_has_memory_and_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
