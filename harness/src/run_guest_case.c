/* SPDX-License-Identifier: MIT */
/*
 * run_guest_case.c - one case in the guest: a namespace for it, the question, the result, and what
 * is kept of it when it did not pass. Whatever goes wrong on the way makes the case broken, and the
 * guest is replaced when it cannot be trusted any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result_json.h"
#include "run_guest_internal.h"
#include "run_job.h"

#define PATIENCE_TCG 10u /* a processor that is emulated takes its time */
#define PATIENCE_KVM 2u
#define SLACK_SECONDS 60u /* what a case takes beside what is measured: reading, judging */

/* ---- the question ---- */

static json_t *cells_json(const struct test_case *test_case)
{
	const struct scenario *scenario = test_case->scenario;
	json_t *cells = json_array();

	for (unsigned i = 0; i < scenario->matrix_count; i++) {
		const struct matrix_key *key = &scenario->matrix[i];
		char word[sizeof(key->key) + sizeof(key->values[0]) + 1];

		if (test_case->other_faults && strcmp(key->key, "faults") == 0)
			continue;
		snprintf(word, sizeof(word), "%s=%s", key->key, key->values[test_case->choice[i]]);
		json_array_append_new(cells, json_string(word));
	}
	return cells;
}

static json_t *faults_json(const struct test_case *test_case)
{
	json_t *faults = json_array();
	const char *line = test_case->schedule_text;

	for (; test_case->other_faults && *line; line += strcspn(line, "\n"), line += *line == '\n')
		json_array_append_new(faults, json_stringn(line, strcspn(line, "\n")));
	return faults;
}

static unsigned patience_of(const struct guest_lane *lane)
{
	return strcmp(guest_accel(lane->guest), "kvm") == 0 ? PATIENCE_KVM : PATIENCE_TCG;
}

static json_t *question(const struct guest_lane *lane, const struct test_case *test_case)
{
	char *path = guest_program_given(test_case->scenario->path);
	char *program = test_case->program ? guest_program_path(test_case->program) : NULL;
	json_t *line =
		json_pack("{s:{s:s, s:o, s:o, s:I, s:s, s:i, s:b, s:s}}", "run", "scenario",
			  path ? path : test_case->scenario->path, "cells", cells_json(test_case),
			  "faults", faults_json(test_case), "seed", (json_int_t)test_case->seed,
			  "work_dir", lane->disk.directory, "patience", (int)patience_of(lane),
			  "device", lane->disk.faulty, "serial", lane->disk.id);

	if (program)
		json_object_set_new(json_object_get(line, "run"), "program", json_string(program));
	free(program);
	free(path);
	return line;
}

/* ---- what is kept ---- */

static void write_text(const char *directory, const char *name, const char *text, size_t bytes)
{
	char path[WORK_DIR_BYTES + RUN_KEEP_NAME_BYTES + 32];
	ssize_t put;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	put = write(fd, text, bytes);
	(void)put; /* what there is room for */
	close(fd);
}

/* The names come from a guest that was hurt on purpose. */
static bool is_plain(const char *name)
{
	return name[0] != '.' && strlen(name) < 32 && !strchr(name, '/');
}

static void keep(const struct guest_lane *lane, json_t *files, struct case_result *result)
{
	const char *console = lane->guest ? guest_console_tail(lane->guest) : "";
	char name[RUN_KEEP_NAME_BYTES], directory[sizeof(result->work_dir)];
	const char *file;
	json_t *text;

	result->work_dir[0] = '\0';
	run_keep_name(result->test_case, name);
	if ((size_t)snprintf(directory, sizeof(directory), "%s/%s", lane->keep_dir, name) >=
		    sizeof(directory) ||
	    (mkdir(directory, 0700) < 0 && errno != EEXIST))
		return;
	memcpy(result->work_dir, directory, sizeof(directory));
	json_object_foreach(files, file, text) if (is_plain(file) && json_is_string(text))
		write_text(directory, file, json_string_value(text), json_string_length(text));
	write_text(directory, "console.txt", console, strlen(console));
}

/* ---- the answer ---- */

static void make_broken(struct case_result *result, const struct test_case *test_case,
			const struct diag *diag)
{
	memset(result, 0, sizeof(*result));
	result->test_case = test_case;
	result->verdict = VERDICT_BROKEN;
	snprintf(result->reason, sizeof(result->reason), "%.*s", FINDING_TEXT_BYTES - 1,
		 diag->text);
}

static unsigned seconds_for(const struct guest_lane *lane, const struct test_case *test_case)
{
	uint64_t seconds = (uint64_t)test_case->expect.deadline_ns / 1000000000u + 1;

	return SLACK_SECONDS +
	       (unsigned)(seconds * patience_of(lane) * workload_images(&test_case->workload));
}

/* Nothing that it promised is left to be seen if nobody noticed that the power went. */
static int check_cut(const struct guest_lane *lane, const json_t *cut, struct diag *diag)
{
	if (!lane->disk.is_cut || cut)
		return 0;
	diag_set(diag, NULL, 0, 0, "the guest went on without its device's power");
	return -EPROTO;
}

static int ask_guest(struct guest_lane *lane, const struct test_case *test_case,
		     struct case_result *result, struct diag *diag)
{
	json_t *done = NULL, *cut;
	unsigned seconds = seconds_for(lane, test_case);
	int error = guest_lane_ask(lane, question(lane, test_case), seconds, &done, diag);

	cut = error == 0 ? json_incref(json_object_get(done, "cut")) : NULL;
	if (error == 0)
		error = check_cut(lane, cut, diag);
	if (cut) {
		json_decref(done);
		done = NULL;
		error = guest_power_resume(lane, question(lane, test_case), cut, seconds, &done,
					   diag);
		json_decref(cut);
	}
	if (error == 0)
		error = result_from_json(json_object_get(done, "case"), test_case, result, diag);
	if (error == 0 && result->verdict != VERDICT_PASS && result->verdict != VERDICT_SKIP)
		keep(lane, json_object_get(done, "kept"), result);
	json_decref(done);
	return error;
}

/* Nothing that a case saw on a device which failed by itself says anything of the core. */
static int check_device(const struct guest_lane *lane, struct diag *diag)
{
	char request[128];

	if (!lane->disk.device || !device_failure(lane->disk.device, request, sizeof(request)))
		return 0;
	diag_set(diag, NULL, 0, 0, "the emulated device failed by itself: %s", request);
	return -EIO;
}

void guest_case_run(struct guest_lane *lane, const struct test_case *test_case,
		    struct case_result *ret_result)
{
	struct diag diag = {.text = ""};
	uint64_t began = job_now_ns();
	int error;

	guest_removal_choose(lane, test_case);
	error = guest_lane_boot(lane, NULL, &diag);
	memset(ret_result, 0, sizeof(*ret_result));
	if (error == 0)
		error = guest_disk_provide(lane, test_case, &diag);
	if (error == 0)
		error = ask_guest(lane, test_case, ret_result, &diag);
	if (error == 0)
		error = check_device(lane, &diag);
	if (error < 0) {
		if (!diag.text[0])
			diag_set(&diag, NULL, 0, 0, "%s", strerror(-error));
		make_broken(ret_result, test_case, &diag);
		keep(lane, NULL, ret_result);
		guest_lane_drop(lane); /* whatever it still does is not the next case's */
	}
	if (guest_removal_spoilt(lane))
		guest_lane_drop(lane);
	if (!ret_result->duration_ns)
		ret_result->duration_ns = job_now_ns() - began;
}
