/* SPDX-License-Identifier: MIT */
/*
 * verdict_expect.c - what must happen, from the scenario or from the effects of its faults, against
 * what did: how many requests failed, with which errno, cause, tensor and sentence; steps that say
 * for themselves what they expect; counters of the library.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "points.h"
#include "verdict.h"

struct comparison {
	const struct test_case *test_case;
	const struct observation *seen;
	const struct case_result *result;
	const struct expectation *expect;
	char *why;
	size_t why_bytes;
	enum expectation_gap gap;
};

static __attribute__((format(printf, 3, 4))) void
differs(struct comparison *comparison, enum expectation_gap gap, const char *format, ...)
{
	va_list arguments;

	if (comparison->gap != GAP_NONE)
		return; /* the first one is told */
	comparison->gap = gap;
	va_start(arguments, format);
	vsnprintf(comparison->why, comparison->why_bytes, format, arguments);
	va_end(arguments);
}

static const char *name_of_errno(int number)
{
	const char *name = errno_name(number);

	return name ? name : number ? strerror(number) : "success";
}

static const char *expected_of_step(const struct comparison *comparison, unsigned step)
{
	return comparison->test_case->workload.steps[step].expect_error;
}

/* "" from the case; "any" and "ok" are no names. */
static bool errno_fits(const char *wanted, int error)
{
	if (!wanted[0] || strcmp(wanted, "any") == 0)
		return true;
	if (strcmp(wanted, "ok") == 0)
		return error == 0;
	return strcmp(wanted, name_of_errno(error)) == 0;
}

static const char *tensor_of(const struct comparison *comparison, unsigned tensor)
{
	return comparison->test_case->workload.tensors[tensor].name;
}

/* The worst effect of all faults says what a correct program must do. Of its own end nobody is left
 * to report. */
static enum expect_result expected_result(const struct comparison *comparison)
{
	const struct schedule *schedule = &comparison->test_case->schedule;
	enum expect_result result = EXPECT_OK;

	if (comparison->expect->result != EXPECT_FROM_EFFECT)
		return comparison->expect->result;
	for (unsigned i = 0; i < schedule->count; i++)
		if (!fault_ends_process(&schedule->faults[i]) &&
		    fault_effect(&schedule->faults[i]) != EFFECT_TRANSPARENT)
			result = EXPECT_ERROR;
	return result;
}

static bool is_refusal(const struct outcome_request *request)
{
	return request->error && request->stage == STAGE_SUBMIT;
}

static void compare_failure(struct comparison *comparison, const struct outcome_request *request)
{
	const struct expectation *expect = comparison->expect;
	const char *tensor = tensor_of(comparison, request->tensor);

	if (!errno_fits(expect->error, request->error))
		differs(comparison, GAP_UNEXPECTED,
			"step %u: tensor %s fails with %s, must with %s", request->step + 1, tensor,
			name_of_errno(request->error), expect->error);
	if (expect->cause[0] && strcmp(expect->cause, request->cause) != 0)
		differs(comparison, GAP_UNEXPECTED,
			"step %u: tensor %s fails with cause '%s', must be '%s'", request->step + 1,
			tensor, request->cause, expect->cause);
	if (expect->tensor[0] && request->unnamed)
		differs(comparison, GAP_UNEXPECTED, "step %u: the failure names no tensor, not %s",
			request->step + 1, expect->tensor);
	if (expect->tensor[0] && strcmp(expect->tensor, tensor) != 0)
		differs(comparison, GAP_UNEXPECTED, "step %u: tensor %s fails, only %s may",
			request->step + 1, tensor, expect->tensor);
	if (expect->message[0] && !strstr(request->text, expect->message))
		differs(comparison, GAP_UNEXPECTED, "step %u: tensor %s: '%s' does not say '%s'",
			request->step + 1, tensor, request->text, expect->message);
}

/* Was an earlier process ended by the schedule? */
static bool was_cut_before(const struct comparison *comparison, unsigned step)
{
	const struct workload *workload = comparison->seen->workload;
	struct image image = workload_image(workload, workload_image_of(workload, step));

	return comparison->seen->steps_cut & ((UINT64_C(1) << image.first) - 1);
}

/* Was a device put back before, on which what was not synced may be lost? */
static bool has_returned_before(const struct comparison *comparison, unsigned step)
{
	return comparison->seen->steps_returned & ((UINT64_C(1) << step) - 1);
}

/*
 * After a loss of power a file may be gone or too short; that nothing was promised of it is for the
 * reader to see. Then a read has to fail with this errno; 0: it has no such excuse.
 */
static int missing_there(const struct comparison *comparison, const struct outcome_request *request)
{
	const struct workload *workload = &comparison->test_case->workload;
	const struct tensor *tensor = &workload->tensors[request->tensor];

	if (request->write || (!was_cut_before(comparison, request->step) &&
			       !has_returned_before(comparison, request->step)))
		return 0;
	if (request->size_before < 0)
		return (int)-request->size_before;
	if ((uint64_t)request->size_before < tensor->file_offset_bytes + request->length)
		return ENODATA;
	return 0;
}

/* Is there a fault that may make something fail there, where what was pulled out is back? */
static bool has_other_fault(const struct schedule *schedule)
{
	for (unsigned i = 0; i < schedule->count; i++)
		if (!fault_removes(&schedule->faults[i]) &&
		    fault_effect(&schedule->faults[i]) != EFFECT_TRANSPARENT)
			return true;
	return false;
}

/*
 * What a scenario expects to fail is what its faults make fail. Where a process was ended by the
 * schedule, and no fault is for the one that goes on with what it left, nothing may fail there but
 * what its own step names; nor on a device that returned, if no fault but that removal is there.
 */
static enum expect_result wanted_in(const struct comparison *comparison, unsigned step,
				    enum expect_result wanted)
{
	const struct schedule *schedule = &comparison->test_case->schedule;
	unsigned image = workload_image_of(comparison->seen->workload, step) + 1;

	if (has_returned_before(comparison, step) && !has_other_fault(schedule))
		return EXPECT_OK;
	if (!was_cut_before(comparison, step))
		return wanted;
	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_image(&schedule->faults[i]) == image &&
		    !fault_ends_process(&schedule->faults[i]))
			return wanted;
	return EXPECT_OK;
}

/* A request that failed: by its step, or else by the case. Counts it. */
static void judge_failure(struct comparison *comparison, enum expect_result wanted,
			  const struct outcome_request *request)
{
	const char *by_step = expected_of_step(comparison, request->step);

	if (request->stage == STAGE_WAIT)
		return; /* the wait ended, not the request: see compare_steps() */
	if (by_step[0]) {
		if (!errno_fits(by_step, request->error))
			differs(comparison, GAP_UNEXPECTED,
				"step %u: tensor %s fails with %s, the step expects %s",
				request->step + 1, tensor_of(comparison, request->tensor),
				name_of_errno(request->error), by_step);
		return;
	}
	wanted = wanted_in(comparison, request->step, wanted);
	if (wanted == EXPECT_OK)
		differs(comparison, GAP_UNEXPECTED, "step %u: tensor %s fails with %s%s%s: %s",
			request->step + 1, tensor_of(comparison, request->tensor),
			name_of_errno(request->error), request->cause[0] ? ", cause " : "",
			request->cause, request->text);
	else if (wanted == EXPECT_REFUSED && !is_refusal(request))
		differs(comparison, GAP_UNEXPECTED,
			"step %u: tensor %s fails with %s after it was submitted, must be refused",
			request->step + 1, tensor_of(comparison, request->tensor),
			name_of_errno(request->error));
	compare_failure(comparison, request);
}

static unsigned judge_requests(struct comparison *comparison, enum expect_result wanted)
{
	const struct outcome *outcome = comparison->seen->outcome;
	unsigned failures = 0;

	for (unsigned i = 0; i < outcome->requests_count; i++) {
		const struct outcome_request *request = &outcome->requests[i];

		if (!request->error)
			continue;
		if (request->error == missing_there(comparison, request))
			continue;
		judge_failure(comparison, wanted, request);
		failures += request->stage != STAGE_WAIT;
	}
	return failures;
}

/* A call that failed and counts as a request does: an open, of handle or store, a verify or a
 * removal, of which its own step says nothing. */
static bool counts(const struct comparison *comparison, const struct outcome_call *call)
{
	bool open = strcmp(call->call, "open") == 0;
	bool of_store = strcmp(call->call, "store-open") == 0 ||
			strcmp(call->call, "verify") == 0 ||
			strcmp(call->call, "store-remove") == 0;

	if (!call->error || (!open && !of_store))
		return false;
	return open || !expected_of_step(comparison, call->step)[0];
}

/* Opens that failed refuse everything behind them; a verify that fails tells of damage. */
static unsigned judge_calls(struct comparison *comparison, enum expect_result wanted)
{
	const struct outcome *outcome = comparison->seen->outcome;
	const struct expectation *expect = comparison->expect;
	unsigned failures = 0;

	for (unsigned i = 0; i < outcome->calls_count; i++) {
		const struct outcome_call *call = &outcome->calls[i];

		if (!counts(comparison, call))
			continue;
		failures++;
		if (wanted_in(comparison, call->step, wanted) == EXPECT_OK)
			differs(comparison, GAP_UNEXPECTED, "step %u: %s fails with %s: %s",
				call->step + 1, call->call, name_of_errno(call->error), call->text);
		if (!errno_fits(expect->error, call->error))
			differs(comparison, GAP_UNEXPECTED, "%s fails with %s, must with %s",
				call->call, name_of_errno(call->error), expect->error);
		if (!call->text[0])
			differs(comparison, GAP_UNEXPECTED, "%s fails with %s, without a sentence",
				call->call, name_of_errno(call->error));
		if (expect->message[0] && !strstr(call->text, expect->message))
			differs(comparison, GAP_UNEXPECTED, "%s: '%s' does not say '%s'",
				call->call, call->text, expect->message);
	}
	return failures;
}

static void compare_count(struct comparison *comparison, enum expect_result wanted,
			  unsigned failures)
{
	unsigned exactly = comparison->expect->failures;

	if (wanted != EXPECT_OK && failures == 0)
		differs(comparison, GAP_ABSENT, "nothing fails, and %s must be reported",
			comparison->expect->error[0] ? comparison->expect->error : "an error");
	else if (exactly && failures < exactly)
		differs(comparison, GAP_ABSENT, "%u requests fail, %u must", failures, exactly);
	else if (exactly && failures > exactly)
		differs(comparison, GAP_UNEXPECTED, "%u requests fail, only %u may", failures,
			exactly);
}

/* What a call of a step answered; waits, closes, cancels. */
static bool step_answered(const struct comparison *comparison, unsigned step, const char *wanted)
{
	const struct outcome *outcome = comparison->seen->outcome;

	for (unsigned i = 0; i < outcome->calls_count; i++)
		if (outcome->calls[i].step == step && outcome->calls[i].error &&
		    errno_fits(wanted, outcome->calls[i].error))
			return true;
	for (unsigned i = 0; i < outcome->requests_count; i++)
		if (outcome->requests[i].step == step && outcome->requests[i].error &&
		    errno_fits(wanted, outcome->requests[i].error))
			return true;
	return false;
}

/* What its process was ended before had no chance to answer. */
static bool was_cut(const struct comparison *comparison, unsigned step)
{
	return comparison->seen->steps_cut >> step & 1;
}

static void compare_steps(struct comparison *comparison)
{
	const struct workload *workload = &comparison->test_case->workload;

	for (unsigned i = 0; i < workload->steps_count && comparison->seen->outcome->opened; i++) {
		const char *wanted = workload->steps[i].expect_error;

		if (!wanted[0] || strcmp(wanted, "any") == 0 || strcmp(wanted, "ok") == 0)
			continue;
		if (was_cut(comparison, i))
			continue;
		if (!step_answered(comparison, i, wanted))
			differs(comparison, GAP_ABSENT, "step %u (%s) does not answer %s", i + 1,
				step_name(workload->steps[i].kind), wanted);
	}
}

/* Calls that failed although nobody said they would. */
static void compare_calls(struct comparison *comparison)
{
	const struct outcome *outcome = comparison->seen->outcome;

	for (unsigned i = 0; i < outcome->calls_count; i++) {
		const struct outcome_call *call = &outcome->calls[i];

		if (!call->error || counts(comparison, call))
			continue;
		if (strcmp(call->call, "last close") == 0 && outcome->aborted)
			continue; /* what never completes cannot be closed */
		if (expected_of_step(comparison, call->step)[0] &&
		    errno_fits(expected_of_step(comparison, call->step), call->error))
			continue;
		differs(comparison, GAP_UNEXPECTED, "step %u: %s answers %s", call->step + 1,
			call->call, name_of_errno(call->error));
	}
}

/* "spurious_events>=1" */
static bool stat_holds(const char *text, const struct outcome *outcome, int64_t *ret_value)
{
	size_t name_bytes = strcspn(text, "<>=!");
	const char *operator= text + name_bytes;
	size_t operator_bytes = strspn(operator, "<>=!");
	int64_t wanted = strtoll(operator+ operator_bytes, NULL, 10), value = 0;

	for (unsigned i = 0; i < OUTCOME_STATS; i++)
		if (strlen(outcome_stat_names[i]) == name_bytes &&
		    strncmp(outcome_stat_names[i], text, name_bytes) == 0)
			value = outcome->stats[i];
	*ret_value = value;
	if (operator_bytes == 1)
		return operator[0] == '<' ? value < wanted :
		       operator[0] == '>' ? value > wanted
					  : value == wanted;
	if (operator[0] == '!')
		return value != wanted;
	if (operator[0] == '<')
		return value <= wanted;
	return operator[0] == '>' ? value >= wanted : value == wanted;
}

static void compare_stats(struct comparison *comparison)
{
	const struct expectation *expect = comparison->expect;

	for (unsigned i = 0; i < expect->stats_count; i++) {
		int64_t value;

		if (!stat_holds(expect->stats[i], comparison->seen->outcome, &value))
			differs(comparison, GAP_ABSENT, "the library counted %" PRId64 ", not %s",
				value, expect->stats[i]);
	}
}

/* One errno in one completion may fail one request, not its neighbours. */
static void compare_effects(struct comparison *comparison, unsigned failures)
{
	const struct schedule *schedule = &comparison->test_case->schedule;
	uint64_t injected = 0;

	if (comparison->expect->failures || comparison->expect->result != EXPECT_FROM_EFFECT)
		return;
	for (unsigned i = 0; i < schedule->count; i++) {
		if (fault_ends_process(&schedule->faults[i]))
			continue;
		if (fault_effect(&schedule->faults[i]) == EFFECT_FAILS_ALL ||
		    fault_effect(&schedule->faults[i]) == EFFECT_CORRUPTS)
			return;
		if (fault_effect(&schedule->faults[i]) == EFFECT_FAILS_ONE)
			injected += comparison->result->faults[i].injected;
	}
	if (injected && failures > injected)
		differs(comparison, GAP_UNEXPECTED,
			"%u requests fail, and only %" PRIu64 " were hit", failures, injected);
}

enum expectation_gap verdict_compare(const struct test_case *test_case,
				     const struct observation *seen,
				     const struct case_result *result, char *why, size_t why_bytes)
{
	struct comparison comparison = {
		.test_case = test_case,
		.seen = seen,
		.result = result,
		.expect = &test_case->expect,
		.why = why,
		.why_bytes = why_bytes,
	};
	enum expect_result wanted = expected_result(&comparison);
	unsigned failures = judge_requests(&comparison, wanted);

	failures += judge_calls(&comparison, wanted);
	compare_calls(&comparison);
	compare_count(&comparison, wanted, failures);
	compare_effects(&comparison, failures);
	compare_steps(&comparison);
	compare_stats(&comparison);
	return comparison.gap;
}
