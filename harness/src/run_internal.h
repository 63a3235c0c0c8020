/* SPDX-License-Identifier: MIT */
/*
 * run_internal.h - a run on its way, as its files share it: what may start (run_lane.c), what
 * happens (run_events.c), and the frame around both (run.c).
 *
 * Threads: one thread.
 */
#ifndef RUN_INTERNAL_H
#define RUN_INTERNAL_H

#include "run.h"
#include "run_guest.h"
#include "run_job.h"
#include "run_signal.h"

#define RUN_JOBS_MAX 256u
#define RUN_HEAVY_BYTES ((uint64_t)32 << 20) /* a case with more counts as several */

/* The cases of one target, in the order of the plan. */
struct lane {
	enum target target;
	unsigned next;	     /* in the plan */
	unsigned room, used; /* cases at once; large ones count as more than one */
	unsigned jobs_count;
	struct job *jobs;
};

struct run {
	const struct plan *plan;
	const struct run_options *options;
	const struct run_listener *listener;
	struct report_summary summary;
	struct run_paths paths;
	struct work_root root;
	struct run_signal signals;
	struct lane lanes[TARGET_COUNT];
	struct run_guest guest;
	struct forkserver_pool own, *pool; /* @pool: ours, or one that outlives the run */
	unsigned active;
	unsigned jobs_limit; /* of all lanes together; 0: none */
	struct diag *diag;
	int error; /* the run cannot go on */
};

/* Under a tool the processor is what everything waits for. */
static inline bool run_is_emulated(const struct run *run)
{
	return run->options->under != NULL;
}

/* NULL: no tool, or one that is built into the worker. */
static inline const char *run_valgrind_tool(const struct run *run)
{
	const char *tool = run->options->under;

	return tool && !run_paths_sanitized(tool) ? tool : NULL;
}

/* run_lane.c */
void run_size_lanes(struct run *run);
/* Start what may start. False: everything was. */
bool run_start_more(struct run *run);
/* The next process of a case that goes on. 0, -errno. */
int run_start_next(struct run *run, struct job *job);
unsigned run_weight(const struct lane *lane, const struct test_case *test_case);
/* In a new process. 0, -errno: it cannot be started. */
int run_start_anew(struct run *run, struct job *job);
void run_report(struct run *run, const struct case_result *result);

/* run_limits.c: fewer cases at once where something would run out. */
/* 0; -EINVAL: not even one case of each target can run, the diag says why. */
int run_limit_descriptors(struct run *run);
void run_limit_room(struct run *run, uint64_t memory_bytes, uint64_t disk_bytes);
/* How much the files of sim can take at once. */
uint64_t run_files_in_memory(const struct run *run);

/* run_events.c */
void run_wait_for_something(struct run *run);
/* Take what it has to say, also that it is dead. */
void run_ask_server(struct run *run, struct forkserver *server);

/* run_under.c: what valgrind found in the process of a case, and its log beside what is kept. */
void run_under_ask(const struct run *run, struct job *job);
void run_under_keep(const struct run *run, const struct job *job);
/* "": the case can run under the tool; else why not. */
const char *run_under_refuses(const struct run *run, const struct test_case *test_case);

/* run_sanitizer.c: likewise for the sanitizers that the programs may be built with. */
void run_sanitizer_ask(const struct run *run, struct job *job);
void run_sanitizer_keep(const struct run *run, const struct job *job);

#endif /* RUN_INTERNAL_H */
