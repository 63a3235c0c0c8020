/* SPDX-License-Identifier: MIT */
/*
 * report.c - opening, feeding and closing a report of any format.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nearest.h"
#include "report_internal.h"

static const struct report_ops *const formats[] = {&report_text_ops, &report_ndjson_ops,
						   &report_tap_ops};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static const struct report_ops *find_format(const char *spec, size_t length)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strlen(formats[i]->name) == length &&
		    strncmp(formats[i]->name, spec, length) == 0)
			return formats[i];
	return NULL;
}

static int refuse_format(const char *spec, size_t length, struct diag *diag)
{
	struct nearest nearest;
	char word[32];

	snprintf(word, sizeof(word), "%.*s", (int)length, spec);
	nearest_init(&nearest, word);
	for (size_t i = 0; i < FORMATS; i++)
		nearest_offer(&nearest, formats[i]->name);
	return diag_set(diag, NULL, 0, 0,
			"report '%s': unknown format '%s'%s%s%s, allowed are text, ndjson, tap",
			spec, word, nearest.best ? ", did you mean '" : "",
			nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

static int open_stream(struct report *report, struct diag *diag)
{
	int error;

	if (strcmp(report->path, "-") == 0)
		report->stream = report->use_stderr ? stderr : stdout;
	else
		report->stream = fopen(report->path, "we");
	error = errno;
	if (!report->stream) {
		diag_set(diag, report->path, 0, 0, "%s", strerror(error));
		return -error;
	}
	report->terminal = isatty(fileno(report->stream));
	return 0;
}

static int report_create(const struct report_ops *ops, const char *path, bool use_stderr,
			 struct report **ret_report, struct diag *diag)
{
	struct report *report = calloc(1, sizeof(*report));
	int result = -ENOMEM;

	if (report)
		report->path = strdup(path);
	if (!report || !report->path) {
		diag_set(diag, NULL, 0, 0, "%s", strerror(ENOMEM));
	} else {
		report->ops = ops;
		report->use_stderr = use_stderr;
		result = open_stream(report, diag);
	}
	if (result == 0) {
		*ret_report = report;
		return 0;
	}
	if (report)
		free(report->path);
	free(report);
	return result;
}

int report_open(const char *spec, struct report **ret_report, struct diag *diag)
{
	size_t length = strcspn(spec, ":");
	const struct report_ops *ops = find_format(spec, length);

	if (!ops)
		return refuse_format(spec, length, diag);
	if (!spec[length] || !spec[length + 1])
		return diag_set(diag, NULL, 0, 0,
				"report '%s': must be FORMAT:FILE, - is standard output", spec);
	return report_create(ops, spec + length + 1, false, ret_report, diag);
}

int report_open_text(bool use_stderr, struct report **ret_report, struct diag *diag)
{
	return report_create(&report_text_ops, "-", use_stderr, ret_report, diag);
}

int report_flush(struct report *report)
{
	if (fflush(report->stream) != 0 && !report->error)
		report->error = -errno;
	if (ferror(report->stream) && !report->error)
		report->error = -EIO;
	return report->error;
}

int report_begin(struct report *report, const struct plan *plan)
{
	int result;

	report->plan = plan;
	result = report->ops->begin(report, plan);
	return result < 0 ? result : report_flush(report);
}

int report_result(struct report *report, const struct case_result *result)
{
	int written;

	report->done++;
	report->counts[result->verdict]++;
	written = report->ops->result(report, result);
	return written < 0 ? written : report_flush(report);
}

int report_end(struct report *report, const struct report_summary *summary)
{
	int result = report->ops->end(report, summary);

	return result < 0 ? result : report_flush(report);
}

int report_close(struct report *report)
{
	int error = report_flush(report);

	if (report->stream != stdout && report->stream != stderr && fclose(report->stream) != 0 &&
	    !error)
		error = -errno;
	report_table_destroy(report->table);
	report_differ_destroy(report->differ);
	free(report->path);
	free(report);
	return error;
}

const char *report_path(const struct report *report)
{
	return report->path;
}

void report_print_counts(FILE *stream, const unsigned counts[VERDICT_COUNT])
{
	static const char *const words[VERDICT_COUNT] = {
		[VERDICT_PASS] = "passed",     [VERDICT_FAIL] = "failed",
		[VERDICT_VACUOUS] = "vacuous", [VERDICT_SKIP] = "skipped",
		[VERDICT_BROKEN] = "broken",
	};

	fprintf(stream, "%u %s", counts[VERDICT_PASS], words[VERDICT_PASS]);
	for (unsigned i = VERDICT_PASS + 1; i < VERDICT_COUNT; i++)
		if (counts[i])
			fprintf(stream, ", %u %s", counts[i], words[i]);
}
