/* SPDX-License-Identifier: MIT */
/*
 * test_swap.c - what judges swaps of a store: the oracle of what the library says of them, and the
 * reader of what it wrote, on stores made by hand. Each is content with what is right and finds the
 * one thing that is spoilt.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reader_store.h"
#include "swap_fixture.h"

static void read_store(struct fixture *fixture)
{
	struct reader_job job = {.work_dir = fixture->directory,
				 .workload = &fixture->it->test_case.workload,
				 .outcome = &fixture->it->outcome,
				 .seed = SEED};

	fixture->it->result.findings_count = 0;
	reader_check(&job, &fixture->it->result);
}

static void ask(struct fixture *fixture, const char *words)
{
	struct case_result *result = &fixture->it->result;

	result->findings_count = 0;
	oracle_swap(&fixture->it->seen, result);
	if (words)
		found(fixture, "contract", words);
	else
		assert_int_equal(result->findings_count, 0);
}

static void a_store_that_holds_what_was_swapped_out_is_right(void **state)
{
	struct fixture *fixture = *state;

	read_store(fixture);
	assert_int_equal(fixture->it->result.findings_count, 0);
	ask(fixture, NULL);
}

static void bytes_of_another_generation_under_right_sums_are_corruption(void **state)
{
	struct fixture *fixture = *state;

	fixture->it->outcome.requests[0].generation = 2;
	read_store(fixture);
	found(fixture, "data", "tensor step, bytes 0-3 hold generation 1: lost write");
}

static void damage_that_the_sums_tell_is_the_mediums(void **state)
{
	struct fixture *fixture = *state;

	fixture->volume[IMAGE_UNIT + 2 * IMAGE_SLOT_BYTES + IMAGE_PLACE_BYTES + 4096 + 77] ^= 8;
	write_volume(fixture);
	read_store(fixture);
	assert_int_equal(fixture->it->result.findings_count, 1);
	found(fixture, "medium", "tensor exp_avg, bytes 0-4095: checksum");
}

static void a_generation_that_is_not_there_is_missed(void **state)
{
	struct fixture *fixture = *state;

	fixture->it->outcome.requests[0].stored = 2;
	read_store(fixture);
	found(fixture, "medium", "has generation 1, must have 2");
	fixture->volume[IMAGE_UNIT + IMAGE_SLOT_BYTES + 3] ^= 1;
	write_volume(fixture);
	read_store(fixture);
	found(fixture, "medium", "SWAPMANI");
}

static void tensors_other_than_those_swapped_out_are_told(void **state)
{
	struct fixture *fixture = *state;
	struct workload *workload = &fixture->it->test_case.workload;

	workload->tensors[0].numel = 3000;
	read_store(fixture);
	found(fixture, "data",
	      "tensor 0 is step of 1 fp32 elements of 4 bytes, must be step of 3000");
	workload->tensors[0].numel = 1;
	workload->tensors[1].dims = 0;
	read_store(fixture);
	found(fixture, "data", "tensor 1 is exp_avg");
	workload->tensors[1].dims = 2;
	workload->tensors_count = 3;
	fixture->it->outcome.requests[0].tensors = 7;
	read_store(fixture);
	found(fixture, "data", "has 4 tensors, must have 3");
}

/* A swap-out that fails leaves the one before, and the reader demands it. */
static void after_a_failed_swap_out_the_earlier_generation_must_be_there(void **state)
{
	struct fixture *fixture = *state;
	struct outcome *outcome = &fixture->it->outcome;

	outcome->requests[1] = outcome->requests[0];
	outcome->requests[1].error = EIO;
	outcome->requests[1].generation = 2;
	outcome->requests_count = 2;
	read_store(fixture);
	assert_int_equal(fixture->it->result.findings_count, 0);
	make_generation(fixture, 2);
	write_volume(fixture);
	read_store(fixture);
	found(fixture, "medium", "has generation 2, must have 1");
}

/* Not even a first one. */
static void after_a_failed_first_swap_out_nothing_may_be_there(void **state)
{
	struct fixture *fixture = *state;
	char name[64], path[192];

	fixture->it->outcome.requests[0].error = EIO;
	read_store(fixture);
	found(fixture, "medium", "has generation 1, and no swap-out succeeded");
	fixture->volume[IMAGE_UNIT + IMAGE_SLOT_BYTES] ^= 1;
	write_volume(fixture);
	read_store(fixture);
	found(fixture, "medium", "SWAPMANI");
	volume_name(name);
	snprintf(path, sizeof(path), "%s/store/%s", fixture->directory, name);
	assert_int_equal(unlink(path), 0);
	read_store(fixture);
	assert_int_equal(fixture->it->result.findings_count, 0);
}

/* A step store-remove behind the swap-out, and what came of it. */
static void remove_group(struct fixture *fixture, int error)
{
	static struct outcome_removal removal;
	struct observed *it = fixture->it;

	removal = (struct outcome_removal){
		.step = 1, .requests_before = 1, .error = error, .place = "store"};
	it->test_case.workload.steps_count = 2;
	it->test_case.workload.steps[1].kind = STEP_STORE_REMOVE;
	it->outcome.removals = &removal;
	it->outcome.removals_count = 1;
}

static void read_behind_removal(struct fixture *fixture)
{
	struct reader_job job = {.work_dir = fixture->directory,
				 .workload = &fixture->it->test_case.workload,
				 .outcome = &fixture->it->outcome,
				 .seed = SEED,
				 .step = 1,
				 .request_first = 1};

	fixture->it->result.findings_count = 0;
	reader_check(&job, &fixture->it->result);
}

static void a_group_that_was_removed_is_not_there(void **state)
{
	struct fixture *fixture = *state;
	char name[64], path[192];

	remove_group(fixture, EIO);
	read_behind_removal(fixture);
	assert_int_equal(fixture->it->result.findings_count, 0);
	remove_group(fixture, 0);
	read_behind_removal(fixture);
	found(fixture, "medium",
	      "group optimizer has generation 1, and no swap-out succeeded "
	      "since it was made or removed");
	volume_name(name);
	snprintf(path, sizeof(path), "%s/store/%s", fixture->directory, name);
	assert_int_equal(unlink(path), 0);
	read_behind_removal(fixture);
	assert_int_equal(fixture->it->result.findings_count, 0);
	fixture->it->outcome.removals = NULL;
	fixture->it->outcome.removals_count = 0;
}

static void fail_swap(struct fixture *fixture, int error, const char *cause, const char *text)
{
	struct outcome_request *swap = &fixture->it->outcome.requests[0];

	swap->error = error;
	swap->tensor = 1;
	swap->unnamed = false;
	swap->fail_offset = 4096;
	swap->fail_length = 4096;
	snprintf(swap->cause, sizeof(swap->cause), "%s", cause);
	snprintf(swap->text, sizeof(swap->text), "%s", text);
}

static void a_failure_agrees_with_its_cause_its_range_and_its_sentence(void **state)
{
	struct fixture *fixture = *state;
	struct outcome_request *swap = &fixture->it->outcome.requests[0];

	swap->write = false;
	fail_swap(fixture, EBADMSG, "checksum", "group optimizer: tensor exp_avg differs");
	ask(fixture, NULL);
	fail_swap(fixture, EIO, "checksum", "group optimizer: tensor exp_avg differs");
	ask(fixture, "cause checksum");
	fail_swap(fixture, EBADMSG, "sunspots", "group optimizer: tensor exp_avg differs");
	ask(fixture, "cause 'sunspots'");
	fail_swap(fixture, EBADMSG, "checksum", "tensor exp_avg differs");
	ask(fixture, "does not name the group");
	fail_swap(fixture, EBADMSG, "checksum", "group optimizer differs");
	ask(fixture, "does not name tensor exp_avg");
	fail_swap(fixture, EBADMSG, "checksum", "group optimizer: tensor exp_avg differs");
	swap->unnamed = true;
	ask(fixture, "names no tensor");
	fail_swap(fixture, EBADMSG, "checksum", "group optimizer: tensor exp_avg differs");
	swap->fail_length = 0;
	ask(fixture, "no range");
	swap->fail_length = 12000;
	ask(fixture, "bytes 4096 + 12000 of tensor exp_avg, which has 12000");
	swap->write = true;
	fail_swap(fixture, EIO, "io", "group optimizer: tensor exp_avg fails");
	swap->stored = 3;
	ask(fixture, "does not end with '; generation 3 is still stored'");
	fail_swap(fixture, EIO, "io",
		  "group optimizer: tensor exp_avg fails; generation 13 is still stored");
	ask(fixture, "does not end with '; generation 3 is still stored'");
	fail_swap(fixture, EIO, "io",
		  "group optimizer: tensor exp_avg fails; generation 3 is still stored");
	ask(fixture, NULL);
	fail_swap(fixture, EIO, "io",
		  "group optimizer: tensor exp_avg fails; generation 3 is still stored, or the one "
		  "that failed: it could not be taken back");
	ask(fixture, NULL);
	fail_swap(fixture, EIO, "io",
		  "group optimizer: tensor exp_avg fails; generation 4 is still stored, or the one "
		  "that failed: it could not be taken back");
	ask(fixture, "does not end with '; generation 3 is still stored'");
	swap->stored = 0;
	ask(fixture, "does not end with '; nothing is stored'");
	fail_swap(fixture, EIO, "io", "group optimizer: tensor exp_avg fails; nothing is stored");
	ask(fixture, NULL);
}

/* Steps out, restart, out: the first process ends, or tells of its last swap-outs no more. */
static void what_a_process_did_not_live_to_tell_may_be_counted(void **state)
{
	struct fixture *fixture = *state;
	struct workload *workload = &fixture->it->test_case.workload;
	struct outcome *outcome = &fixture->it->outcome;
	struct outcome_write begun[2] = {{.tensor = 1, .generation = 2},
					 {.tensor = 1, .generation = 3}};

	workload->steps_count = 3;
	step_defaults(&workload->steps[1], STEP_RESTART);
	step_defaults(&workload->steps[2], STEP_SWAP_OUT);
	outcome->requests[1] = outcome->requests[0];
	outcome->requests[1].step = 2;
	outcome->requests[1].generation = 4;
	outcome->requests[1].stored = 4;
	outcome->requests_count = 2;
	outcome->writes = begun;
	outcome->writes_count = 2;
	ask(fixture, NULL);
	outcome->requests[1].stored = 2;
	ask(fixture, NULL);
	outcome->requests[1].stored = 5;
	ask(fixture, "commits generation 5 after 1");
	outcome->writes_count = 0;
	outcome->requests[1].stored = 3;
	ask(fixture, "commits generation 3 after 1");
	outcome->writes = NULL;
}

static void a_step_that_changes_the_store_begins_a_new_count(void **state)
{
	static const enum step_kind changes[] = {STEP_COPY_VOLUME, STEP_REMOVE, STEP_CORRUPT,
						 STEP_TRUNCATE, STEP_PREPARE};
	struct fixture *fixture = *state;
	struct workload *workload = &fixture->it->test_case.workload;
	struct outcome *outcome = &fixture->it->outcome;

	workload->steps_count = 4;
	step_defaults(&workload->steps[2], STEP_SWAP_OUT);
	step_defaults(&workload->steps[3], STEP_SWAP_OUT);
	outcome->requests[1] = outcome->requests[2] = outcome->requests[0];
	outcome->requests[1].step = 2;
	outcome->requests[2].step = 3;
	outcome->requests_count = 3;
	for (unsigned i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		step_defaults(&workload->steps[1], changes[i]);
		outcome->requests[1].stored = 1;
		outcome->requests[2].stored = 2;
		ask(fixture, NULL);
		outcome->requests[2].stored = 3;
		ask(fixture, "commits generation 3 after 1");
	}
}

/* Steps out, store-remove, out. */
static void a_group_that_was_removed_begins_anew(void **state)
{
	struct fixture *fixture = *state;
	struct outcome *outcome = &fixture->it->outcome;

	remove_group(fixture, 0);
	fixture->it->test_case.workload.steps_count = 3;
	step_defaults(&fixture->it->test_case.workload.steps[2], STEP_SWAP_OUT);
	outcome->requests[0].stored = 4;
	outcome->requests[1] = outcome->requests[0];
	outcome->requests[1].step = 2;
	outcome->requests[1].stored = 1;
	outcome->requests_count = 2;
	ask(fixture, NULL);
	outcome->requests[1].stored = 5;
	ask(fixture, "commits generation 5 of a group that was removed");
	remove_group(fixture, EIO);
	ask(fixture, NULL);
	outcome->requests[1].stored = 1;
	ask(fixture, NULL);
	outcome->requests[1].stored = 4;
	ask(fixture, "commits generation 4 after 4");
	outcome->removals_count = 0;
	outcome->requests[1].stored = 1;
	ask(fixture, "commits generation 1 after 4");
	outcome->removals = NULL;
}

static void a_success_is_whole_and_counts_generations(void **state)
{
	struct fixture *fixture = *state;
	struct outcome *outcome = &fixture->it->outcome;

	outcome->requests[1] = outcome->requests[0];
	outcome->requests[1].stored = 2;
	outcome->requests_count = 2;
	ask(fixture, NULL);
	outcome->requests[1].stored = 3;
	ask(fixture, "commits generation 3 after 1");
	outcome->requests[1].stored = 0;
	ask(fixture, "success with generation 0");
	outcome->requests[1].stored = 2;
	outcome->requests[1].bytes--;
	ask(fixture, "success with 24291 of 24292 bytes");
	outcome->requests[1].bytes++;
	outcome->requests[1].staged = 24293;
	ask(fixture, "24293 of 24292 bytes went through");
}

static void what_a_fault_damaged_is_not_held_against_the_library(void **state)
{
	struct fixture *fixture = *state;
	struct observed *it = fixture->it;

	it->test_case.expect.result = EXPECT_OK;
	result_add(&it->result, "medium", CLASS_CORRUPTION, "bytes 0-4095: checksum");
	it->result.faults_count = 0;
	verdict_decide(&it->test_case, &it->seen, &it->result);
	assert_int_equal(it->result.verdict, VERDICT_FAIL);
	assert_int_equal(it->result.failure_class, CLASS_CORRUPTION);
	observed_schedule(it, "io_event#1 => lost");
	it->result.faults_count = 1;
	it->result.faults[0].injected = 1;
	verdict_decide(&it->test_case, &it->seen, &it->result);
	assert_int_equal(it->result.verdict, VERDICT_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_store_that_holds_what_was_swapped_out_is_right),
		TEST(bytes_of_another_generation_under_right_sums_are_corruption),
		TEST(damage_that_the_sums_tell_is_the_mediums),
		TEST(a_generation_that_is_not_there_is_missed),
		TEST(tensors_other_than_those_swapped_out_are_told),
		TEST(after_a_failed_swap_out_the_earlier_generation_must_be_there),
		TEST(a_failure_agrees_with_its_cause_its_range_and_its_sentence),
		TEST(after_a_failed_first_swap_out_nothing_may_be_there),
		TEST(a_success_is_whole_and_counts_generations),
		TEST(what_a_process_did_not_live_to_tell_may_be_counted),
		TEST(a_step_that_changes_the_store_begins_a_new_count),
		TEST(a_group_that_was_removed_is_not_there),
		TEST(a_group_that_was_removed_begins_anew),
		TEST(what_a_fault_damaged_is_not_held_against_the_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
