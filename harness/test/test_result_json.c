/* SPDX-License-Identifier: MIT */
/*
 * test_result_json.c - a result goes to a line and back unchanged, and of a line that is not one
 * nothing is taken.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "result_json.h"

static struct scenario scenario = {.path = "scenarios/signal/x.yaml"};
static char name[] = "signal/x@nvme", repro[] = "swaptorture run x.yaml";
static struct test_case test_case = {
	.name = name, .repro = repro, .scenario = &scenario, .target = TARGET_NVME, .seed = 7};
static struct case_result given, got;

static int set_up(void **state)
{
	struct schedule_error error;

	(void)state;
	assert_int_equal(schedule_parse("io_event#2 => short:512\nnvme.read#1 => error",
					&test_case.schedule, &error),
			 0);
	memset(&given, 0, sizeof(given));
	given.test_case = &test_case;
	given.verdict = VERDICT_FAIL;
	given.failure_class = CLASS_CORRUPTION;
	snprintf(given.reason, sizeof(given.reason), "tensor \"a\": bytes 0-511 are wrong");
	result_add(&given, "data", CLASS_CORRUPTION, "bytes 0-511");
	result_add(&given, "kernel-io", CLASS_CONTRACT, "100 %% of it");
	given.faults_count = 2;
	given.faults[0] = (struct fault_outcome){.fired = 3, .injected = 1, .missed = 2};
	snprintf(given.faults[0].why_missed, sizeof(given.faults[0].why_missed), "too late");
	given.faults[1] = (struct fault_outcome){.fired = UINT32_MAX, .injected = 5};
	given.exit_status = 9;
	given.duration_ns = 123456789012;
	given.log_records = 39;
	given.log_hash = 0xfedcba9876543210;
	snprintf(given.wait_call, sizeof(given.wait_call), "io_pgetevents");
	return 0;
}

static json_t *line_of(void)
{
	json_t *line = result_to_json(&given);

	assert_non_null(line);
	return line;
}

static void what_comes_back_is_what_was_given(void **state)
{
	struct diag diag = {.text = ""};
	json_t *line = line_of();

	(void)state;
	assert_int_equal(result_from_json(line, &test_case, &got, &diag), 0);
	json_decref(line);
	assert_ptr_equal(got.test_case, &test_case);
	assert_int_equal(got.verdict, given.verdict);
	assert_int_equal(got.failure_class, given.failure_class);
	assert_string_equal(got.reason, given.reason);
	assert_int_equal(got.findings_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(got.findings[i].oracle, given.findings[i].oracle);
		assert_int_equal(got.findings[i].failure_class, given.findings[i].failure_class);
		assert_string_equal(got.findings[i].text, given.findings[i].text);
		assert_int_equal(got.faults[i].fired, given.faults[i].fired);
		assert_int_equal(got.faults[i].injected, given.faults[i].injected);
		assert_int_equal(got.faults[i].missed, given.faults[i].missed);
		assert_string_equal(got.faults[i].why_missed, given.faults[i].why_missed);
	}
	assert_int_equal(got.faults_count, 2);
	assert_int_equal(got.exit_status, given.exit_status);
	assert_true(got.duration_ns == given.duration_ns);
	assert_true(got.log_records == given.log_records && got.log_hash == given.log_hash);
	assert_string_equal(got.wait_call, given.wait_call);
}

static void expect_refused(json_t *line, const char *member)
{
	struct diag diag = {.text = ""};

	assert_int_equal(result_from_json(line, &test_case, &got, &diag), -EBADMSG);
	if (!strstr(diag.text, member))
		fail_msg("'%s' does not name %s", diag.text, member);
	json_decref(line);
}

static void a_member_that_is_missing_is_named(void **state)
{
	static const char *const members[] = {"verdict",     "class",	    "reason",
					      "findings",    "faults",	    "exit_status",
					      "duration_ns", "log_records", "log_hash",
					      "wait_call"};

	(void)state;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *line = line_of();

		json_object_del(line, members[i]);
		expect_refused(line, members[i]);
	}
}

static void a_member_that_is_something_else_is_named(void **state)
{
	static const char *const members[] = {"verdict", "class", "findings", "faults",
					      "duration_ns"};

	(void)state;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *line = line_of();

		json_object_set_new(line, members[i], json_string("unheard-of"));
		expect_refused(line, members[i]);
		line = line_of();
		json_object_set_new(line, members[i], json_integer(-1));
		expect_refused(line, members[i]);
	}
}

static void another_number_of_faults_is_another_case(void **state)
{
	json_t *line = line_of();

	(void)state;
	json_array_remove(json_object_get(line, "faults"), 0);
	expect_refused(line, "faults");
}

static void more_findings_than_there_is_room_for_are_counted(void **state)
{
	json_t *line = line_of(), *findings = json_object_get(line, "findings");
	struct diag diag = {.text = ""};

	(void)state;
	while (json_array_size(findings) < RESULT_FINDINGS_MAX + 3)
		json_array_append(findings, json_array_get(findings, 0));
	assert_int_equal(result_from_json(line, &test_case, &got, &diag), 0);
	assert_int_equal(got.findings_count, RESULT_FINDINGS_MAX);
	assert_int_equal(got.findings_lost, 3);
	json_decref(line);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		CASE(what_comes_back_is_what_was_given),
		CASE(a_member_that_is_missing_is_named),
		CASE(a_member_that_is_something_else_is_named),
		CASE(another_number_of_faults_is_another_case),
		CASE(more_findings_than_there_is_room_for_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
