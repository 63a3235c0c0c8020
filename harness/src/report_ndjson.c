/* SPDX-License-Identifier: MIT */
/*
 * report_ndjson.c - the machine's report: one JSON object a line, versioned.
 *
 * Lines: one "plan", then a "case" for every result, one "summary". A log without a summary was
 * cut.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "report_internal.h"

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

static json_t *findings_json(const struct case_result *result)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < result->findings_count; i++) {
		const struct finding *finding = &result->findings[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s}", "oracle", finding->oracle,
						"class", failure_class_name(finding->failure_class),
						"text", finding->text));
	}
	return list;
}

static json_t *faults_json(const struct case_result *result)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < result->faults_count; i++) {
		const struct fault_outcome *outcome = &result->faults[i];
		char text[512] = "";

		fault_print(&result->test_case->schedule.faults[i], text, sizeof(text));
		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:s}", "fault", text,
						      "fired", (json_int_t)outcome->fired,
						      "injected", (json_int_t)outcome->injected,
						      "missed", (json_int_t)outcome->missed,
						      "why_missed", outcome->why_missed));
	}
	return list;
}

static int ndjson_result(struct report *report, const struct case_result *result)
{
	const struct test_case *test_case = result->test_case;
	char hash[17];
	json_t *object;

	snprintf(hash, sizeof(hash), "%016" PRIx64, result->log_hash);
	object = json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:o, s:o}", "type", "case",
			   "name", test_case->name, "scenario", test_case->scenario->path, "target",
			   target_name(test_case->target), "seed", (json_int_t)test_case->seed,
			   "verdict", verdict_name(result->verdict), "class",
			   failure_class_name(result->failure_class), "reason", result->reason,
			   "findings", findings_json(result), "faults", faults_json(result));
	if (object)
		json_object_update_new(
			object, json_pack("{s:i, s:I, s:I, s:s, s:s, s:b, s:s, s:s}", "exit_status",
					  result->exit_status, "duration_ns",
					  (json_int_t)result->duration_ns, "log_records",
					  (json_int_t)result->log_records, "log_hash", hash,
					  "wait_call", result->wait_call, "shared", result->shared,
					  "work_dir", result->work_dir, "repro", test_case->repro));
	return write_line(report, object);
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
