/* SPDX-License-Identifier: MIT */
/*
 * test_report.c - the reports against golden files, and what they do when they cannot be written.
 *
 * BLESS=1 rewrites the golden files (`make bless`); they are reviewed as code then.
 */
#undef NDEBUG
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "report.h"

#define CASES 8
#define TEXT_BYTES 16384
#define SET(array, text) snprintf(array, sizeof(array), "%s", text)

static struct scenario scenarios[2] = {
	{.path = "scenarios/signal/two-of-four-ready.yaml",
	 .title = "A signal must not lose the other two",
	 .origin = "https://example.org/1",
	 .contract = {"C1", "C2"},
	 .contract_count = 2},
	{.path = "scenarios/numel/adam's \"states\".yaml", .title = "Each by its own numel"},
};
static struct scenario *scenario_list[2] = {&scenarios[0], &scenarios[1]};
static struct test_case cases[CASES];
static struct case_result results[CASES];
static struct plan plan = {
	.count = CASES,
	.cases = cases,
	.scenarios_count = 2,
	.scenarios = scenario_list,
	.seed = 7,
};
static const struct report_summary summary = {
	.counts = {2, 1, 1, 3, 1},
	.seed = 7,
	.duration_ns = 1500000000,
};

static void set_case(unsigned index, unsigned scenario, enum target target, const char *name,
		     const char *schedule)
{
	struct test_case *test_case = &cases[index];
	struct schedule_error error;

	*test_case = (struct test_case){
		.index = index,
		.name = strdup(name),
		.scenario = &scenarios[scenario],
		.target = target,
		.seed = 7,
	};
	assert_non_null(test_case->name);
	assert_true(asprintf(&test_case->repro, "swaptorture run '%s' --target %s --seed 7",
			     scenarios[scenario].path, target_name(target)) > 0);
	if (*schedule)
		assert_int_equal(schedule_parse(schedule, &test_case->schedule, &error), 0);
	results[index] = (struct case_result){
		.test_case = test_case,
		.faults_count = test_case->schedule.count,
		.duration_ns = 100000000u * (index + 1),
	};
}

static void set_failure(struct case_result *result)
{
	result->verdict = VERDICT_FAIL;
	result->failure_class = CLASS_CORRUPTION;
	result_add(result, "data", CLASS_CORRUPTION,
		   "tensor exp_avg, bytes 131072-262143 hold generation 1: lost write");
	result_add(result, "ledger", CLASS_CONTRACT, "block 3 of context 1 completed twice");
	SET(result->reason, result->findings[0].text);
	result->faults[0] = (struct fault_outcome){.fired = 2, .injected = 2};
	SET(result->wait_call, "io_pgetevents");
	SET(result->work_dir, "/var/tmp/swaptorture-1/case-1");
	result->exit_status = 256;
	result->log_records = 41;
	result->log_hash = 0x1234;
}

static int make_results(void **state)
{
	(void)state;
	set_case(0, 0, TARGET_SIM, "signal/two-of-four-ready[workers=0]@sim", "");
	set_case(1, 0, TARGET_HOST, "signal/two-of-four-ready[workers=0]@host",
		 "io_getevents#1..2 ready=2 => signal:USR1");
	set_case(2, 0, TARGET_HOST, "signal/two-of-four-ready[faults=io_event#2 => dup]@host",
		 "io_event#2 => dup");
	set_case(3, 1, TARGET_NVME, "numel/adam's \"states\"@nvme", "");
	set_case(4, 1, TARGET_HOST, "numel/adam's \"states\"@host", "");
	set_case(5, 1, TARGET_NVME, "numel/adam's \"states\"@nvme", "");
	set_case(6, 1, TARGET_NVME, "numel/adam's \"states\"[a=1]@nvme", "");
	set_case(7, 1, TARGET_NVME, "numel/adam's \"states\"[a=2]@nvme", "");
	set_failure(&results[1]);
	results[2].verdict = VERDICT_VACUOUS;
	results[2].faults[0] = (struct fault_outcome){.fired = 1, .missed = 1};
	SET(results[2].faults[0].why_missed, "fewer requests are in flight");
	SET(results[2].reason, "io_event#2 => dup: fewer requests are in flight");
	results[3].verdict = VERDICT_SKIP;
	SET(results[3].reason, "program no-such-tool: No such file or directory");
	SET(cases[3].skip_reason, "program no-such-tool: No such file or directory");
	results[4].verdict = VERDICT_BROKEN;
	SET(results[4].reason, "the event log overflowed");
	for (unsigned i = 6; i < 8; i++) { /* told once */
		results[i].verdict = VERDICT_SKIP;
		SET(results[i].reason, "no kernel for a guest");
	}
	return 0;
}

static int free_results(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		free(cases[i].name);
		free(cases[i].repro);
	}
	return 0;
}

static void read_text(const char *path, char text[TEXT_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd < 0 ? -1 : read(fd, text, TEXT_BYTES - 1);

	if (count < 0)
		fail_msg("%s: %s", path, strerror(errno));
	text[count] = '\0';
	close(fd);
}

static void write_text(const char *path, const char *text)
{
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

/* The version changes with each release, the format does not. */
static void hide_version(char text[TEXT_BYTES])
{
	char *version = strstr(text, "\"version\":\""), *end;

	if (!version)
		return;
	version += strlen("\"version\":\"");
	end = strchr(version, '"');
	assert_non_null(end);
	memmove(version + 1, end, strlen(end) + 1);
	*version = '*';
}

static void compare_with_golden(const char *format, char text[TEXT_BYTES])
{
	const char *source = getenv("SRC");
	char path[1024], golden[TEXT_BYTES];

	hide_version(text);
	snprintf(path, sizeof(path), "%s/harness/test/golden/report.%s", source ? source : ".",
		 format);
	if (getenv("BLESS"))
		write_text(path, text);
	read_text(path, golden);
	assert_string_equal(text, golden);
}

static void write_report(const char *format, const struct report_summary *end,
			 char text[TEXT_BYTES])
{
	char path[] = "/tmp/test_report_XXXXXX", spec[64];
	struct report *report = NULL;
	struct diag diag;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(spec, sizeof(spec), "%s:%s", format, path);
	assert_int_equal(report_open(spec, &report, &diag), 0);
	assert_int_equal(report_begin(report, &plan), 0);
	for (unsigned i = 0; i < CASES; i++)
		assert_int_equal(report_result(report, &results[i]), 0);
	assert_int_equal(report_end(report, end), 0);
	assert_int_equal(report_close(report), 0);
	read_text(path, text);
	unlink(path);
}

static void every_format_looks_as_blessed(void **state)
{
	static const char *const formats[] = {"text", "ndjson", "tap"};
	char text[TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		write_report(formats[i], &summary, text);
		compare_with_golden(formats[i], text);
	}
}

static void every_line_of_ndjson_is_an_object_with_a_type(void **state)
{
	char text[TEXT_BYTES], *rest = text, *line;
	unsigned count = 0;

	(void)state;
	write_report("ndjson", &summary, text);
	while ((line = strsep(&rest, "\n")) != NULL && *line) {
		json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		assert_true(json_is_object(object));
		assert_true(json_is_string(json_object_get(object, "type")));
		json_decref(object);
		count++;
	}
	assert_int_equal(count, CASES + 2);
}

static void an_interrupted_run_says_so_in_every_format(void **state)
{
	struct report_summary interrupted = summary;
	char text[TEXT_BYTES];

	(void)state;
	interrupted.interrupted = true;
	write_report("text", &interrupted, text);
	assert_non_null(strstr(text, "interrupted: 8 of 8 cases ran\n"));
	write_report("ndjson", &interrupted, text);
	assert_non_null(strstr(text, "\"interrupted\":true"));
	write_report("tap", &interrupted, text);
	assert_non_null(strstr(text, "Bail out! interrupted\n"));
}

static void a_full_disk_is_an_error(void **state)
{
	static const char *const specs[] = {"text:/dev/full", "ndjson:/dev/full", "tap:/dev/full"};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct report *report = NULL;
		struct diag diag;

		assert_int_equal(report_open(specs[i], &report, &diag), 0);
		assert_int_equal(report_begin(report, &plan), -ENOSPC);
		assert_int_equal(report_result(report, &results[0]), -ENOSPC);
		assert_int_equal(report_close(report), -ENOSPC);
	}
}

static void what_is_no_report_is_refused(void **state)
{
	struct report *report = NULL;
	struct diag diag = {0};

	(void)state;
	assert_int_equal(report_open("tapp:x", &report, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "did you mean 'tap'?"));
	assert_int_equal(report_open("html:x", &report, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "allowed are text, ndjson, tap"));
	assert_int_equal(report_open("tap", &report, &diag), -EINVAL);
	assert_int_equal(report_open("tap:", &report, &diag), -EINVAL);
	assert_int_equal(report_open("", &report, &diag), -EINVAL);
	assert_int_equal(report_open("tap:/nowhere/x", &report, &diag), -ENOENT);
	assert_string_equal(diag.file, "/nowhere/x");
	assert_null(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_looks_as_blessed),
		cmocka_unit_test(every_line_of_ndjson_is_an_object_with_a_type),
		cmocka_unit_test(an_interrupted_run_says_so_in_every_format),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(what_is_no_report_is_refused),
	};

	return cmocka_run_group_tests(tests, make_results, free_results);
}
