/* SPDX-License-Identifier: MIT */
/*
 * result_json.c - results to JSON and back. What comes in may come from a guest that was hurt on
 * purpose: nothing of it is believed before it was looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result_json.h"

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

json_t *result_to_json(const struct case_result *result)
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
	return object;
}

/* Reads member after member; the first that is wrong is told. */
struct reading {
	const json_t *object;
	struct diag *diag;
	int error;
};

static void wrong(struct reading *reading, const char *member, const char *must)
{
	if (reading->error)
		return;
	reading->error = -EBADMSG;
	diag_set(reading->diag, NULL, 0, 0, "%s of a result must be %s", member, must);
}

static const char *read_text(struct reading *reading, const char *member)
{
	const char *text = json_string_value(json_object_get(reading->object, member));

	if (!text)
		wrong(reading, member, "a text");
	return text ? text : "";
}

static uint64_t read_count(struct reading *reading, const char *member)
{
	const json_t *value = json_object_get(reading->object, member);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		wrong(reading, member, "a number, 0 or more");
	return (uint64_t)json_integer_value(value);
}

static unsigned read_name(struct reading *reading, const char *member, unsigned count,
			  const char *(*name)(unsigned))
{
	const char *text = read_text(reading, member);

	for (unsigned i = 0; i < count; i++)
		if (strcmp(text, name(i)) == 0)
			return i;
	wrong(reading, member, "a name that is known here");
	return 0;
}

static const char *name_of_verdict(unsigned verdict)
{
	return verdict_name((enum verdict)verdict);
}

static const char *name_of_class(unsigned failure_class)
{
	return failure_class_name((enum failure_class)failure_class);
}

static void read_finding(struct reading *outer, const json_t *object, struct case_result *result)
{
	struct reading reading = {object, outer->diag, 0};
	unsigned class = read_name(&reading, "class", CLASS_COUNT, name_of_class);

	result_add(result, read_text(&reading, "oracle"), (enum failure_class) class, "%s",
		   read_text(&reading, "text"));
	if (reading.error)
		outer->error = reading.error;
}

static void read_fault(struct reading *outer, const json_t *object, struct fault_outcome *fault)
{
	struct reading reading = {object, outer->diag, 0};

	fault->fired = read_count(&reading, "fired");
	fault->injected = read_count(&reading, "injected");
	fault->missed = read_count(&reading, "missed");
	snprintf(fault->why_missed, sizeof(fault->why_missed), "%s",
		 read_text(&reading, "why_missed"));
	if (reading.error)
		outer->error = reading.error;
}

static void read_lists(struct reading *reading, const struct test_case *test_case,
		       struct case_result *result)
{
	const json_t *findings = json_object_get(reading->object, "findings");
	const json_t *faults = json_object_get(reading->object, "faults");

	if (!json_is_array(findings))
		wrong(reading, "findings", "a list");
	for (size_t i = 0; !reading->error && i < json_array_size(findings); i++)
		read_finding(reading, json_array_get(findings, i), result);
	if (!json_is_array(faults) ||
	    (json_array_size(faults) != test_case->schedule.count && json_array_size(faults) != 0))
		wrong(reading, "faults", "a list with each fault of the schedule");
	for (size_t i = 0; !reading->error && i < json_array_size(faults); i++)
		read_fault(reading, json_array_get(faults, i), &result->faults[i]);
	result->faults_count = reading->error ? 0 : (unsigned)json_array_size(faults);
}

int result_from_json(const json_t *object, const struct test_case *test_case,
		     struct case_result *ret_result, struct diag *diag)
{
	struct reading reading = {object, diag, 0};

	memset(ret_result, 0, sizeof(*ret_result));
	ret_result->test_case = test_case;
	ret_result->verdict =
		(enum verdict)read_name(&reading, "verdict", VERDICT_COUNT, name_of_verdict);
	ret_result->failure_class =
		(enum failure_class)read_name(&reading, "class", CLASS_COUNT, name_of_class);
	snprintf(ret_result->reason, sizeof(ret_result->reason), "%s",
		 read_text(&reading, "reason"));
	read_lists(&reading, test_case, ret_result);
	ret_result->exit_status = (int)read_count(&reading, "exit_status");
	ret_result->duration_ns = read_count(&reading, "duration_ns");
	ret_result->log_records = read_count(&reading, "log_records");
	ret_result->log_hash = strtoull(read_text(&reading, "log_hash"), NULL, 16);
	snprintf(ret_result->wait_call, sizeof(ret_result->wait_call), "%s",
		 read_text(&reading, "wait_call"));
	return reading.error;
}
