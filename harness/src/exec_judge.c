/* SPDX-License-Identifier: MIT */
/*
 * exec_judge.c - what a stranger's run means: its exit status is the only word it has.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include "exec.h"
#include "plural.h"
#include "verdict.h"

#define VALGRIND_STATUS 99

static __attribute__((format(printf, 4, 5))) void decide(struct case_result *result,
							 enum verdict verdict,
							 enum failure_class failure_class,
							 const char *format, ...)
{
	va_list arguments;

	result->verdict = verdict;
	result->failure_class = failure_class;
	va_start(arguments, format);
	vsnprintf(result->reason, sizeof(result->reason), format, arguments);
	va_end(arguments);
}

/* A program may wait for a while for what need not come: only its own author knows. */
static bool counts(const struct eventlog_record *record)
{
	return record->type == EVENTLOG_CHECK && record->result != EVENTLOG_CHECK_TIMED_WAIT;
}

/* What the preload caught the program at. */
static void find_misuse(struct eventlog *log, struct case_result *result)
{
	uint64_t count = eventlog_count(log);

	for (uint64_t i = 0; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		if (record && counts(record))
			oracle_check(record, result);
	}
}

/* In sim the preload ends a program that hangs; its status is not the program's then. */
static bool find_hang(const struct exec_end *end, struct eventlog *log, struct case_result *result)
{
	uint64_t count = eventlog_count(log);
	bool hangs = end->overdue;

	if (end->overdue)
		result_add(result, "deadline", CLASS_HANG, "the program did not end in time");
	for (uint64_t i = 0; i < count && !hangs; i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		hangs = record && record->type == EVENTLOG_HANG;
		if (hangs)
			result_add(result, "deadline", CLASS_HANG, "the program hangs: %s",
				   record->text);
	}
	return hangs;
}

static const struct fault *ended_by(const struct exec_options *options, const struct exec_end *end,
				    const struct case_result *result)
{
	return end->overdue ? NULL : verdict_ended_by(options->schedule, result, 1, end->status);
}

static bool fits(const struct exec_options *options, int code)
{
	return options->status == EXEC_STATUS_FAILURE ? code != 0 : code == options->status;
}

static void find_end(const struct exec_options *options, const struct exec_end *end,
		     struct eventlog *log, struct case_result *result)
{
	int code = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : -1;

	if (find_hang(end, log, result) || ended_by(options, end, result))
		return;
	if (code < 0)
		result_add(result, "deadline", CLASS_CRASH,
			   "the program was killed by signal %d (%s)", WTERMSIG(end->status),
			   strsignal(WTERMSIG(end->status)));
	else if (options->under && code == VALGRIND_STATUS)
		result_add(result, options->under, CLASS_CONTRACT, "%s found errors",
			   options->under);
	else if (code && !fits(options, code) && options->status)
		result_add(result, "status", CLASS_CONTRACT,
			   "the program ended with status %d, it should have with %d", code,
			   options->status);
	else if (code && !fits(options, code))
		result_add(result, "status", CLASS_CONTRACT, "the program ended with status %d",
			   code);
}

static bool judge_broken(const struct exec_options *options, const struct exec_end *end,
			 struct eventlog *log, struct case_result *result)
{
	const struct eventlog_header *header = eventlog_header(log);
	char path[PATH_MAX], why[128] = "";

	if (end->interrupted) {
		decide(result, VERDICT_BROKEN, CLASS_NONE, "interrupted");
		return true;
	}
	if (header->handshake && !header->overflow)
		return false;
	if (header->overflow) {
		decide(result, VERDICT_BROKEN, CLASS_NONE,
		       "the event log overflowed: %u record%s lost", header->overflow,
		       plural(header->overflow));
		return true;
	}
	if (exec_find_program(options->argv[0], path, sizeof(path)) == 0)
		exec_explain_silence(path, why, sizeof(why));
	decide(result, VERDICT_BROKEN, CLASS_NONE, "no handshake from the preload%s%s",
	       *why ? ": " : "", why);
	return true;
}

/* Which ones, exec_tell() says. */
static bool judge_idle(struct eventlog *log, struct case_result *result)
{
	unsigned idle = 0;

	if (eventlog_header(log)->uring) {
		decide(result, VERDICT_VACUOUS, CLASS_NONE,
		       "the program uses io_uring, which is not intercepted");
		return true;
	}
	for (unsigned i = 0; i < result->faults_count; i++)
		idle += !result->faults[i].injected;
	if (idle)
		decide(result, VERDICT_VACUOUS, CLASS_NONE,
		       "%u of %u fault%s took no effect: nothing was shown", idle,
		       result->faults_count, plural(result->faults_count));
	return idle > 0;
}

static bool judge_findings(struct case_result *result)
{
	const struct finding *worst = result_worst(result, NULL);

	if (worst)
		decide(result, VERDICT_FAIL, worst->failure_class, "%s", worst->text);
	return worst;
}

void exec_judge(const struct exec_options *options, const struct exec_end *end,
		struct eventlog *log, struct case_result *result)
{
	const struct fault *fault;

	find_end(options, end, log, result);
	find_misuse(log, result);
	if (judge_broken(options, end, log, result) || judge_findings(result))
		return;
	fault = ended_by(options, end, result);
	if (fault)
		decide(result, VERDICT_PASS, CLASS_NONE,
		       "%s: what is on disk now is what that may leave; read it in a fresh process",
		       fault_crashes(fault) ? "the power was cut" : "the program was killed");
	else if (judge_idle(log, result))
		return;
	else if (options->status != 0 && end->status == 0)
		decide(result, VERDICT_FAIL, CLASS_CONTRACT,
		       "the program ended with status 0, it should have failed");
	else
		decide(result, VERDICT_PASS, CLASS_NONE, "%s", "");
}

static void tell_fault(const struct fault *fault, const struct fault_outcome *outcome, FILE *stream)
{
	char text[512] = "";

	fault_print(fault, text, sizeof(text));
	fprintf(stream, "swaptorture: %s (%s): ", text, effect_name(fault_effect(fault)));
	if (outcome->injected)
		fprintf(stream, "took effect %" PRIu64 " time%s (INJECTED)\n", outcome->injected,
			plural(outcome->injected));
	else if (outcome->missed)
		fprintf(stream, "could not take effect: %s\n", outcome->why_missed);
	else
		fprintf(stream, "did not fire\n");
}

/* Faults that a program has to notice may be what its status tells of. */
static const char *hint_at_status(const struct exec_options *options, const struct exec_end *end,
				  const struct case_result *result)
{
	if (result->verdict != VERDICT_FAIL || options->status != 0 || !WIFEXITED(end->status) ||
	    !WEXITSTATUS(end->status))
		return "";
	for (unsigned i = 0; i < result->faults_count; i++)
		if (result->faults[i].injected &&
		    fault_effect(&options->schedule->faults[i]) != EFFECT_TRANSPARENT)
			return "; if it must fail by these faults, say --expect failure";
	return "";
}

void exec_tell(const struct exec_options *options, const struct exec_end *end,
	       const struct case_result *result, FILE *stream)
{
	for (unsigned i = 0; i < result->faults_count; i++)
		tell_fault(&options->schedule->faults[i], &result->faults[i], stream);
	for (unsigned i = 0; i < result->findings_count; i++)
		/* The verdict tells its reason itself. */
		if (strcmp(result->findings[i].text, result->reason) != 0)
			fprintf(stream, "swaptorture: %s: %s\n", result->findings[i].oracle,
				result->findings[i].text);
	if (result->findings_lost)
		fprintf(stream, "swaptorture: and %u finding%s more\n", result->findings_lost,
			plural(result->findings_lost));
	fprintf(stream, "swaptorture: %s", verdict_name(result->verdict));
	if (result->verdict == VERDICT_FAIL)
		fprintf(stream, " (%s)", failure_class_name(result->failure_class));
	fprintf(stream, "%s%s%s", result->reason[0] ? ": " : "", result->reason,
		hint_at_status(options, end, result));
	if (WIFEXITED(end->status) && WEXITSTATUS(end->status) && options->status != 0)
		fprintf(stream, "; the program ended with status %d", WEXITSTATUS(end->status));
	fprintf(stream, ", %s back end, waits %s, seed %" PRIu64 ", %.2f s\n",
		target_name(options->target), result->wait_call, options->seed,
		(double)end->duration_ns / 1e9);
}
