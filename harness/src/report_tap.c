/* SPDX-License-Identifier: MIT */
/*
 * report_tap.c - TAP version 14: a test point for each case, in order of completion.
 *
 * Vacuous and broken cases are `not ok`: a consumer that knows pass and fail only must not take
 * them for passed.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

/* # and \ mean something in a description. */
static void print_escaped(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (*text == '#' || *text == '\\')
			fputc('\\', stream);
		fputc(*text == '\n' ? ' ' : *text, stream);
	}
}

/* A JSON string is a YAML string in double quotes. */
static void print_field(FILE *stream, const char *name, const char *value)
{
	json_t *string = json_string(value);
	char *text = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

	fprintf(stream, "  %s: %s\n", name, text ? text : "\"not UTF-8\"");
	free(text);
	json_decref(string);
}

static int tap_begin(struct report *report, const struct plan *plan)
{
	fprintf(report->stream, "TAP version 14\n1..%u\n", plan->count);
	return 0;
}

static void print_story(FILE *stream, const struct case_result *result)
{
	fputs("  ---\n", stream);
	print_field(stream, "verdict", verdict_name(result->verdict));
	print_field(stream, "class", failure_class_name(result->failure_class));
	print_field(stream, "message", result->reason);
	print_field(stream, "repro", result->test_case->repro);
	if (result->work_dir[0])
		print_field(stream, "kept", result->work_dir);
	fputs("  ...\n", stream);
}

static int tap_result(struct report *report, const struct case_result *result)
{
	bool ok = result->verdict == VERDICT_PASS || result->verdict == VERDICT_SKIP;

	fprintf(report->stream, "%s %u - ", ok ? "ok" : "not ok", report->done);
	print_escaped(report->stream, result->test_case->name);
	if (result->verdict == VERDICT_SKIP) {
		fputs(" # SKIP ", report->stream);
		print_escaped(report->stream, result->reason);
	}
	fputc('\n', report->stream);
	if (!ok)
		print_story(report->stream, result);
	return 0;
}

static int tap_end(struct report *report, const struct report_summary *summary)
{
	if (summary->interrupted)
		fputs("Bail out! interrupted\n", report->stream);
	fputs("# ", report->stream);
	report_print_counts(report->stream, summary->counts);
	fprintf(report->stream, ", seed %llu\n", (unsigned long long)summary->seed);
	return 0;
}

const struct report_ops report_tap_ops = {
	.name = "tap",
	.begin = tap_begin,
	.result = tap_result,
	.end = tap_end,
};
