/* SPDX-License-Identifier: MIT */
/*
 * run.c - carries out a plan. One loop: start what may start, wait until something happens, look
 * who it was. Cases run in processes of their own; this one only starts, reads, judges and reports.
 */
#include <errno.h>
#include <stdlib.h>

#include "machine.h"
#include "places.h"
#include "run_internal.h"

/* What runs is killed and not reported: it did not end by itself. */
static void stop_all(struct run *run)
{
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++)
			if (run->lanes[t].jobs[i].state != JOB_IDLE)
				job_kill(&run->lanes[t].jobs[i]);
}

static void loop(struct run *run)
{
	while (!run_signal_came() && run->error == 0 && (run_start_more(run) || run->active))
		run_wait_for_something(run);
	run->summary.interrupted = run_signal_came();
	stop_all(run);
}

/* The targets of the cases that are not skipped, as bits. */
static unsigned targets_used(const struct plan *plan)
{
	unsigned targets = 0;

	for (unsigned i = 0; i < plan->count; i++)
		if (!plan->cases[i].skip_reason[0])
			targets |= 1u << plan->cases[i].target;
	return targets;
}

static int make_lanes(struct run *run)
{
	uint64_t memory = UINT64_MAX, disk = UINT64_MAX;
	int error;

	run_size_lanes(run);
	error = run_limit_descriptors(run);
	if (error < 0)
		return error;
	machine_memory(&memory);
	machine_disk(run->options->work_root ? run->options->work_root : places_temporary(), &disk);
	run_limit_room(run, memory, disk);
	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		run->lanes[t].jobs = calloc(run->lanes[t].room, sizeof(struct job));
		if (!run->lanes[t].jobs)
			return -ENOMEM;
	}
	return 0;
}

static int set_up(struct run *run)
{
	unsigned targets = targets_used(run->plan);
	int error = run_paths_find(&run->paths, run->options->under, run->diag);

	if (error == 0)
		error = make_lanes(run);
	if (error < 0 || !targets)
		return error;
	error = work_root_open(&run->root, run->options->work_root,
			       targets & (1u << TARGET_HOST) || run->options->in_guest,
			       run_files_in_memory(run), run->diag);
	return error < 0 ? error : run_guest_start(run);
}

static void tear_down(struct run *run)
{
	run_guest_stop(run);
	forkserver_pool_stop(&run->own);
	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		for (unsigned i = 0; i < run->lanes[t].jobs_count; i++)
			job_fini(&run->lanes[t].jobs[i]);
		free(run->lanes[t].jobs);
	}
	if (run->root.disk[0])
		work_root_close(&run->root);
}

int run_plan(const struct plan *plan, const struct run_options *options,
	     const struct run_listener *listener, struct report_summary *ret_summary,
	     struct diag *diag)
{
	struct run *run = calloc(1, sizeof(*run));
	uint64_t began = job_now_ns();
	int error;

	if (!run)
		return -ENOMEM;
	run->plan = plan;
	run->options = options;
	run->listener = listener;
	run->pool = options->pool ? options->pool : &run->own;
	run->diag = diag;
	run->summary.seed = plan->seed;
	error = set_up(run);
	if (error == 0) {
		listener->begin(listener->arg);
		run_signal_begin(&run->signals);
		loop(run);
		run_signal_end(&run->signals);
		tear_down(run);
		error = run->error;
	} else {
		tear_down(run);
	}
	run->summary.duration_ns = job_now_ns() - began;
	*ret_summary = run->summary;
	free(run);
	return error;
}
