/* SPDX-License-Identifier: MIT */
/*
 * serve_case.c - runs one case in the guest, with the code that runs cases everywhere. The answer
 * holds the result, and as texts the files that a person needs if it did not pass.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "result_json.h"
#include "run.h"
#include "serve.h"
#include "work_dir.h"

#define CELLS_MAX SCENARIO_MATRIX_KEYS_MAX
#define KEPT_BYTES_MAX (256u * 1024) /* of one file; its end is what counts */

struct request {
	struct plan_options plan;
	struct run_options run;
	const char *scenario;
	const char *cells[CELLS_MAX];
	const char *faults[SCHEDULE_FAULTS_MAX];
	const char *serial; /* of the namespace that it runs on */
	struct run_device device;
	struct serve *serve;
	const char *resume; /* NULL: the case begins */
	json_t *state;	    /* in that file */
	json_t *result;	    /* NULL: none came */
	json_t *kept;
};

/* ---- what is asked for ---- */

static int read_words(const json_t *list, const char *name, const char **words, unsigned room,
		      unsigned *ret_count, struct diag *diag)
{
	size_t count = json_array_size(list);

	if (count > room)
		return diag_set(diag, NULL, 0, 0, "%s: more than %u", name, room);
	for (size_t i = 0; i < count; i++) {
		words[i] = json_string_value(json_array_get(list, i));
		if (!words[i])
			return diag_set(diag, NULL, 0, 0, "%s: must be a list of texts", name);
	}
	*ret_count = (unsigned)count;
	return 0;
}

static int read_request(json_t *asked, struct request *request, struct diag *diag)
{
	struct plan_options *plan = &request->plan;
	const char *work_dir = NULL;
	json_int_t seed = 0;
	int patience = 0, device = 0, result;
	json_t *cells = NULL, *faults = NULL;

	if (json_unpack(asked, "{s:s, s:o, s:o, s:I, s:s, s:i, s:b, s:s, s?s, s?s}", "scenario",
			&request->scenario, "cells", &cells, "faults", &faults, "seed", &seed,
			"work_dir", &work_dir, "patience", &patience, "device", &device, "serial",
			&request->serial, "resume", &request->resume, "program",
			&plan->program_path) < 0 ||
	    patience < 1)
		return diag_set(diag, NULL, 0, 0,
				"run: a member is missing or is not what it must be");
	result = read_words(cells, "cells", request->cells, CELLS_MAX, &plan->cells_count, diag);
	if (result == 0)
		result = read_words(faults, "faults", request->faults, SCHEDULE_FAULTS_MAX,
				    &plan->faults_count, diag);
	plan->paths = &request->scenario;
	plan->paths_count = 1;
	plan->targets = 1u << TARGET_NVME;
	plan->cells = request->cells;
	plan->faults = request->faults;
	plan->seed = (uint64_t)seed;
	plan->work_root = request->run.work_root = work_dir;
	plan->in_guest = request->run.in_guest = true;
	request->run.program_path = plan->program_path;
	request->run.jobs = 1;
	request->run.patience = (unsigned)patience;
	request->run.pool = &request->serve->pool;
	request->run.kernel_log = request->serve->kernel_log;
	request->run.device = device ? &request->device : NULL;
	return result;
}

/* ---- the faults of the device are on the other side ---- */

static int arm(void *arg)
{
	struct diag diag = {.text = ""};
	int error = serve_removal_prepare(arg, &diag);

	return error < 0 ? error : serve_ask(arg, "arm", NULL, &diag);
}

/* A removal that is told already comes first. */
static int disarm(void *arg)
{
	struct diag diag = {.text = ""};
	int error = serve_removal_happened(arg, &diag);
	int disarmed = serve_ask(arg, "disarm", NULL, &diag);

	return error < 0 ? error : disarmed;
}

static int take_fault(json_t *object, struct case_result *result)
{
	json_int_t index = -1, fired = 0, injected = 0, missed = 0;
	const char *why = "";
	struct fault_outcome *fault;

	if (json_unpack(object, "{s:I, s:I, s:I, s:I, s:s}", "index", &index, "fired", &fired,
			"injected", &injected, "missed", &missed, "why_missed", &why) < 0 ||
	    index < 0 || index >= (json_int_t)result->faults_count)
		return -EPROTO;
	fault = &result->faults[index];
	fault->fired = (uint64_t)fired;
	fault->injected = (uint64_t)injected;
	fault->missed = (uint64_t)missed;
	snprintf(fault->why_missed, sizeof(fault->why_missed), "%s", why);
	return 0;
}

static int take_outcome(struct case_result *result, void *arg)
{
	json_t *answer = NULL;
	const json_t *faults;
	int error = serve_ask(arg, "outcome", &answer, &(struct diag){.text = ""});

	faults = json_object_get(answer, "faults");
	if (error == 0 && !json_is_array(faults))
		error = -EPROTO;
	for (size_t i = 0; error == 0 && i < json_array_size(faults); i++)
		error = take_fault(json_array_get(faults, i), result);
	json_decref(answer);
	return error;
}

/* What the case has come to, and what is left of its directory, set aside before the run makes room
 * for itself. */
static int begin_again(struct request *request, struct diag *diag)
{
	char aside[WORK_DIR_BYTES];
	const char *left;
	json_error_t error;

	if (!request->resume)
		return 0;
	request->state = json_load_file(request->resume, 0, &error);
	left = json_string_value(json_object_get(request->state, "work_dir"));
	if (!left)
		return diag_set(diag, NULL, 0, 0, "%s: %s", request->resume,
				request->state ? "it says no work_dir" : error.text);
	snprintf(aside, sizeof(aside), "%.400s/left", request->run.work_root);
	if (rename(left, aside) < 0 && errno != ENOENT)
		return diag_set(diag, NULL, 0, 0, "%s: %s", left, strerror(errno));
	json_object_set_new(request->state, "work_dir", json_string(aside));
	request->run.resume = request->state;
	return 0;
}

/* ---- what comes of it ---- */

static const char *const kept_files[] = {"case.txt", "events.txt", "outcome.ndjson", "stdout.txt",
					 "stderr.txt"};

/* What a program prints need not be text, and a line to the other side is. */
static json_t *text_json(char *text, size_t bytes)
{
	json_t *value = memchr(text, '\0', bytes) ? NULL : json_stringn(text, bytes);

	for (size_t i = 0; !value && i < bytes; i++)
		if (!text[i] || text[i] & '\x80')
			text[i] = '?';
	return value ? value : json_stringn(text, bytes);
}

/* The last KEPT_BYTES_MAX of it; NULL: there is none. */
static json_t *text_of(const char *directory, const char *name)
{
	static char text[KEPT_BYTES_MAX];
	char path[sizeof(((struct case_result *)0)->work_dir) + 64];
	json_t *value = NULL;
	ssize_t got = -1;
	off_t bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	bytes = lseek(fd, 0, SEEK_END);
	if (bytes >= 0)
		got = pread(fd, text, sizeof(text),
			    bytes > (off_t)sizeof(text) ? bytes - (off_t)sizeof(text) : 0);
	if (got >= 0)
		value = text_json(text, (size_t)got);
	close(fd);
	return value;
}

static void on_begin(void *arg)
{
	(void)arg;
}

static void on_result(const struct case_result *result, void *arg)
{
	struct request *request = arg;

	json_decref(request->result);
	json_decref(request->kept);
	request->result = result_to_json(result);
	request->kept = json_object();
	for (size_t i = 0; i < sizeof(kept_files) / sizeof(*kept_files); i++)
		if (result->work_dir[0])
			json_object_set_new(request->kept, kept_files[i],
					    text_of(result->work_dir, kept_files[i]));
}

static int run_it(struct request *request, struct diag *diag)
{
	const struct run_listener listener = {on_begin, on_result, request};
	struct report_summary summary;
	struct plan *plan = NULL;
	int error = plan_make(&request->plan, &plan, diag);

	if (error < 0)
		return error;
	if (plan->count != 1)
		error = diag_set(diag, NULL, 0, 0, "run: these are %u cases", plan->count);
	else
		error = serve_removal_expect(
			request->serve,
			schedule_find_removal(&plan->cases[0].schedule) ? request->serial : NULL,
			diag);
	if (error == 0)
		error = run_plan(plan, &request->run, &listener, &summary, diag);
	plan_free(plan);
	if (error == 0 && !request->result)
		error = diag_set(diag, NULL, 0, 0, "run: no result came of it");
	return error;
}

json_t *serve_case(struct serve *serve, json_t *asked)
{
	struct request request = {
		.serve = serve,
		.device = {arm, disarm, take_outcome, serve->channel.fd, serve_removal_happened,
			   serve_removal_is_out, serve_removal_end, serve_power_is_cut,
			   serve_power_gone, serve},
	};
	struct diag diag = {.text = ""};
	json_t *answer;
	int error = read_request(asked, &request, &diag);

	serve->power_is_cut = false;
	if (error == 0)
		error = begin_again(&request, &diag);
	if (error == 0)
		error = run_it(&request, &diag);
	if (error == 0)
		answer = serve_done(
			json_pack("{s:O, s:O}", "case", request.result, "kept", request.kept));
	else
		answer = serve_failed(error, &diag);
	json_decref(request.result);
	json_decref(request.kept);
	json_decref(request.state);
	return answer;
}
