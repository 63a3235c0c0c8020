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

struct run_listener {
	void (*begin)(void *arg); /* everything is there that the run needs */
	/* Every result, in order of completion. */
	void (*result)(const struct case_result *result, void *arg);
	void *arg;
};

/* 0, or -errno with @diag (work root missing, read-only ...: nothing left behind, and if it was
 * so from the start, nothing begun). */
int run_plan(const struct plan *plan, const struct run_options *options,
	     const struct run_listener *listener, struct report_summary *ret_summary,
	     struct diag *diag);

#endif /* RUN_H */
