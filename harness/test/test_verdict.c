/* SPDX-License-Identifier: MIT */
/*
 * test_verdict.c - what happened, and what had to happen, become one verdict.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observed.h"

static int set_up(void **state)
{
	*state = observed_make();
	return 0;
}

static int tear_down(void **state)
{
	observed_free(*state);
	return 0;
}

static void assert_verdict(struct observed *it, enum verdict verdict,
			   enum failure_class failure_class)
{
	observed_judge(it);
	assert_int_equal(it->result.verdict, verdict);
	assert_int_equal(it->result.failure_class, failure_class);
	assert_int_equal(it->result.reason[0] == '\0', verdict == VERDICT_PASS);
}

static void fail_read(struct observed *it, unsigned tensor, int error)
{
	struct outcome_request *request = &it->outcome.requests[2 + tensor];

	request->error = error;
	request->bytes = 0;
	request->fail_length = OBSERVED_BYTES;
	snprintf(request->cause, sizeof(request->cause), "device");
	snprintf(request->text, sizeof(request->text), "tensor%u.swp: it failed", tensor);
	observed_block(it, 1 + tensor, -1, FAULT_OP_READ, -error);
}

static void all_well_without_faults_passes(void **state)
{
	assert_verdict(*state, VERDICT_PASS, CLASS_NONE);
}

static void a_transparent_fault_that_took_effect_passes(void **state)
{
	observed_schedule(*state, "io_getevents#1 => few:0");
	observed_fault(*state, EVENTLOG_INJECT, 1, "");
	assert_verdict(*state, VERDICT_PASS, CLASS_NONE);
}

static void a_fault_that_did_not_fire_is_vacuous(void **state)
{
	observed_schedule(*state, "io_getevents#1 => few:0");
	assert_verdict(*state, VERDICT_VACUOUS, CLASS_NONE);
}

static void a_fault_that_missed_is_vacuous_and_says_why(void **state)
{
	struct observed *it = *state;

	observed_schedule(it, "io_getevents#1 => few:0");
	observed_fault(it, EVENTLOG_MISSED, 1, "nothing was in flight");
	assert_verdict(it, VERDICT_VACUOUS, CLASS_NONE);
	assert_non_null(strstr(it->result.reason, "nothing was in flight"));
}

static void one_of_two_faults_that_did_not_fire_is_vacuous(void **state)
{
	observed_schedule(*state, "io_getevents#1 => few:0\nio_getevents#2 => few:0");
	observed_fault(*state, EVENTLOG_INJECT, 1, "");
	assert_verdict(*state, VERDICT_VACUOUS, CLASS_NONE);
}

static void an_error_under_a_transparent_fault_fails(void **state)
{
	observed_schedule(*state, "io_getevents#1 => few:0");
	observed_fault(*state, EVENTLOG_INJECT, 1, "");
	fail_read(*state, 0, EIO);
	assert_verdict(*state, VERDICT_FAIL, CLASS_CONTRACT);
}

static void an_error_without_any_fault_fails_even_if_its_fault_did_not_fire(void **state)
{
	observed_schedule(*state, "io_getevents#1 => few:0");
	fail_read(*state, 0, EIO);
	assert_verdict(*state, VERDICT_FAIL, CLASS_CONTRACT);
}

static void an_error_that_one_request_reports_passes(void **state)
{
	observed_schedule(*state, "io_event#3 => res:EIO");
	observed_fault(*state, EVENTLOG_INJECT, 1, "");
	fail_read(*state, 0, EIO);
	assert_verdict(*state, VERDICT_PASS, CLASS_NONE);
}

static void an_error_that_nobody_reports_fails(void **state)
{
	observed_schedule(*state, "io_event#3 => res:EIO");
	observed_fault(*state, EVENTLOG_INJECT, 1, "");
	assert_verdict(*state, VERDICT_FAIL, CLASS_CONTRACT);
}

static void an_error_that_takes_a_neighbour_along_fails(void **state)
{
	observed_schedule(*state, "io_event#3 => res:EIO");
	observed_fault(*state, EVENTLOG_INJECT, 1, "");
	fail_read(*state, 0, EIO);
	fail_read(*state, 1, EIO);
	assert_verdict(*state, VERDICT_FAIL, CLASS_CONTRACT);
}

static void an_expected_error_of_a_fault_that_did_not_fire_is_vacuous(void **state)
{
	observed_schedule(*state, "io_event#3 => res:EIO");
	assert_verdict(*state, VERDICT_VACUOUS, CLASS_NONE);
}

static void another_errno_than_expected_fails(void **state)
{
	struct observed *it = *state;

	it->test_case.expect.result = EXPECT_ERROR;
	snprintf(it->test_case.expect.error, sizeof(it->test_case.expect.error), "ENOSPC");
	fail_read(it, 0, EIO);
	assert_verdict(it, VERDICT_FAIL, CLASS_CONTRACT);
}

static void the_expected_tensor_errno_and_words_pass(void **state)
{
	struct observed *it = *state;

	it->test_case.expect.result = EXPECT_ERROR;
	snprintf(it->test_case.expect.error, sizeof(it->test_case.expect.error), "EIO");
	snprintf(it->test_case.expect.tensor, sizeof(it->test_case.expect.tensor), "tensor1");
	snprintf(it->test_case.expect.message, sizeof(it->test_case.expect.message), "tensor1.swp");
	fail_read(it, 1, EIO);
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
}

static void a_refusal_after_submission_is_none(void **state)
{
	struct observed *it = *state;

	it->test_case.expect.result = EXPECT_REFUSED;
	fail_read(it, 0, EINVAL);
	assert_verdict(it, VERDICT_FAIL, CLASS_CONTRACT);
}

static void a_refusal_before_submission_passes(void **state)
{
	struct observed *it = *state;

	it->test_case.expect.result = EXPECT_REFUSED;
	fail_read(it, 0, EINVAL);
	it->outcome.requests[2].stage = STAGE_SUBMIT;
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
}

/* Swap-out, restart, swap-in: the first process meets the faults, and the power is cut in it. */
static void cut_the_first_process(struct observed *it)
{
	struct workload *workload = &it->test_case.workload;

	workload->steps_count = 3;
	workload->steps[2] = workload->steps[1];
	step_defaults(&workload->steps[1], STEP_RESTART);
	it->outcome.requests[2].step = it->outcome.requests[3].step = 2;
	it->outcome.last_step = 2;
	it->seen.image = 2;
	it->seen.steps_cut = 1;
	it->test_case.expect.result = EXPECT_ERROR;
	it->test_case.expect.failures = 1;
}

static void a_failure_behind_a_crash_is_not_the_one_that_was_expected(void **state)
{
	struct observed *it = *state;

	cut_the_first_process(it);
	observed_schedule(it, "fsync#3 => error:EIO\nfsync#4 => crash:1");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	observed_fault(it, EVENTLOG_INJECT, 2, "");
	fail_read(it, 0, EIO);
	assert_verdict(it, VERDICT_FAIL, CLASS_CONTRACT);
	assert_non_null(strstr(it->result.reason, "step 3: tensor"));
}

static void a_failure_behind_a_crash_is_expected_of_a_fault_there(void **state)
{
	struct observed *it = *state;

	cut_the_first_process(it);
	observed_schedule(it, "io_event#1 image=2 => res:EIO\nfsync#4 => crash:1");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	observed_fault(it, EVENTLOG_INJECT, 2, "");
	fail_read(it, 0, EIO);
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
}

/* Swap-in, return of the device, swap-in again: the requests are of the step @step of those. */
static void pull_the_device_out(struct observed *it, unsigned step)
{
	struct workload *workload = &it->test_case.workload;

	workload->steps_count = 4;
	workload->steps[3] = workload->steps[1];
	step_defaults(&workload->steps[2], STEP_DEVICE_RETURN);
	it->outcome.requests[2].step = it->outcome.requests[3].step = step;
	it->outcome.last_step = 3;
	it->seen.steps_returned = UINT64_C(1) << 2;
	it->test_case.expect.result = EXPECT_ERROR;
	it->test_case.expect.failures = 1;
}

static void a_failure_of_a_device_that_is_pulled_out_is_expected(void **state)
{
	struct observed *it = *state;

	pull_the_device_out(it, 1);
	observed_schedule(it, "nvme.read#1 => remove");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	fail_read(it, 0, EIO);
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
}

static void a_failure_of_a_device_that_returned_is_not_the_one_that_was_expected(void **state)
{
	struct observed *it = *state;

	pull_the_device_out(it, 3);
	observed_schedule(it, "nvme.read#1 => remove");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	fail_read(it, 0, EIO);
	assert_verdict(it, VERDICT_FAIL, CLASS_CONTRACT);
	assert_non_null(strstr(it->result.reason, "step 4: tensor"));
}

static void a_failure_of_a_device_that_returned_is_expected_of_another_fault(void **state)
{
	struct observed *it = *state;

	pull_the_device_out(it, 3);
	observed_schedule(it, "nvme.read#1 => remove\nnvme.read#9 => error");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	observed_fault(it, EVENTLOG_INJECT, 2, "");
	fail_read(it, 0, EIO);
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
}

static void what_a_removal_took_cannot_be_read(void **state)
{
	struct observed *it = *state;

	pull_the_device_out(it, 3);
	it->test_case.expect = (struct expectation){
		.result = EXPECT_OK, .data = EXPECT_DATA_EXACT, .deadline_ns = 5000000000};
	observed_schedule(it, "nvme.read#1 => remove");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	fail_read(it, 0, ENOENT);
	it->outcome.requests[2].size_before = -ENOENT;
	it->outcome.requests[3].size_before = OBSERVED_BYTES;
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
	it->seen.steps_returned = 0;
	assert_verdict(it, VERDICT_FAIL, CLASS_CONTRACT);
}

static void a_store_that_cannot_be_opened_behind_a_crash_fails(void **state)
{
	struct observed *it = *state;
	struct outcome_call *call = &it->outcome.calls[0];

	cut_the_first_process(it);
	observed_schedule(it, "fsync#3 => error:EIO\nfsync#4 => crash:1");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	observed_fault(it, EVENTLOG_INJECT, 2, "");
	*call = (struct outcome_call){.step = 2, .error = EEXIST, .call = "store-open"};
	snprintf(call->text, sizeof(call->text), "store: neither a store nor empty");
	it->outcome.calls_count = 1;
	assert_verdict(it, VERDICT_FAIL, CLASS_CONTRACT);
	assert_non_null(strstr(it->result.reason, "step 3: store-open fails with EEXIST"));
}

static void a_step_that_expects_an_errno_excuses_its_requests(void **state)
{
	struct observed *it = *state;

	snprintf(it->test_case.workload.steps[1].expect_error, 16, "EIO");
	fail_read(it, 0, EIO);
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
}

static void a_step_that_expects_an_errno_and_gets_none_fails(void **state)
{
	struct observed *it = *state;

	snprintf(it->test_case.workload.steps[1].expect_error, 16, "EIO");
	assert_verdict(it, VERDICT_FAIL, CLASS_CONTRACT);
}

static void a_counter_is_held_to_what_the_scenario_says(void **state)
{
	struct observed *it = *state;

	it->test_case.expect.stats_count = 1;
	snprintf(it->test_case.expect.stats[0], sizeof(it->test_case.expect.stats[0]),
		 "interrupts>=2");
	it->outcome.stats[4] = 2;
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
	it->outcome.stats[4] = 1;
	assert_verdict(it, VERDICT_FAIL, CLASS_CONTRACT);
}

static void no_handshake_is_broken_whatever_else_happened(void **state)
{
	struct observed *it = *state;

	eventlog_header(it->seen.log)->handshake = 0;
	fail_read(it, 0, EIO);
	assert_verdict(it, VERDICT_BROKEN, CLASS_NONE);
}

static void an_overflowing_log_is_broken(void **state)
{
	struct observed *it = *state;

	eventlog_header(it->seen.log)->overflow = 1;
	assert_verdict(it, VERDICT_BROKEN, CLASS_NONE);
}

static void a_full_disk_is_broken_and_says_where(void **state)
{
	struct observed *it = *state;
	struct eventlog_record file = {.type = EVENTLOG_FILE, .fd = 7, .text = "tensor0.swp"};

	eventlog_append(it->seen.log, &file);
	observed_block(it, 9, 7, FAULT_OP_WRITE, -ENOSPC);
	fail_read(it, 0, ENOSPC);
	assert_verdict(it, VERDICT_BROKEN, CLASS_NONE);
	assert_non_null(strstr(it->result.reason, "ENOSPC of tensor0.swp in /cases: "));
	assert_non_null(strstr(it->result.reason, "--work-dir"));
}

static void a_quota_that_a_call_met_is_broken(void **state)
{
	struct observed *it = *state;
	struct eventlog_record call = {
		.type = EVENTLOG_CALL, .result = -EDQUOT, .fd = -1, .text = "tensor1.swp"};

	eventlog_append(it->seen.log, &call);
	assert_verdict(it, VERDICT_BROKEN, CLASS_NONE);
	assert_non_null(strstr(it->result.reason, "EDQUOT of tensor1.swp in /cases: "));
}

static void a_full_disk_by_a_fault_is_not_broken(void **state)
{
	struct observed *it = *state;
	struct eventlog_record call = {.type = EVENTLOG_CALL,
				       .flags = EVENTLOG_INJECTED,
				       .result = -ENOSPC,
				       .text = "tensor0.swp"};

	eventlog_append(it->seen.log, &call);
	assert_verdict(it, VERDICT_PASS, CLASS_NONE);
}

static void a_program_on_io_uring_is_vacuous(void **state)
{
	struct observed *it = *state;

	eventlog_header(it->seen.log)->uring = 1;
	assert_verdict(it, VERDICT_VACUOUS, CLASS_NONE);
}

static void a_crash_says_more_than_the_leak_behind_it(void **state)
{
	struct observed *it = *state;

	result_add(&it->result, "leaks", CLASS_LEAK, "a leak");
	it->outcome.ended = false;
	it->seen.status = 11;
	assert_verdict(it, VERDICT_FAIL, CLASS_CRASH);
}

static void a_power_cut_that_nobody_reads_after_is_vacuous(void **state)
{
	struct observed *it = *state;

	observed_schedule(it, "io_submit#1 => crash:1");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	it->outcome.ended = false;
	it->seen.status = EVENTLOG_EXIT_CRASH << 8;
	assert_verdict(it, VERDICT_VACUOUS, CLASS_NONE);
}

static void a_kill_that_nobody_reads_after_is_vacuous(void **state)
{
	struct observed *it = *state;

	observed_schedule(it, "io_submit#1 => kill");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	it->outcome.ended = false;
	it->seen.status = SIGKILL;
	assert_verdict(it, VERDICT_VACUOUS, CLASS_NONE);
	assert_non_null(strstr(it->result.reason, "the process was killed as scheduled"));
}

static void what_ended_a_process_is_a_fault_of_its_own_image(void **state)
{
	struct observed *it = *state;
	const struct schedule *schedule = &it->test_case.schedule;
	const int crashed = EVENTLOG_EXIT_CRASH << 8;

	observed_schedule(it, "fsync#1 => kill\nfsync#1 image=2 => crash:1");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	verdict_count_faults(&it->test_case, it->seen.log, &it->result);
	assert_ptr_equal(verdict_ended_by(schedule, &it->result, 1, SIGKILL), &schedule->faults[0]);
	assert_null(verdict_ended_by(schedule, &it->result, 1, SIGSEGV));
	assert_null(verdict_ended_by(schedule, &it->result, 1, crashed));
	assert_null(verdict_ended_by(schedule, &it->result, 2, SIGKILL));
	assert_null(verdict_ended_by(schedule, &it->result, 2, crashed)); /* it did not fire */
	observed_fault(it, EVENTLOG_INJECT, 2, "");
	verdict_count_faults(&it->test_case, it->seen.log, &it->result);
	assert_ptr_equal(verdict_ended_by(schedule, &it->result, 2, crashed), &schedule->faults[1]);
}

static void a_kill_that_is_none_of_the_schedule_is_a_crash(void **state)
{
	struct observed *it = *state;

	it->outcome.ended = false;
	it->seen.status = SIGKILL;
	assert_verdict(it, VERDICT_FAIL, CLASS_CRASH);
}

static void the_status_of_a_power_cut_without_one_is_a_crash(void **state)
{
	struct observed *it = *state;

	it->outcome.ended = false;
	it->seen.status = EVENTLOG_EXIT_CRASH << 8;
	assert_verdict(it, VERDICT_FAIL, CLASS_CRASH);
}

static void more_findings_than_there_is_room_for_are_counted(void **state)
{
	struct observed *it = *state;

	for (unsigned i = 0; i < RESULT_FINDINGS_MAX + 1; i++)
		result_add(&it->result, "leaks", CLASS_LEAK, "leak %u", i);
	assert_int_equal(it->result.findings_count, RESULT_FINDINGS_MAX);
	assert_int_equal(it->result.findings_lost, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(all_well_without_faults_passes),
		TEST(a_transparent_fault_that_took_effect_passes),
		TEST(a_fault_that_did_not_fire_is_vacuous),
		TEST(a_fault_that_missed_is_vacuous_and_says_why),
		TEST(one_of_two_faults_that_did_not_fire_is_vacuous),
		TEST(an_error_under_a_transparent_fault_fails),
		TEST(an_error_without_any_fault_fails_even_if_its_fault_did_not_fire),
		TEST(an_error_that_one_request_reports_passes),
		TEST(an_error_that_nobody_reports_fails),
		TEST(an_error_that_takes_a_neighbour_along_fails),
		TEST(an_expected_error_of_a_fault_that_did_not_fire_is_vacuous),
		TEST(another_errno_than_expected_fails),
		TEST(the_expected_tensor_errno_and_words_pass),
		TEST(a_refusal_after_submission_is_none),
		TEST(a_refusal_before_submission_passes),
		TEST(a_failure_behind_a_crash_is_not_the_one_that_was_expected),
		TEST(a_failure_behind_a_crash_is_expected_of_a_fault_there),
		TEST(a_store_that_cannot_be_opened_behind_a_crash_fails),
		TEST(a_failure_of_a_device_that_is_pulled_out_is_expected),
		TEST(a_failure_of_a_device_that_returned_is_not_the_one_that_was_expected),
		TEST(a_failure_of_a_device_that_returned_is_expected_of_another_fault),
		TEST(what_a_removal_took_cannot_be_read),
		TEST(a_step_that_expects_an_errno_excuses_its_requests),
		TEST(a_step_that_expects_an_errno_and_gets_none_fails),
		TEST(a_counter_is_held_to_what_the_scenario_says),
		TEST(no_handshake_is_broken_whatever_else_happened),
		TEST(an_overflowing_log_is_broken),
		TEST(a_full_disk_is_broken_and_says_where),
		TEST(a_quota_that_a_call_met_is_broken),
		TEST(a_full_disk_by_a_fault_is_not_broken),
		TEST(a_program_on_io_uring_is_vacuous),
		TEST(a_crash_says_more_than_the_leak_behind_it),
		TEST(a_power_cut_that_nobody_reads_after_is_vacuous),
		TEST(a_kill_that_nobody_reads_after_is_vacuous),
		TEST(what_ended_a_process_is_a_fault_of_its_own_image),
		TEST(a_kill_that_is_none_of_the_schedule_is_a_crash),
		TEST(the_status_of_a_power_cut_without_one_is_a_crash),
		TEST(more_findings_than_there_is_room_for_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
