/* SPDX-License-Identifier: MIT */
/*
 * run_events.c - waits until something happens and looks who it was: a fork server, a case that
 * pauses, a reader, a deadline.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "run_internal.h"

#define TICK_NS 50000000 /* how late a deadline may be noticed */
#define TICK_JOBCTL_NS 500000
#define POLLED_MAX (2 * RUN_JOBS_MAX + FORKSERVERS_MAX + 1)

static struct job *job_by_id(struct run *run, uint32_t id)
{
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++)
			if (run->lanes[t].jobs[i].state != JOB_IDLE &&
			    run->lanes[t].jobs[i].id == id)
				return &run->lanes[t].jobs[i];
	return NULL;
}

/* A process ended: with its case, or while it waited for the next. */
static void process_ended(struct run *run, const struct wire_report *wire)
{
	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++) {
			struct job *job = &run->lanes[t].jobs[i];

			if (job->stays == wire->pid)
				job->stays = 0;
			else if (job->state != JOB_IDLE && !job->ended && job->pid == wire->pid)
				job_ended(job, wire->status);
		}
	}
}

static void release(struct run *run, struct job *job)
{
	struct lane *lane = &run->lanes[job->test_case->target];

	lane->used -= run_weight(lane, job->test_case);
	run->active--;
	job->state = JOB_IDLE;
}

/* What others left in its process could have made it so: only a new one tells. */
static bool run_again(struct run *run, struct job *job)
{
	int error;

	if (job->result.verdict == VERDICT_PASS || !job->again)
		return false;
	work_dir_clean(job->work_dir);
	error = run_start_anew(run, job);
	if (error == -EINTR)
		release(run, job); /* the run ends, and what did not come to its end is not told */
	if (error == 0 || error == -EINTR)
		return true;
	job->result.verdict = VERDICT_BROKEN;
	snprintf(job->result.reason, sizeof(job->result.reason),
		 "cannot be run again in a new process: %s", strerror(-error));
	return false;
}

static void finish(struct run *run, struct job *job)
{
	run_under_ask(run, job);
	run_sanitizer_ask(run, job);
	job_judge(job, run_is_emulated(run));
	if (run_again(run, job))
		return;
	if (job->result.verdict != VERDICT_PASS)
		job_dismiss(job);
	if (job->result.verdict != VERDICT_PASS || run->options->keep)
		job_keep(job, &run->root);
	else
		work_dir_clean(job->work_dir);
	run_under_keep(run, job);
	run_sanitizer_keep(run, job);
	run_report(run, &job->result);
	job_end_program(job);
	release(run, job);
}

static void finish_broken(struct run *run, struct job *job, const char *reason)
{
	snprintf(job->outcome.broken, sizeof(job->outcome.broken), "%s", reason);
	job_ended(job, 0);
	reader_kill(&job->reader);
	finish(run, job);
}

/* The process is through, and perhaps the case. */
static void process_done(struct run *run, struct job *job)
{
	int error;

	if (!job_goes_on(job)) {
		finish(run, job);
		return;
	}
	run_under_ask(run, job);
	run_sanitizer_ask(run, job);
	error = run_start_next(run, job);
	if (error == -EINTR)
		release(run, job); /* the run ends: see run_again() */
	else if (error < 0)
		finish_broken(run, job, strerror(-error));
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
	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++) {
			struct job *job = &run->lanes[t].jobs[i];

			if (job->server != server)
				continue;
			job->stays = 0;
			if (job->state != JOB_IDLE && !job->ended)
				finish_broken(run, job, reason);
		}
	}
}

static void take_report(struct run *run, const struct wire_report *wire)
{
	struct job *job = job_by_id(run, wire->id);

	if (wire->kind == WIRE_ENDED)
		process_ended(run, wire);
	else if (job && wire->kind == WIRE_STARTED)
		job_started(job, wire->pid);
	else if (job && wire->kind == WIRE_REFUSED)
		finish_broken(run, job, strerror(-wire->status));
}

void run_ask_server(struct run *run, struct forkserver *server)
{
	struct wire_report wire;
	int got;

	while ((got = forkserver_receive(server, &wire)) > 0)
		take_report(run, &wire);
	if (got < 0)
		server_died(run, server);
}

struct waiting { /* what is polled, and whose it is */
	struct pollfd polled[POLLED_MAX];
	struct forkserver *servers[POLLED_MAX];
	struct job *jobs[POLLED_MAX]; /* neither: the process that has the guest */
	unsigned count;
	bool soon; /* somebody may ask through shared memory, or end without a word */
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
	else if (job->state == JOB_RUNNING &&
		 (job->pause_steps || job->may_stay || job_tells_arming(job)))
		watch(waiting, job->pause_ours, NULL, job);
	if (job_heeds_device(job))
		watch(waiting, job->options->device->fd, NULL, job);
	waiting->soon |= job->state == JOB_RUNNING && (job->asks_jobctl || job_is_program(job));
}

static void watch_all(struct run *run, struct waiting *waiting)
{
	waiting->count = 0;
	waiting->soon = false;
	for (unsigned i = 0; i < run->pool->count; i++)
		if (run->pool->servers[i].pid)
			watch(waiting, run->pool->servers[i].socket, &run->pool->servers[i], NULL);
	if (run->guest.pid)
		watch(waiting, run->guest.socket, NULL, NULL);
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
			run_ask_server(run, waiting->servers[i]);
		else if (!job)
			run_guest_readable(run);
		else if (job_heeds_device(job) && job->options->device->fd == waiting->polled[i].fd)
			job_device_readable(job);
		else if (job->state == JOB_READING && job->reader.pipe == waiting->polled[i].fd)
			job_reader_readable(job);
		else if (job->state == JOB_RUNNING && job->pause_ours == waiting->polled[i].fd)
			job_pause_readable(job);
	}
}

static void look_at_power(struct run *run)
{
	for (unsigned i = 0; run->options->device && i < run->lanes[TARGET_NVME].jobs_count; i++)
		job_check_power(&run->lanes[TARGET_NVME].jobs[i]);
}

static void look_at_jobs(struct run *run)
{
	uint64_t now = job_now_ns();

	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++) {
			struct job *job = &run->lanes[t].jobs[i];

			job_poll_program(job);
			job_check_deadline(job, now);
			if (job_is_done(job))
				process_done(run, job);
		}
	}
}

void run_wait_for_something(struct run *run)
{
	static struct waiting waiting;
	struct timespec tick;
	int count;

	watch_all(run, &waiting);
	tick = (struct timespec){.tv_nsec = waiting.soon ? TICK_JOBCTL_NS : TICK_NS};
	count = ppoll(waiting.polled, waiting.count, &tick, run_signal_mask(&run->signals));
	look_at_power(run);
	if (count > 0)
		look_after(run, &waiting);
	look_at_jobs(run);
}
