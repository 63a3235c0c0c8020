/* SPDX-License-Identifier: MIT */
/*
 * report_text.c - the report for people: progress on a terminal, the story of everything that did
 * not pass as soon as it is known, a table at the end.
 */
#include <inttypes.h>
#include <string.h>

#include "plural.h"
#include "report_internal.h"

#define CLEAR_LINE "\r\033[K"

static void clear_progress(struct report *report)
{
	if (report->terminal)
		fputs(CLEAR_LINE, report->stream);
}

static void draw_progress(struct report *report, const char *name)
{
	if (!report->terminal || !report->plan->count)
		return;
	fprintf(report->stream, CLEAR_LINE "[%3u%%] %u of %u, ",
		report->done * 100 / report->plan->count, report->done, report->plan->count);
	report_print_counts(report->stream, report->counts);
	fprintf(report->stream, "  %.40s", name);
}

static int text_begin(struct report *report, const struct plan *plan)
{
	int error;

	fprintf(report->stream, "%u case%s of %u scenario%s, seed %" PRIu64 "\n", plan->count,
		plural(plan->count), plan->scenarios_count, plural(plan->scenarios_count),
		plan->seed);
	draw_progress(report, "");
	error = report_table_create(plan, &report->table);
	return error < 0 ? error : report_differ_create(plan, &report->differ);
}

static void print_head(FILE *stream, const struct case_result *result)
{
	static const char *const words[VERDICT_COUNT] = {
		[VERDICT_PASS] = "PASS", [VERDICT_FAIL] = "FAIL",     [VERDICT_VACUOUS] = "VACUOUS",
		[VERDICT_SKIP] = "SKIP", [VERDICT_BROKEN] = "BROKEN",
	};

	fprintf(stream, "\n%s", words[result->verdict]);
	if (result->verdict == VERDICT_FAIL)
		fprintf(stream, " (%s)", failure_class_name(result->failure_class));
	fprintf(stream, "  %s\n  %s\n", result->test_case->name,
		result->test_case->scenario->title);
}

static void print_findings(FILE *stream, const struct case_result *result)
{
	if (result->reason[0] &&
	    (result->findings_count == 0 || strcmp(result->reason, result->findings[0].text) != 0))
		fprintf(stream, "  %s\n", result->reason);
	for (unsigned i = 0; i < result->findings_count; i++)
		fprintf(stream, "  %s: %s\n", result->findings[i].oracle, result->findings[i].text);
}

static void print_fault(FILE *stream, const struct fault *fault,
			const struct fault_outcome *outcome)
{
	char text[512] = "";

	fault_print(fault, text, sizeof(text));
	fprintf(stream, "  fault %s: fired %" PRIu64 ", took effect %" PRIu64 "%s", text,
		outcome->fired, outcome->injected, outcome->injected ? " (INJECTED)" : "");
	if (outcome->missed)
		fprintf(stream, ", missed %" PRIu64 ": %s", outcome->missed, outcome->why_missed);
	fputc('\n', stream);
}

static void print_story(FILE *stream, const struct case_result *result)
{
	print_head(stream, result);
	print_findings(stream, result);
	for (unsigned i = 0; i < result->faults_count; i++)
		print_fault(stream, &result->test_case->schedule.faults[i], &result->faults[i]);
	if (result->wait_call[0])
		fprintf(stream, "  waits were made with %s\n", result->wait_call);
	fprintf(stream, "  again: %s\n", result->test_case->repro);
	if (result->work_dir[0])
		fprintf(stream, "  kept:  %s\n", result->work_dir);
}

/* What nobody knew when it was planned. Where many are skipped for one reason, it is told once. */
static void tell_skip(struct report *report, const struct case_result *result)
{
	if (strcmp(report->skip_reason, result->reason) == 0)
		return;
	memcpy(report->skip_reason, result->reason, sizeof(report->skip_reason));
	clear_progress(report);
	fprintf(report->stream, "skipped: %s: %s\n", result->test_case->name, result->reason);
}

static int text_result(struct report *report, const struct case_result *result)
{
	report_table_add(report->table, result);
	report_differ_add(report->differ, result);
	if (result->verdict == VERDICT_SKIP && !result->test_case->skip_reason[0]) {
		tell_skip(report, result);
	} else if (result->verdict != VERDICT_PASS && result->verdict != VERDICT_SKIP) {
		clear_progress(report);
		print_story(report->stream, result);
	}
	draw_progress(report, result->test_case->name);
	return 0;
}

/* Cases of one scenario follow each other in a plan: one line for those with the same reason. */
static void print_skips(struct report *report)
{
	const struct test_case *last = NULL;

	for (unsigned i = 0; i < report->plan->count; i++) {
		const struct test_case *test_case = &report->plan->cases[i];

		if (!test_case->skip_reason[0] ||
		    (last && last->scenario == test_case->scenario &&
		     strcmp(last->skip_reason, test_case->skip_reason) == 0))
			continue;
		fprintf(report->stream, "skipped: %s: %s\n", test_case->scenario->path,
			test_case->skip_reason);
		last = test_case;
	}
}

static int text_end(struct report *report, const struct report_summary *summary)
{
	clear_progress(report);
	fputc('\n', report->stream);
	report_table_print(report->table, report->stream);
	fputc('\n', report->stream);
	print_skips(report);
	report_differ_print(report->differ, report->stream);
	if (summary->interrupted)
		fprintf(report->stream, "interrupted: %u of %u cases ran\n", report->done,
			report->plan->count);
	report_print_counts(report->stream, summary->counts);
	fprintf(report->stream, " in %.2f s, seed %" PRIu64 "\n",
		(double)summary->duration_ns / 1e9, summary->seed);
	return 0;
}

const struct report_ops report_text_ops = {
	.name = "text",
	.begin = text_begin,
	.result = text_result,
	.end = text_end,
};
