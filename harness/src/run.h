/* SPDX-License-Identifier: MIT */
/*
 * run.h - carries out a plan: work directories, fork servers, jobs, deadlines, Ctrl-C.
 *
 * Threads: one thread; every case runs in a process of its own.
 */
#ifndef RUN_H
#define RUN_H

#include <jansson.h>

#include "report.h"

struct forkserver_pool;
struct kernel_log;

/*
 * The faults of a case that a device keeps, told where they begin and end. None of it may fail for
 * good: what could not be asked makes the case broken. 0, -errno.
 */
struct run_device {
	int (*arm)(void *arg);
	int (*disarm)(void *arg);
	/* What came of them, into the faults of @result that are the device's. */
	int (*outcome)(struct case_result *result, void *arg);
	/* A fault may pull it out while the case runs: @fd is readable when there is something to
	 * do about that. */
	int fd;
	int (*happened)(void *arg, struct diag *diag);
	bool (*is_out)(void *arg);
	/* 1: it was out, and is back; 0: it was not out. */
	int (*put_back)(void *arg, struct diag *diag);
	/* Has it lost its power? Then it answers nothing any more, and this machine is about to. */
	bool (*is_cut)(void *arg);
	/* Hand out what the case has come to (consumed; NULL: no memory), and end with this
	 * machine. Does not return. */
	void (*power_gone)(json_t *state, void *arg);
	void *arg;
};

struct run_options {
	unsigned jobs;		  /* cases at once; 0: from the target and the cores */
	const char *work_root;	  /* target directory of host; NULL: a fresh one below $TMPDIR or
				     /var/tmp */
	bool keep;		  /* keep the work directories of passed cases, too */
	const char *under;	  /* NULL, "memcheck", "helgrind", "asan", "tsan" */
	const char *program_path; /* as in struct plan_options */
	const char *kernel;	  /* of guests; NULL: the distribution's */
	bool in_guest;		  /* this machine is the guest: cases of target nvme run here */
	bool guest_is_a_must; /* without a guest the run is refused; else its cases are skipped */
	unsigned patience;    /* factor on deadlines of real time; 0: 1 */
	struct forkserver_pool *pool;	 /* outlives the run; NULL: the run has its own */
	const struct run_device *device; /* NULL: there is none */
	/* What a machine handed out whose power was cut: the case, which is the only one of the
	 * plan, goes on from there. NULL: it begins. */
	const json_t *resume;
	struct kernel_log *kernel_log; /* all that is said there is the case's; NULL: not read */
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
