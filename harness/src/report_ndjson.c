/* SPDX-License-Identifier: MIT */
/*
 * report_ndjson.c - the machine's report: one JSON object a line, versioned.
 *
 * Lines: one "plan", then a "case" for every result, one "summary". A log without a summary was
 * cut.
 */
#include <errno.h>

#include "report_internal.h"
#include "result_json.h"

#define FORMAT_VERSION 1

/* Takes the object over. Text that is no UTF-8 makes jansson answer NULL: an error, not a gap. */
static int write_line(struct report *report, json_t *object)
{
	if (!object)
		return -ENOMEM;
	if (json_dumpf(object, report->stream, JSON_COMPACT) < 0 && !report->error)
		report->error = ferror(report->stream) ? -EIO : -EINVAL;
	json_decref(object);
	fputc('\n', report->stream);
	return 0;
}

static json_t *words_json(const char *words, unsigned count, size_t stride)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list, json_string(words + i * stride));
	return list;
}

static json_t *scenario_json(const struct scenario *scenario)
{
	return json_pack("{s:s, s:s, s:s, s:o}", "path", scenario->path, "title", scenario->title,
			 "origin", scenario->origin, "contract",
			 words_json(scenario->contract[0], scenario->contract_count,
				    sizeof(scenario->contract[0])));
}

static int ndjson_begin(struct report *report, const struct plan *plan)
{
	json_t *scenarios = json_array();

	for (unsigned i = 0; i < plan->scenarios_count; i++)
		json_array_append_new(scenarios, scenario_json(plan->scenarios[i]));
	return write_line(report,
			  json_pack("{s:s, s:i, s:s, s:s, s:I, s:I, s:o}", "type", "plan", "format",
				    FORMAT_VERSION, "program", "swaptorture", "version",
				    SWAPTORTURE_VERSION, "seed", (json_int_t)plan->seed, "cases",
				    (json_int_t)plan->count, "scenarios", scenarios));
}

static int ndjson_result(struct report *report, const struct case_result *result)
{
	return write_line(report, result_to_json(result));
}

static int ndjson_end(struct report *report, const struct report_summary *summary)
{
	json_t *object =
		json_pack("{s:s, s:I, s:I, s:b}", "type", "summary", "seed",
			  (json_int_t)summary->seed, "duration_ns",
			  (json_int_t)summary->duration_ns, "interrupted", summary->interrupted);

	for (unsigned i = 0; object && i < VERDICT_COUNT; i++)
		json_object_set_new(object, verdict_name((enum verdict)i),
				    json_integer(summary->counts[i]));
	return write_line(report, object);
}

const struct report_ops report_ndjson_ops = {
	.name = "ndjson",
	.begin = ndjson_begin,
	.result = ndjson_result,
	.end = ndjson_end,
};
