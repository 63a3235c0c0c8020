/* SPDX-License-Identifier: MIT */
/*
 * test_oracle.c - each oracle is content with a case that went well, and finds the one thing that
 * is spoilt in it.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
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

/* Exactly one finding, of that oracle and class. */
static void assert_found(const struct observed *it, const char *oracle,
			 enum failure_class failure_class)
{
	assert_int_equal(it->result.findings_count, 1);
	assert_string_equal(it->result.findings[0].oracle, oracle);
	assert_int_equal(it->result.findings[0].failure_class, failure_class);
}

static void a_case_that_went_well_has_no_findings(void **state)
{
	struct observed *it = *state;

	observed_append(it, EVENTLOG_SUBMIT, 1, false);
	observed_append(it, EVENTLOG_COMPLETE, 1, false);
	observed_append(it, EVENTLOG_DELIVER, 1, false);
	oracle_ask_all(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
}

static void wrong_bytes_are_told_with_tensor_and_range(void **state)
{
	struct observed *it = *state;

	it->outcome.data[0] = (struct outcome_remark){.step = 1,
						      .tensor = 1,
						      .begin = 512,
						      .end = 1024,
						      .bad = 512,
						      .text = "hold generation 1: lost write"};
	it->outcome.data_count = 1;
	oracle_data(&it->seen, &it->result);
	assert_found(it, "data", CLASS_CORRUPTION);
	assert_non_null(strstr(it->result.findings[0].text,
			       "tensor1, bytes 512-1023 hold generation 1: lost write"));
}

static void an_event_taken_twice_is_found(void **state)
{
	struct observed *it = *state;

	observed_append(it, EVENTLOG_SUBMIT, 1, false);
	observed_append(it, EVENTLOG_COMPLETE, 1, false);
	observed_append(it, EVENTLOG_DELIVER, 1, false);
	observed_append(it, EVENTLOG_DELIVER, 1, false);
	oracle_ledger(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
}

static void an_event_doubled_by_a_fault_is_not_the_programs(void **state)
{
	struct observed *it = *state;

	observed_append(it, EVENTLOG_SUBMIT, 1, true);
	observed_append(it, EVENTLOG_COMPLETE, 1, false);
	observed_append(it, EVENTLOG_DELIVER, 1, true);
	observed_append(it, EVENTLOG_DELIVER, 1, true);
	oracle_ledger(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
}

static void a_completion_of_nothing_is_found(void **state)
{
	struct observed *it = *state;

	observed_append(it, EVENTLOG_COMPLETE, 7, false);
	oracle_ledger(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
}

static void a_block_never_taken_is_found_unless_it_was_given_up(void **state)
{
	struct observed *it = *state;

	observed_append(it, EVENTLOG_SUBMIT, 1, false);
	observed_append(it, EVENTLOG_COMPLETE, 1, false);
	it->outcome.aborted = true;
	oracle_ledger(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
	it->outcome.aborted = false;
	oracle_ledger(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
}

static void what_the_preload_caught_is_told_with_its_class(void **state)
{
	static const struct {
		enum eventlog_check check;
		enum point_id point;
		enum failure_class failure_class;
	} caught[] = {
		{EVENTLOG_CHECK_MEMORY, POINT_io_event, CLASS_CORRUPTION},
		{EVENTLOG_CHECK_LEFT, POINT_io_setup, CLASS_LEAK},
		{EVENTLOG_CHECK_WAIT, POINT_io_getevents, CLASS_CONTRACT},
		{EVENTLOG_CHECK_TIMED_WAIT, POINT_io_getevents, CLASS_CONTRACT},
	};
	struct observed *it = *state;

	for (unsigned i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		struct eventlog_record record = {.type = EVENTLOG_CHECK,
						 .point = (uint8_t)caught[i].point,
						 .ctx = 7,
						 .result = caught[i].check,
						 .text = "what it did"};

		eventlog_append(it->seen.log, &record);
	}
	oracle_ledger(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 4);
	for (unsigned i = 0; i < 4; i++) {
		const struct finding *finding = &it->result.findings[i];

		assert_int_equal(finding->failure_class, caught[i].failure_class);
		assert_non_null(strstr(finding->text, "context 7"));
		assert_non_null(strstr(finding->text, ": what it did"));
		assert_int_equal(!strncmp(finding->text, "block", 5), i == 0);
	}
}

static void success_with_too_few_bytes_is_found(void **state)
{
	struct observed *it = *state;

	it->outcome.requests[2].bytes--;
	oracle_contract(&it->seen, &it->result);
	assert_found(it, "contract", CLASS_CONTRACT);
}

static void spoil(struct outcome_request *request, int error, const char *cause)
{
	request->error = error;
	request->bytes = 0;
	request->fail_offset = 0;
	request->fail_length = OBSERVED_BYTES;
	snprintf(request->cause, sizeof(request->cause), "%s", cause);
}

static void a_failure_that_is_consistent_is_accepted(void **state)
{
	struct observed *it = *state;

	spoil(&it->outcome.requests[2], EIO, "device");
	spoil(&it->outcome.requests[3], ENODATA, "eof");
	oracle_contract(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
}

static void a_failing_range_outside_of_the_request_is_found(void **state)
{
	struct observed *it = *state;

	spoil(&it->outcome.requests[2], EIO, "device");
	it->outcome.requests[2].fail_length++;
	oracle_contract(&it->seen, &it->result);
	assert_found(it, "contract", CLASS_CONTRACT);
}

static void a_cause_with_another_errno_is_found(void **state)
{
	struct observed *it = *state;

	spoil(&it->outcome.requests[2], EIO, "eof");
	oracle_contract(&it->seen, &it->result);
	assert_found(it, "contract", CLASS_CONTRACT);
}

static void a_refusal_without_a_sentence_is_found(void **state)
{
	struct observed *it = *state;

	it->outcome.requests[2].stage = STAGE_SUBMIT;
	it->outcome.requests[2].error = ENOENT;
	oracle_contract(&it->seen, &it->result);
	assert_found(it, "contract", CLASS_CONTRACT);
}

/* Descriptor 5 is tensor0's file from here on, 6 is tensor1's. */
static void open_files(struct observed *it)
{
	for (int i = 0; i < 2; i++) {
		struct eventlog_record record = {.type = EVENTLOG_FILE, .pid = 1, .fd = 5 + i};

		snprintf(record.text, sizeof(record.text), "tensor%d.swp", i);
		eventlog_append(it->seen.log, &record);
	}
}

static void who_was_struck_may_be_blamed(void **state)
{
	struct observed *it = *state;

	open_files(it);
	observed_block(it, 1, 5, FAULT_OP_READ, -EIO);
	observed_block(it, 2, 6, FAULT_OP_READ, 512);
	spoil(&it->outcome.requests[2], EIO, "device");
	spoil(&it->outcome.requests[3], ENODATA, "eof");
	oracle_ask_all(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
}

static void a_neighbour_that_is_blamed_is_found_and_so_is_who_was_struck(void **state)
{
	struct observed *it = *state;

	open_files(it);
	observed_block(it, 1, 5, FAULT_OP_READ, -EIO);
	observed_block(it, 2, 6, FAULT_OP_READ, OBSERVED_BYTES);
	spoil(&it->outcome.requests[3], EIO, "device");
	oracle_blame(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 2);
	assert_non_null(strstr(it->result.findings[0].text, "read of tensor tensor1 fails"));
	assert_non_null(strstr(it->result.findings[1].text, "read of tensor tensor0 succeeds"));
}

static void another_errno_than_the_events_is_found(void **state)
{
	struct observed *it = *state;

	open_files(it);
	observed_block(it, 1, 5, FAULT_OP_READ, -EIO);
	spoil(&it->outcome.requests[2], ENOSPC, "device");
	oracle_blame(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
}

static void other_bytes_than_the_events_are_found(void **state)
{
	struct observed *it = *state;

	open_files(it);
	it->test_case.workload.tensors[0].file_offset_bytes = OBSERVED_BYTES;
	observed_block(it, 1, 5, FAULT_OP_READ, -EIO);
	spoil(&it->outcome.requests[2], EIO, "device");
	it->outcome.requests[2].fail_offset = OBSERVED_BYTES;
	oracle_blame(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
}

static void a_request_that_moved_at_a_second_try_may_succeed(void **state)
{
	struct observed *it = *state;

	open_files(it);
	observed_block(it, 1, 5, FAULT_OP_READ, -EIO);
	oracle_blame(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
	it->result.findings_count = 0;
	observed_block(it, 2, 5, FAULT_OP_READ, OBSERVED_BYTES);
	oracle_blame(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
}

static void each_failure_needs_an_event_of_its_own(void **state)
{
	struct observed *it = *state;

	open_files(it);
	observed_block(it, 1, 5, FAULT_OP_READ, -EIO);
	it->outcome.requests[3].tensor = 0;
	spoil(&it->outcome.requests[2], EIO, "device");
	spoil(&it->outcome.requests[3], EIO, "device");
	oracle_blame(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
	it->result.findings_count = 0;
	observed_block(it, 2, 5, FAULT_OP_READ, -EIO);
	oracle_blame(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
}

/* The write may have got either event, the read only the first. */
static void who_could_have_got_either_event_leaves_one_to_who_could_not(void **state)
{
	struct observed *it = *state;

	open_files(it);
	it->outcome.requests[0].tensor = 0;
	spoil(&it->outcome.requests[0], EIO, "device");
	spoil(&it->outcome.requests[2], EIO, "device");
	observed_block(it, 1, 5, FAULT_OP_READ, -EIO);
	observed_block(it, 2, 5, FAULT_OP_WRITE, -EIO);
	oracle_blame(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
}

static void a_read_is_not_blamed_on_a_write(void **state)
{
	struct observed *it = *state;

	open_files(it);
	observed_block(it, 1, 5, FAULT_OP_WRITE, -EIO);
	it->outcome.requests[0].error = EIO; /* who it was, without a cause */
	it->outcome.requests[0].synchronous = true;
	spoil(&it->outcome.requests[2], EIO, "device");
	oracle_blame(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
}

static void a_descriptor_is_the_file_that_it_was_opened_as_last(void **state)
{
	struct eventlog_record closed = {
		.type = EVENTLOG_CALL, .point = POINT_close, .pid = 1, .fd = 6};
	struct observed *it = *state;

	open_files(it);
	eventlog_append(it->seen.log, &closed);
	observed_block(it, 1, 6, FAULT_OP_READ, -EIO); /* nobody knows whose it is */
	spoil(&it->outcome.requests[2], EIO, "device");
	oracle_blame(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
	open_files(it);
	observed_block(it, 2, 6, FAULT_OP_READ, OBSERVED_BYTES);
	spoil(&it->outcome.requests[3], ENODATA, "eof"); /* it is tensor1's, and whole */
	oracle_blame(&it->seen, &it->result);
	assert_found(it, "ledger", CLASS_CONTRACT);
}

static void who_was_never_waited_for_accuses_nobody(void **state)
{
	struct observed *it = *state;
	struct workload *workload = &it->test_case.workload;

	open_files(it);
	observed_block(it, 1, 5, FAULT_OP_READ, -EIO);
	step_defaults(&workload->steps[workload->steps_count++], STEP_START);
	step_defaults(&workload->steps[workload->steps_count++], STEP_CLOSE);
	oracle_blame(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
}

static void each_count_that_grew_is_a_leak(void **state)
{
	struct observed *it = *state;

	for (unsigned i = 0; i < OUTCOME_COUNTS; i++) {
		it->result.findings_count = 0;
		memset(it->outcome.after.values, 0, sizeof(it->outcome.after.values));
		oracle_leaks(&it->seen, &it->result);
		assert_int_equal(it->result.findings_count, 0);
		it->outcome.after.values[i] = 1 << 20;
		oracle_leaks(&it->seen, &it->result);
		assert_found(it, "leaks", CLASS_LEAK);
	}
}

static void one_descriptor_more_is_a_leak_and_one_less_is_not(void **state)
{
	struct observed *it = *state;

	it->outcome.before.values[0] = 9;
	it->outcome.after.values[0] = 8;
	oracle_leaks(&it->seen, &it->result);
	assert_int_equal(it->result.findings_count, 0);
	it->outcome.after.values[0] = 10;
	oracle_leaks(&it->seen, &it->result);
	assert_found(it, "leaks", CLASS_LEAK);
}

static void a_signal_is_a_crash(void **state)
{
	struct observed *it = *state;

	it->outcome.ended = false;
	it->seen.status = 11;
	oracle_deadline(&it->seen, &it->result);
	assert_found(it, "deadline", CLASS_CRASH);
}

static void an_end_in_the_middle_is_a_crash_whatever_its_status(void **state)
{
	struct observed *it = *state;

	it->outcome.ended = false;
	oracle_deadline(&it->seen, &it->result);
	assert_found(it, "deadline", CLASS_CRASH);
}

static void being_overdue_is_a_hang_with_its_story(void **state)
{
	struct observed *it = *state;

	it->outcome.ended = false;
	it->seen.status = 9;
	it->seen.overdue = true;
	it->seen.story = "2 blocks in flight";
	oracle_deadline(&it->seen, &it->result);
	assert_found(it, "deadline", CLASS_HANG);
	assert_non_null(strstr(it->result.findings[0].text, "2 blocks in flight"));
}

static void a_hang_that_sim_saw_is_a_hang_and_no_crash(void **state)
{
	struct observed *it = *state;

	it->outcome.ended = false;
	it->seen.status = 124 << 8;
	observed_append(it, EVENTLOG_HANG, 0, false);
	oracle_deadline(&it->seen, &it->result);
	assert_found(it, "deadline", CLASS_HANG);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_case_that_went_well_has_no_findings),
		TEST(wrong_bytes_are_told_with_tensor_and_range),
		TEST(an_event_taken_twice_is_found),
		TEST(an_event_doubled_by_a_fault_is_not_the_programs),
		TEST(a_completion_of_nothing_is_found),
		TEST(a_block_never_taken_is_found_unless_it_was_given_up),
		TEST(what_the_preload_caught_is_told_with_its_class),
		TEST(success_with_too_few_bytes_is_found),
		TEST(a_failure_that_is_consistent_is_accepted),
		TEST(a_failing_range_outside_of_the_request_is_found),
		TEST(a_cause_with_another_errno_is_found),
		TEST(a_refusal_without_a_sentence_is_found),
		TEST(who_was_struck_may_be_blamed),
		TEST(a_neighbour_that_is_blamed_is_found_and_so_is_who_was_struck),
		TEST(another_errno_than_the_events_is_found),
		TEST(other_bytes_than_the_events_are_found),
		TEST(a_request_that_moved_at_a_second_try_may_succeed),
		TEST(each_failure_needs_an_event_of_its_own),
		TEST(who_could_have_got_either_event_leaves_one_to_who_could_not),
		TEST(a_read_is_not_blamed_on_a_write),
		TEST(a_descriptor_is_the_file_that_it_was_opened_as_last),
		TEST(who_was_never_waited_for_accuses_nobody),
		TEST(each_count_that_grew_is_a_leak),
		TEST(one_descriptor_more_is_a_leak_and_one_less_is_not),
		TEST(a_signal_is_a_crash),
		TEST(an_end_in_the_middle_is_a_crash_whatever_its_status),
		TEST(being_overdue_is_a_hang_with_its_story),
		TEST(a_hang_that_sim_saw_is_a_hang_and_no_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
