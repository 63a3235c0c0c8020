/* SPDX-License-Identifier: MIT */
/*
 * test_run_resume.c - what a case has come to crosses to another job whole, with what is left of
 * its directory; and of what is no such state nothing goes on.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_job.h"

#define LINES "{\"k\":\"step\",\"step\":3}\n{\"k\":\"begun\",\"tensor\":1,\"generation\":2}\n"

static struct scenario scenario = {.path = "scenarios/device/x.yaml"};
static char name[] = "device/x@nvme", repro[] = "swaptorture run x.yaml";
static struct test_case test_case = {
	.name = name, .repro = repro, .scenario = &scenario, .target = TARGET_NVME, .seed = 7};
static struct run_options options;
static struct work_root root;
static struct job before, after;

static void begin(struct job *job, unsigned number)
{
	assert_int_equal(job_init(job, &options, &root, false, number), 0);
	assert_int_equal(job_reset(job, &test_case), 0);
}

static int set_up(void **state)
{
	static char directory[64];
	struct diag diag = {.text = ""};

	snprintf(directory, sizeof(directory), "/tmp/test_resume_XXXXXX");
	assert_non_null(mkdtemp(directory));
	*state = directory;
	assert_int_equal(work_root_open(&root, directory, false, 0, &diag), 0);
	begin(&before, 0);
	begin(&after, 1);
	return 0;
}

static int tear_down(void **state)
{
	job_fini(&before);
	job_fini(&after);
	work_root_close(&root);
	return rmdir(*state);
}

static void live_a_little(void)
{
	struct eventlog_record record = {.type = EVENTLOG_SUBMIT, .number = 1, .offset = 4096};

	memcpy(before.outcome_file->text, LINES, strlen(LINES));
	before.outcome_file->used = strlen(LINES);
	for (uint32_t i = 1; i <= 600; i++) { /* more than fit into a segment */
		record.number = i;
		eventlog_append(before.log, &record);
	}
	eventlog_header(before.log)->handshake = 99;
	eventlog_header(before.log)->waits_pgetevents = 4;
	result_add(&before.result, "data", CLASS_CORRUPTION, "bytes 0-511");
}

static void touch(const char *directory, const char *file)
{
	char path[600];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	stream = fopen(path, "w");
	assert_non_null(stream);
	fclose(stream);
}

static void a_case_goes_on_as_it_was(void **state)
{
	json_t *taken;
	char path[600];

	(void)state;
	live_a_little();
	touch(before.work_dir, "left");
	taken = job_state(&before);
	assert_non_null(taken);
	assert_int_equal(job_take_state(&after, taken), 0);
	json_decref(taken);
	assert_int_equal(after.outcome_file->used, strlen(LINES));
	assert_memory_equal(after.outcome_file->text, LINES, strlen(LINES));
	assert_int_equal(after.outcome_file->full, 0);
	assert_int_equal(eventlog_count(after.log), 600);
	assert_int_equal(eventlog_get(after.log, 599)->number, 600);
	assert_int_equal(eventlog_get(after.log, 599)->offset, 4096);
	assert_int_equal(eventlog_header(after.log)->handshake, 99);
	assert_int_equal(eventlog_header(after.log)->waits_pgetevents, 4);
	assert_int_equal(after.result.findings_count, 1);
	assert_string_equal(after.result.findings[0].text, "bytes 0-511");
	assert_ptr_equal(after.result.test_case, &test_case);
	assert_false(after.overdue);
	snprintf(path, sizeof(path), "%s/left", after.work_dir);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(access(before.work_dir, F_OK), -1);
}

static void what_went_wrong_before_is_not_forgotten(void **state)
{
	json_t *taken;

	(void)state;
	before.overdue = true;
	before.outcome_file->full = 1;
	snprintf(before.outcome.broken, sizeof(before.outcome.broken), "no device");
	taken = job_state(&before);
	assert_int_equal(job_take_state(&after, taken), 0);
	json_decref(taken);
	assert_true(after.overdue);
	assert_int_equal(after.outcome_file->full, 1);
	assert_string_equal(after.outcome.broken, "no device");
}

/* Its name was not durable: there is nothing, and that is what is read. */
static void a_directory_that_was_lost_is_an_empty_one(void **state)
{
	json_t *taken = job_state(&before);
	struct stat status;

	(void)state;
	work_dir_remove(before.work_dir);
	assert_int_equal(job_take_state(&after, taken), 0);
	json_decref(taken);
	assert_int_equal(stat(after.work_dir, &status), 0);
}

static void spoil(json_t *taken, const char *member, json_t *value)
{
	assert_int_equal(json_object_set_new(taken, member, value), 0);
	assert_int_equal(job_take_state(&after, taken), -EBADMSG);
	json_decref(taken);
	assert_int_equal(job_reset(&after, &test_case), 0);
}

static void what_is_no_state_is_refused(void **state)
{
	json_t *taken = job_state(&before), *log = json_deep_copy(json_object_get(taken, "log"));
	char digits[2 * EVENTLOG_RECORD_BYTES + 1];

	(void)state;
	memset(digits, 'g', sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	spoil(taken, "work_dir", json_integer(1));
	spoil(job_state(&before), "overdue", json_string("no"));
	spoil(job_state(&before), "result", json_object());
	spoil(job_state(&before), "log", json_object());
	json_object_set_new(log, "records", json_pack("[s]", digits));
	spoil(job_state(&before), "log", json_incref(log));
	json_object_set_new(log, "records", json_pack("[s]", "00"));
	spoil(job_state(&before), "log", log);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_case_goes_on_as_it_was),
		CASE(what_went_wrong_before_is_not_forgotten),
		CASE(a_directory_that_was_lost_is_an_empty_one),
		CASE(what_is_no_state_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
