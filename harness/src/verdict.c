/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - pass, fail with its class, vacuous, broken. What stands higher in verdict_decide()
 * wins: a log that lies proves nothing; what went wrong counts whether or not a fault fired; and a
 * pass needs that every fault took effect.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "verdict.h"

static void count_record(const struct eventlog_record *record, struct case_result *result)
{
	struct fault_outcome *fault;

	if (record->fault == 0 || record->fault > result->faults_count)
		return;
	fault = &result->faults[record->fault - 1];
	if (record->type == EVENTLOG_INJECT) {
		fault->fired++;
		fault->injected++;
	} else if (record->type == EVENTLOG_MISSED) {
		fault->fired++;
		fault->missed++;
		snprintf(fault->why_missed, sizeof(fault->why_missed), "%s", record->text);
	}
}

void verdict_count_faults(const struct test_case *test_case, struct eventlog *log,
			  struct case_result *result)
{
	uint64_t count = eventlog_count(log);

	memset(result->faults, 0, sizeof(result->faults));
	result->faults_count = test_case->schedule.count;
	for (uint64_t i = 0; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		if (record)
			count_record(record, result);
	}
}

static bool explains(const struct fault *fault, int status)
{
	if (fault_crashes(fault))
		return WIFEXITED(status) && WEXITSTATUS(status) == EVENTLOG_EXIT_CRASH;
	return fault_kills(fault) && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

const struct fault *verdict_ended_by(const struct schedule *schedule,
				     const struct case_result *result, unsigned image, int status)
{
	for (unsigned i = 0; i < result->faults_count; i++)
		if (result->faults[i].injected && fault_image(&schedule->faults[i]) == image &&
		    explains(&schedule->faults[i], status))
			return &schedule->faults[i];
	return NULL;
}

/* What an end leaves has to be read by a fresh process, and after a crash something has to be
 * durable: not in this workload. */
static bool is_cut_short(const struct test_case *test_case, const struct observation *seen,
			 struct case_result *result)
{
	const struct fault *fault =
		verdict_ended_by(&test_case->schedule, result, seen->image, seen->status);
	bool followed = seen->image < workload_images(&test_case->workload);

	if (!fault || seen->overdue)
		return false;
	result->verdict = VERDICT_VACUOUS;
	snprintf(result->reason, sizeof(result->reason), "%s as scheduled, and %s",
		 fault_crashes(fault) ? "the power was cut" : "the process was killed",
		 followed ? "nothing was promised then: the store is opened with durable: false"
			  : "nobody reads what it left: no step restart follows");
	return true;
}

static bool is_broken(const struct observation *seen, struct case_result *result)
{
	const struct eventlog_header *header = seen->log ? eventlog_header(seen->log) : NULL;
	char shortage[FINDING_TEXT_BYTES];
	const char *why = NULL;

	if (seen->outcome->broken[0])
		why = seen->outcome->broken;
	else if (!header || !header->handshake)
		why = "no handshake from the preload: nothing could be injected or seen";
	else if (header->overflow)
		why = "the event log overflowed: what happened is not known";
	else if (verdict_ran_out_of_disk(seen, shortage, sizeof(shortage)))
		why = shortage;
	if (!why)
		return false;
	result->verdict = VERDICT_BROKEN;
	snprintf(result->reason, sizeof(result->reason), "%.*s", FINDING_TEXT_BYTES - 1, why);
	return true;
}

/* Did a fault change what lies on the medium? */
static bool was_corrupted(const struct test_case *test_case, const struct case_result *result)
{
	for (unsigned i = 0; i < result->faults_count; i++)
		if (result->faults[i].injected &&
		    fault_effect(&test_case->schedule.faults[i]) == EFFECT_CORRUPTS)
			return true;
	return false;
}

/*
 * Did a fault of the device take effect of which the kernel has to complain? Of a device that was
 * put back it has to be silent, if @returned and nothing else was wrong with it. Of a loss of power
 * it cannot: its machine is gone at once, and to the next one that is a disk with a journal to
 * replay.
 */
static bool device_failed(const struct test_case *test_case, const struct case_result *result,
			  bool returned)
{
	for (unsigned i = 0; i < result->faults_count; i++) {
		const struct fault *fault = &test_case->schedule.faults[i];

		if (result->faults[i].injected && fault_is_device(fault) &&
		    !fault_cuts_power(fault) && !(returned && fault_removes(fault)))
			return true;
	}
	return false;
}

bool verdict_explains_kernel(const struct test_case *test_case, const struct case_result *result)
{
	return device_failed(test_case, result, false);
}

static bool has_failed(const struct test_case *test_case, struct case_result *result)
{
	bool any = test_case->expect.data == EXPECT_DATA_ANY;
	/* A store that a fault damaged, and whose checksums say so, is what the fault asked for:
	 * what counts is that a swap-in finds it, too. */
	const char *const ignored[] = {
		any ? "data" : "",
		any || was_corrupted(test_case, result) ? "medium" : "",
		device_failed(test_case, result, false) ? "kernel-io" : "",
		device_failed(test_case, result, true) ? "kernel-return" : "",
		NULL,
	};
	const struct finding *worst = result_worst(result, ignored);

	if (!worst)
		return false;
	result->verdict = VERDICT_FAIL;
	result->failure_class = worst->failure_class;
	snprintf(result->reason, sizeof(result->reason), "%s", worst->text);
	return true;
}

/* The first fault that did nothing the program could see. */
static bool find_idle_fault(const struct test_case *test_case, struct case_result *result)
{
	for (unsigned i = 0; i < result->faults_count; i++) {
		const struct fault_outcome *fault = &result->faults[i];
		char text[200];

		if (fault->injected)
			continue;
		fault_print(&test_case->schedule.faults[i], text, sizeof(text));
		snprintf(result->reason, sizeof(result->reason), "%s: %s", text,
			 fault->fired ? fault->why_missed : "did not fire");
		return true;
	}
	return false;
}

static bool is_beyond_reach(const struct observation *seen, struct case_result *result)
{
	if (!eventlog_header(seen->log)->uring)
		return false;
	snprintf(result->reason, sizeof(result->reason),
		 "the program uses io_uring, which is not intercepted");
	return true;
}

void verdict_decide(const struct test_case *test_case, const struct observation *seen,
		    struct case_result *result)
{
	char why[FINDING_TEXT_BYTES];
	enum expectation_gap gap;
	bool idle;

	if (is_broken(seen, result) || is_cut_short(test_case, seen, result) ||
	    has_failed(test_case, result))
		return;
	gap = verdict_compare(test_case, seen, result, why, sizeof(why));
	idle = find_idle_fault(test_case, result) || is_beyond_reach(seen, result);
	if (gap == GAP_UNEXPECTED || (gap == GAP_ABSENT && !idle)) {
		result->verdict = VERDICT_FAIL;
		result->failure_class = CLASS_CONTRACT;
		result_add(result, "contract", CLASS_CONTRACT, "%s", why);
		snprintf(result->reason, sizeof(result->reason), "%s", why);
		return;
	}
	result->verdict = idle ? VERDICT_VACUOUS : VERDICT_PASS;
	if (!idle)
		result->reason[0] = '\0';
}
