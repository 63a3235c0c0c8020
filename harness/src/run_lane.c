/* SPDX-License-Identifier: MIT */
/*
 * run_lane.c - which case may start now, in which place, with which fork server.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_internal.h"

#define HOST_JOBS_PER_CORE 8u /* io_destroy sleeps 35 ms: many at once cost nothing */
#define EMULATED_PATIENCE 30u
#define STARTING_MAX 8u
#define START_TRIES 3u /* whoever killed a fork server may kill the next one, too */

void run_report(struct run *run, const struct case_result *result)
{
	run->summary.counts[result->verdict]++;
	run->listener->result(result, run->listener->arg);
}

static void report_without_running(struct run *run, const struct test_case *test_case,
				   enum verdict verdict, const char *reason)
{
	struct case_result *result = calloc(1, sizeof(*result));

	if (!result)
		return;
	result->test_case = test_case;
	result->verdict = verdict;
	snprintf(result->reason, sizeof(result->reason), "%s", reason);
	run_report(run, result);
	free(result);
}

/* How many places a case takes: memory is what runs out first. */
unsigned run_weight(const struct lane *lane, const struct test_case *test_case)
{
	uint64_t weight = 1 + workload_bytes(&test_case->workload) / RUN_HEAVY_BYTES;

	return weight > lane->room ? lane->room : (unsigned)weight;
}

static struct job *idle_job(struct run *run, struct lane *lane)
{
	for (unsigned i = 0; i < lane->jobs_count; i++)
		if (lane->jobs[i].state == JOB_IDLE)
			return &lane->jobs[i];
	if (lane->jobs_count == lane->room)
		return NULL;
	run->error = job_init(&lane->jobs[lane->jobs_count], run->options, &run->root,
			      lane->target == TARGET_SIM, lane->jobs_count);
	if (run->error < 0) {
		diag_set(run->diag, NULL, 0, 0, "a place for a case: %s", strerror(-run->error));
		return NULL;
	}
	return &lane->jobs[lane->jobs_count++];
}

static int start_server(struct run *run, struct forkserver *server)
{
	struct forkserver_options options = {
		.paths = &run->paths,
		.under = run_valgrind_tool(run),
		.log_dir = run->root.disk,
		.signals = &run->signals,
	};
	int error = -EPIPE;

	for (unsigned tries = 0; error == -EPIPE && tries < START_TRIES; tries++)
		error = forkserver_start(server, &options, run->diag);
	if (error < 0 && error != -EINTR)
		run->error = error;
	return error;
}

/* The one for this faulty core, started if need be. NULL: run->error says why, or a signal came. */
static struct forkserver *server_for(struct run *run, const char *core)
{
	struct forkserver_pool *pool = run->pool;
	struct forkserver *server = NULL;

	for (unsigned i = 0; i < pool->count; i++)
		if (strcmp(pool->servers[i].core, core) == 0)
			server = &pool->servers[i];
	if (!server && pool->count == FORKSERVERS_MAX) {
		run->error = diag_set(run->diag, NULL, 0, 0, "more than %u cores", FORKSERVERS_MAX);
		return NULL;
	}
	if (!server) {
		server = &pool->servers[pool->count++];
		snprintf(server->core, sizeof(server->core), "%s", core);
	}
	if (!server->pid && start_server(run, server) < 0)
		return NULL;
	return server;
}

static bool core_exists(const struct run *run, const char *core)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s.so", run->paths.meta, core);
	return !core[0] || access(path, R_OK) == 0;
}

/* Factor on deadlines of real time. */
static unsigned patience_of(const struct run *run)
{
	if (run_is_emulated(run))
		return EMULATED_PATIENCE;
	return run->options->patience ? run->options->patience : 1;
}

/* -EPIPE: the server turned out to be dead; -EINTR: there is none, server_for() says why. */
static int send_to_server(struct run *run, struct job *job, const struct test_case *test_case)
{
	struct forkserver *server = server_for(run, test_case->scenario->core);
	bool emulated = run_is_emulated(run);
	int error;

	if (!server)
		return -EINTR;
	error = job_start(job, test_case, server, ++run->pool->next_id, patience_of(run),
			  !emulated && job_case_shares(test_case));
	if (error != -EPIPE && error != -ECONNRESET)
		return error;
	run_ask_server(run, server);
	return -EPIPE;
}

static int send_case(struct run *run, struct job *job, const struct test_case *test_case)
{
	int error = send_to_server(run, job, test_case);

	if (error == -EPIPE) /* it died since, and nobody has looked yet */
		error = send_to_server(run, job, test_case);
	return error;
}

int run_start_anew(struct run *run, struct job *job)
{
	job_dismiss(job);
	return send_case(run, job, job->test_case);
}

static void report_no_start(struct run *run, const struct test_case *test_case, int error)
{
	char text[PATH_MAX];

	if (test_case->program)
		snprintf(text, sizeof(text), "program %.1000s: %s", test_case->program->argv.text,
			 strerror(-error));
	else
		snprintf(text, sizeof(text), "%s", strerror(-error));
	report_without_running(run, test_case, VERDICT_BROKEN, text);
}

/* False: the server has more to read than it may, try again later. */
static bool start_case(struct run *run, struct lane *lane, const struct test_case *test_case)
{
	struct job *job = idle_job(run, lane);
	int error;

	if (!job)
		return true;
	if (!core_exists(run, test_case->scenario->core)) {
		report_without_running(run, test_case, VERDICT_BROKEN,
				       "its faulty core is not built");
		return true;
	}
	if (test_case->program)
		error = job_start_program(job, test_case, run->paths.preload, patience_of(run),
					  &run->signals.mask);
	else
		error = send_case(run, job, test_case);
	if (error == -EINTR)
		return true;
	if (error == -EAGAIN && !test_case->program)
		return false;
	if (error < 0) {
		report_no_start(run, test_case, error);
		return true;
	}
	lane->used += run_weight(lane, test_case);
	run->active++;
	return true;
}

/* Cases that were sent and have not begun: they fill the socket, which restarts need, too. */
static unsigned cases_starting(const struct lane *lane)
{
	unsigned count = 0;

	for (unsigned i = 0; i < lane->jobs_count; i++)
		count += lane->jobs[i].state == JOB_STARTING;
	return count;
}

int run_start_next(struct run *run, struct job *job)
{
	struct forkserver *server = server_for(run, job->test_case->scenario->core);

	if (!server)
		return run->error ? run->error : -EINTR;
	return job_next_process(job, server, ++run->pool->next_id, run_is_emulated(run));
}

/* False: nothing more can be started in this lane now. */
static bool lane_step(struct run *run, struct lane *lane)
{
	const struct plan *plan = run->plan;
	const struct test_case *test_case;
	const char *skip;

	while (lane->next < plan->count && plan->cases[lane->next].target != lane->target)
		lane->next++;
	if (lane->next == plan->count || run->error < 0)
		return false;
	test_case = &plan->cases[lane->next];
	skip = test_case->skip_reason;
	if (!skip[0])
		skip = run_under_refuses(run, test_case);
	if (skip[0]) {
		lane->next++;
		report_without_running(run, test_case, VERDICT_SKIP, skip);
		return true;
	}
	if (lane->target == TARGET_NVME && !run->options->in_guest) {
		lane->next++; /* it is with the process that has the guest */
		return true;
	}
	if (lane->used && lane->used + run_weight(lane, test_case) > lane->room)
		return false;
	if (run->jobs_limit && run->active >= run->jobs_limit)
		return false;
	if (cases_starting(lane) >= STARTING_MAX || !start_case(run, lane, test_case))
		return false;
	lane->next++;
	return true;
}

bool run_start_more(struct run *run)
{
	bool more = false;

	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		while (!run_signal_came() && lane_step(run, &run->lanes[t]))
			;
		more |= run->lanes[t].next < run->plan->count;
	}
	return more;
}

void run_size_lanes(struct run *run)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned count = cores < 1 ? 1 : (unsigned)cores;

	run->jobs_limit = run->options->jobs;
	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		struct lane *lane = &run->lanes[t];

		lane->target = (enum target)t;
		lane->room = t == TARGET_SIM || run_is_emulated(run) ? count + 1
								     : count * HOST_JOBS_PER_CORE;
		if (run->jobs_limit)
			lane->room = run->jobs_limit;
		lane->room = lane->room > RUN_JOBS_MAX / TARGET_COUNT ? RUN_JOBS_MAX / TARGET_COUNT
								      : lane->room;
	}
}
