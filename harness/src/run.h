/* SPDX-License-Identifier: MIT */
/*
 * run.h - carries out a plan: work directories, fork servers, jobs, deadlines, Ctrl-C.
 *
 * Threads: one thread; every case runs in a process of its own.
 */
#ifndef RUN_H
#define RUN_H

#include "report.h"

struct run_options {
	unsigned jobs;	       /* cases at once; 0: from the target and the cores */
	const char *work_root; /* target directory of host; NULL: a fresh one below $TMPDIR or
				  /var/tmp */
	bool keep;	       /* keep the work directories of passed cases, too */
	const char *under;     /* NULL, "memcheck", "helgrind", "asan", "tsan" */
};

/* Called for every result, in order of completion. */
typedef void run_result_fn(const struct case_result *result, void *arg);

/* 0, or -errno with @diag (work root missing, read-only ...: nothing left behind). */
int run_plan(const struct plan *plan, const struct run_options *options, run_result_fn *on_result,
	     void *arg, struct report_summary *ret_summary, struct diag *diag);

#endif /* RUN_H */
