/* SPDX-License-Identifier: MIT */
/*
 * run.c - carries out a plan. One loop: start what may start, wait until something happens, look who it
 * was. Cases run in processes of their own; this one only starts, reads, judges and reports.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "run_job.h"
#include "run_signal.h"

#define JOBS_MAX 256u
#define SERVERS_MAX 32u
#define HOST_JOBS_PER_CORE 8u /* io_destroy sleeps 35 ms: many at once cost nothing */
#define HEAVY_BYTES ((uint64_t)32 << 20) /* such a case counts as several */
#define EMULATED_PATIENCE 30u
#define TICK_NS 50000000 /* how late a deadline may be noticed */
#define TICK_JOBCTL_NS 500000

/* The cases of one target, in the order of the plan. */
struct lane {
	enum target target;
	unsigned next; /* in the plan */
	unsigned room, used; /* cases at once; large ones count as more than one */
	unsigned jobs_count;
	struct job *jobs;
};

struct run {
	const struct plan *plan;
	const struct run_options *options;
	run_result_fn *on_result;
	void *arg;
	struct report_summary summary;
	struct run_paths paths;
	struct work_root root;
	struct run_signal signals;
	struct lane lanes[TARGET_COUNT];
	struct forkserver servers[SERVERS_MAX];
	unsigned servers_count;
	uint32_t next_id;
	unsigned active;
	unsigned jobs_limit; /* of all lanes together; 0: none */
	struct diag *diag;
	int error; /* the run cannot go on */
};

static bool is_emulated(const struct run *run)
{
	return run->options->under != NULL;
}

static void report(struct run *run, const struct case_result *result)
{
	run->summary.counts[result->verdict]++;
	run->on_result(result, run->arg);
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
	report(run, result);
	free(result);
}

/* How many places a case takes: memory is what runs out first. */
static unsigned weight_of(const struct lane *lane, const struct test_case *test_case)
{
	uint64_t bytes = 0, weight;

	for (unsigned i = 0; i < test_case->workload.tensors_count; i++)
		bytes += tensor_bytes(&test_case->workload.tensors[i]);
	weight = 1 + bytes / HEAVY_BYTES;
	return weight > lane->room ? lane->room : (unsigned)weight;
}

static struct job *idle_job(struct run *run, struct lane *lane)
{
	for (unsigned i = 0; i < lane->jobs_count; i++)
		if (lane->jobs[i].state == JOB_IDLE)
			return &lane->jobs[i];
	if (lane->jobs_count == lane->room)
		return NULL;
	run->error = job_init(&lane->jobs[lane->jobs_count], &run->root,
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
		.under = run->options->under,
		.log_dir = run->root.disk,
	};
	int error = forkserver_start(server, &options, run->diag);

	if (error < 0)
		run->error = error;
	return error;
}

/* The one for this faulty core, started if need be. NULL: run->error says why. */
static struct forkserver *server_for(struct run *run, const char *core)
{
	struct forkserver *server = NULL;

	for (unsigned i = 0; i < run->servers_count; i++)
		if (strcmp(run->servers[i].core, core) == 0)
			server = &run->servers[i];
	if (!server && run->servers_count == SERVERS_MAX) {
		run->error = diag_set(run->diag, NULL, 0, 0, "more than %u cores", SERVERS_MAX);
		return NULL;
	}
	if (!server) {
		server = &run->servers[run->servers_count++];
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

static void start_case(struct run *run, struct lane *lane, const struct test_case *test_case)
{
	struct job *job = idle_job(run, lane);
	struct forkserver *server;
	int error;

	if (!job)
		return;
	if (!core_exists(run, test_case->scenario->core)) {
		report_without_running(run, test_case, VERDICT_BROKEN, "its faulty core is not built");
		return;
	}
	server = server_for(run, test_case->scenario->core);
	if (!server)
		return;
	error = job_start(job, test_case, server, ++run->next_id,
			  is_emulated(run) ? EMULATED_PATIENCE : 1);
	if (error < 0) {
		report_without_running(run, test_case, VERDICT_BROKEN, strerror(-error));
		return;
	}
	lane->used += weight_of(lane, test_case);
	run->active++;
}

/* False: nothing more can be started in this lane now. */
static bool lane_step(struct run *run, struct lane *lane)
{
	const struct plan *plan = run->plan;
	const struct test_case *test_case;

	while (lane->next < plan->count && plan->cases[lane->next].target != lane->target)
		lane->next++;
	if (lane->next == plan->count || run->error < 0)
		return false;
	test_case = &plan->cases[lane->next];
	if (test_case->skip_reason[0]) {
		lane->next++;
		report_without_running(run, test_case, VERDICT_SKIP, test_case->skip_reason);
		return true;
	}
	if (lane->used && lane->used + weight_of(lane, test_case) > lane->room)
		return false;
	if (run->jobs_limit && run->active >= run->jobs_limit)
		return false;
	lane->next++;
	start_case(run, lane, test_case);
	return true;
}

static struct job *job_by_id(struct run *run, uint32_t id)
{
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++)
			if (run->lanes[t].jobs[i].state != JOB_IDLE &&
			    run->lanes[t].jobs[i].id == id)
				return &run->lanes[t].jobs[i];
	return NULL;
}

static void release(struct run *run, struct job *job)
{
	struct lane *lane = &run->lanes[job->test_case->target];

	lane->used -= weight_of(lane, job->test_case);
	run->active--;
	job->state = JOB_IDLE;
}

static void finish(struct run *run, struct job *job)
{
	job_judge(job, is_emulated(run));
	if (job->result.verdict != VERDICT_PASS || run->options->keep)
		job_keep(job, &run->root);
	else
		work_dir_clean(job->work_dir);
	report(run, &job->result);
	release(run, job);
}

static void finish_broken(struct run *run, struct job *job, const char *reason)
{
	snprintf(job->outcome.broken, sizeof(job->outcome.broken), "%s", reason);
	job_ended(job, 0);
	reader_kill(&job->reader);
	finish(run, job);
}

/* Its cases are dead, too. The next case starts it again. */
static void server_died(struct run *run, struct forkserver *server)
{
	char reason[128];
	int status = forkserver_stop(server);

	server->restarts++;
	snprintf(reason, sizeof(reason),
		 "the fork server died (wait status %#x); it was started again for the next case",
		 (unsigned)status);
	fprintf(stderr, "swaptorture: %s\n", reason);
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++)
			if (run->lanes[t].jobs[i].state != JOB_IDLE &&
			    run->lanes[t].jobs[i].server == server && !run->lanes[t].jobs[i].ended)
				finish_broken(run, &run->lanes[t].jobs[i], reason);
}

static void take_report(struct run *run, const struct wire_report *wire)
{
	struct job *job = job_by_id(run, wire->id);

	if (!job)
		return;
	if (wire->kind == WIRE_STARTED)
		job_started(job, wire->pid);
	else if (wire->kind == WIRE_ENDED)
		job_ended(job, wire->status);
	else if (wire->kind == WIRE_REFUSED)
		finish_broken(run, job, strerror(-wire->status));
}

static void server_readable(struct run *run, struct forkserver *server)
{
	struct wire_report wire;
	int got;

	while ((got = forkserver_receive(server, &wire)) > 0)
		take_report(run, &wire);
	if (got < 0)
		server_died(run, server);
}

struct waiting { /* what is polled, and whose it is */
	struct pollfd polled[JOBS_MAX * 2 + SERVERS_MAX];
	struct forkserver *servers[JOBS_MAX * 2 + SERVERS_MAX];
	struct job *jobs[JOBS_MAX * 2 + SERVERS_MAX];
	unsigned count;
	bool soon; /* somebody may ask through shared memory */
};

static void watch(struct waiting *waiting, int fd, struct forkserver *server, struct job *job)
{
	waiting->polled[waiting->count] = (struct pollfd){.fd = fd, .events = POLLIN};
	waiting->servers[waiting->count] = server;
	waiting->jobs[waiting->count++] = job;
}

static void watch_job(struct waiting *waiting, struct job *job)
{
	if (job->state == JOB_READING)
		watch(waiting, job->reader.pipe, NULL, job);
	else if (job->state == JOB_RUNNING && job->pause_steps)
		watch(waiting, job->pause_ours, NULL, job);
	waiting->soon |= job->state == JOB_RUNNING && job->asks_jobctl;
}

static void watch_all(struct run *run, struct waiting *waiting)
{
	waiting->count = 0;
	waiting->soon = false;
	for (unsigned i = 0; i < run->servers_count; i++)
		if (run->servers[i].pid)
			watch(waiting, run->servers[i].socket, &run->servers[i], NULL);
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++)
			watch_job(waiting, &run->lanes[t].jobs[i]);
}

static void look_after(struct run *run, struct waiting *waiting)
{
	for (unsigned i = 0; i < waiting->count; i++) {
		struct job *job = waiting->jobs[i];

		if (!waiting->polled[i].revents)
			continue;
		if (waiting->servers[i])
			server_readable(run, waiting->servers[i]);
		else if (job->state == JOB_READING && job->reader.pipe == waiting->polled[i].fd)
			job_reader_readable(job);
		else if (job->state == JOB_RUNNING && job->pause_ours == waiting->polled[i].fd)
			job_pause_readable(job);
	}
}

static void look_at_jobs(struct run *run)
{
	uint64_t now = job_now_ns();

	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++) {
			struct job *job = &run->lanes[t].jobs[i];

			job_check_deadline(job, now);
			if (job_is_done(job))
				finish(run, job);
		}
	}
}

static void wait_for_something(struct run *run)
{
	static struct waiting waiting;
	struct timespec tick;

	watch_all(run, &waiting);
	tick = (struct timespec){.tv_nsec = waiting.soon ? TICK_JOBCTL_NS : TICK_NS};
	if (ppoll(waiting.polled, waiting.count, &tick, run_signal_mask(&run->signals)) > 0)
		look_after(run, &waiting);
	look_at_jobs(run);
}

/* What runs is killed and not reported: it did not end by itself. */
static void stop_all(struct run *run)
{
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++)
			if (run->lanes[t].jobs[i].state != JOB_IDLE)
				job_kill(&run->lanes[t].jobs[i]);
}

/* Start what may start. False: everything was. */
static bool start_more(struct run *run)
{
	bool more = false;

	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		while (!run_signal_came() && lane_step(run, &run->lanes[t]))
			;
		more |= run->lanes[t].next < run->plan->count;
	}
	return more;
}

static void loop(struct run *run)
{
	while (!run_signal_came() && run->error == 0 && (start_more(run) || run->active))
		wait_for_something(run);
	run->summary.interrupted = run_signal_came();
	stop_all(run);
}

static void size_lanes(struct run *run)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned count = cores < 1 ? 1 : (unsigned)cores;

	run->jobs_limit = run->options->jobs;
	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		struct lane *lane = &run->lanes[t];

		lane->target = (enum target)t;
		lane->room = t == TARGET_SIM || is_emulated(run) ? count + 1
								 : count * HOST_JOBS_PER_CORE;
		if (run->jobs_limit)
			lane->room = run->jobs_limit;
		lane->room = lane->room > JOBS_MAX / TARGET_COUNT ? JOBS_MAX / TARGET_COUNT
								  : lane->room;
	}
}

static bool plan_has(const struct plan *plan, enum target target)
{
	for (unsigned i = 0; i < plan->count; i++)
		if (plan->cases[i].target == target && !plan->cases[i].skip_reason[0])
			return true;
	return false;
}

static int set_up(struct run *run)
{
	int error = run_paths_find(&run->paths, run->diag);

	if (error == 0)
		error = work_root_open(&run->root, run->options->work_root,
				       plan_has(run->plan, TARGET_HOST), run->diag);
	if (error < 0)
		return error;
	size_lanes(run);
	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		run->lanes[t].jobs = calloc(run->lanes[t].room, sizeof(struct job));
		if (!run->lanes[t].jobs)
			return -ENOMEM;
	}
	return 0;
}

static void tear_down(struct run *run)
{
	for (unsigned i = 0; i < run->servers_count; i++)
		forkserver_stop(&run->servers[i]);
	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++)
			job_fini(&run->lanes[t].jobs[i]);
		free(run->lanes[t].jobs);
	}
	if (run->root.disk[0])
		work_root_close(&run->root);
}

int run_plan(const struct plan *plan, const struct run_options *options, run_result_fn *on_result,
	     void *arg, struct report_summary *ret_summary, struct diag *diag)
{
	struct run *run = calloc(1, sizeof(*run));
	uint64_t began = job_now_ns();
	int error;

	if (!run)
		return -ENOMEM;
	run->plan = plan;
	run->options = options;
	run->on_result = on_result;
	run->arg = arg;
	run->diag = diag;
	run->summary.seed = plan->seed;
	error = set_up(run);
	if (error == 0) {
		run_signal_begin(&run->signals);
		loop(run);
		tear_down(run);
		run_signal_end(&run->signals);
		error = run->error;
	} else {
		tear_down(run);
	}
	run->summary.duration_ns = job_now_ns() - began;
	*ret_summary = run->summary;
	free(run);
	return error;
}
