/* SPDX-License-Identifier: MIT */
/*
 * test_oracle_kernel.c - complaints of the kernel are found, what it only tells is not, and errors
 * of a device are no fault of the program when a fault of the device made them.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "kernel_log.h"
#include "observed.h"
#include "oracle.h"

static struct case_result ask(const char *text)
{
	struct observation seen = {.kernel_text = text};
	struct case_result result = {.findings_count = 0};

	oracle_kernel(&seen, &result);
	return result;
}

static void what_the_kernel_only_tells_is_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"nvme nvme0: pci function 0000:01:00.0\n",
		"nvme nvme0: 2/0/0 default/read/poll queues\nnvme0n1: p1\n",
		"EXT4-fs (nvme0n1): mounted filesystem with ordered data mode. Quota mode: none.\n",
		"nvme nvme0: Ignoring bogus Namespace Identifiers",
	};

	(void)state;
	assert_int_equal(ask(NULL).findings_count, 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(ask(texts[i]).findings_count, 0);
}

static void each_complaint_is_found_with_its_line(void **state)
{
	static const struct {
		const char *line, *oracle;
		enum failure_class failure_class;
	} lines[] = {
		{"BUG: kernel NULL pointer dereference, address: 0000000000000008", "kernel",
		 CLASS_CRASH},
		{"kernel BUG at fs/ext4/inode.c:2727!", "kernel", CLASS_CRASH},
		{"Oops: 0000 [#1] PREEMPT SMP", "kernel", CLASS_CRASH},
		{"WARNING: CPU: 1 PID: 101 at fs/iomap/direct-io.c:1 iomap_dio_rw+0xe/0x40",
		 "kernel", CLASS_CRASH},
		{"INFO: task swaptorture-wor:169 blocked for more than 20 seconds.", "kernel-io",
		 CLASS_HANG},
		{"I/O error, dev nvme0n1, sector 2048 op 0x0:(READ)", "kernel-io", CLASS_CONTRACT},
		{"critical medium error, dev nvme0n1, sector 263808 op 0x1:(WRITE)", "kernel-io",
		 CLASS_CONTRACT},
		{"nvme nvme0: I/O 515 (I/O Cmd) QID 2 timeout, aborting", "kernel-io",
		 CLASS_CONTRACT},
		{"EXT4-fs error (device nvme0n1): ext4_journal_check_start:83: aborted",
		 "kernel-io", CLASS_CONTRACT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char text[512];
		struct case_result result;

		snprintf(text, sizeof(text), "nvme0n1: p1\n%s\nnvme0n1: p2\n", lines[i].line);
		result = ask(text);
		assert_int_equal(result.findings_count, 1);
		assert_string_equal(result.findings[0].oracle, lines[i].oracle);
		assert_int_equal(result.findings[0].failure_class, lines[i].failure_class);
		assert_non_null(strstr(result.findings[0].text, lines[i].line));
		assert_null(strstr(result.findings[0].text, "p2"));
	}
}

static void one_kind_is_told_once(void **state)
{
	struct case_result result =
		ask("I/O error, dev nvme0n1, sector 1\nI/O error, dev nvme0n1, sector 2\n"
		    "WARNING: CPU: 0 PID: 1\n");

	(void)state;
	assert_int_equal(result.findings_count, 2);
	assert_non_null(strstr(result.findings[0].text, "sector 1"));
}

static void what_comes_behind_a_return_is_told_apart(void **state)
{
	struct case_result result =
		ask("I/O error, dev nvme0n1, sector 1\n" KERNEL_LOG_RETURN
		    "\nI/O error, dev nvme0n1, sector 2\nWARNING: CPU: 0 PID: 1\n");

	(void)state;
	assert_int_equal(result.findings_count, 3);
	assert_string_equal(result.findings[0].oracle, "kernel-io");
	assert_string_equal(result.findings[1].oracle, "kernel-return");
	assert_non_null(strstr(result.findings[1].text, "sector 2"));
	assert_string_equal(result.findings[2].oracle, "kernel");
}

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

static enum verdict verdict_with(struct observed *it, const char *text)
{
	it->seen.kernel_text = text;
	observed_judge(it);
	return it->result.verdict;
}

static void errors_of_a_device_that_nobody_told_to_fail_the_case(void **state)
{
	assert_int_equal(verdict_with(*state, "I/O error, dev nvme0n1, sector 1\n"), VERDICT_FAIL);
}

static void errors_of_a_device_that_was_told_to_are_explained(void **state)
{
	struct observed *it = *state;

	observed_schedule(it, "nvme.read#1 => hold:for=1s");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	assert_int_equal(verdict_with(it, "nvme nvme0: I/O 5 QID 2 timeout, aborting\n"),
			 VERDICT_PASS);
	assert_int_equal(verdict_with(it, "WARNING: CPU: 0 PID: 1\n"), VERDICT_FAIL);
	assert_int_equal(it->result.failure_class, CLASS_CRASH);
}

static void a_removal_explains_errors_until_the_device_is_back(void **state)
{
	struct observed *it = *state;

	it->test_case.expect.result = EXPECT_OK;
	observed_schedule(it, "nvme.read#1 => remove");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	assert_int_equal(verdict_with(it, "I/O error, dev nvme0n1, sector 1\n" KERNEL_LOG_RETURN
					  "\nEXT4-fs (nvme1n1): recovery complete\n"),
			 VERDICT_PASS);
	assert_int_equal(verdict_with(it, KERNEL_LOG_RETURN "\nI/O error, dev nvme1n1, sector 1\n"),
			 VERDICT_FAIL);
}

static void another_fault_explains_errors_of_the_device_that_is_back(void **state)
{
	struct observed *it = *state;

	it->test_case.expect.result = EXPECT_OK;
	observed_schedule(it, "nvme.read#1 => remove\nnvme.read#9 => hold:for=1s");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	observed_fault(it, EVENTLOG_INJECT, 2, "");
	assert_int_equal(verdict_with(it, KERNEL_LOG_RETURN "\nI/O error, dev nvme1n1, sector 1\n"),
			 VERDICT_PASS);
}

/* The guest is killed at once, and the next one replays a journal: neither has a reason. */
static void a_power_cut_explains_no_complaint(void **state)
{
	struct observed *it = *state;

	observed_schedule(it, "nvme.write#1 => powercut:1");
	observed_fault(it, EVENTLOG_INJECT, 1, "");
	assert_int_equal(verdict_with(it, "EXT4-fs (nvme0n1): recovery complete\n"), VERDICT_PASS);
	assert_int_equal(verdict_with(it, "EXT4-fs error (device nvme0n1): ext4_lookup\n"),
			 VERDICT_FAIL);
}

int main(void)
{
#define JUDGED(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_kernel_only_tells_is_nothing),
		cmocka_unit_test(each_complaint_is_found_with_its_line),
		cmocka_unit_test(one_kind_is_told_once),
		cmocka_unit_test(what_comes_behind_a_return_is_told_apart),
		JUDGED(errors_of_a_device_that_nobody_told_to_fail_the_case),
		JUDGED(errors_of_a_device_that_was_told_to_are_explained),
		JUDGED(a_removal_explains_errors_until_the_device_is_back),
		JUDGED(another_fault_explains_errors_of_the_device_that_is_back),
		JUDGED(a_power_cut_explains_no_complaint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
