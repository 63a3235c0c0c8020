/* SPDX-License-Identifier: MIT */
/*
 * case.h - one concrete run: one cell of a scenario's matrix, one schedule, one seed, one target.
 *
 * Threads: read-only once planned.
 */
#ifndef CASE_H
#define CASE_H

#include "scenario.h"

struct test_case {
	unsigned index; /* in the plan, from 0 */
	char *name;	/* "signal/two-of-four-ready[overlap_events=true,workers=1]@sim" */
	char *repro;	/* the whole command line that runs just this case */
	const struct scenario *scenario;
	unsigned choice[SCENARIO_MATRIX_KEYS_MAX]; /* its cell of the scenario's matrix */
	enum target target;
	uint64_t seed;
	struct workload workload;
	struct program *program; /* in place of it; NULL: none */
	char *schedule_text;	 /* canonical print, lines; "" none */
	struct schedule schedule;
	struct expectation expect;
	struct scenario_device device;
	char *checkpoint;      /* file that the tensors' shapes are from; NULL none */
	bool other_faults;     /* not those of the scenario */
	char skip_reason[128]; /* not "": the case is skipped, decided at planning (needs, target)
				*/
};

struct plan {
	unsigned count;
	struct test_case *cases;
	unsigned scenarios_count;
	struct scenario **scenarios;
	uint64_t seed;
};

struct plan_options {
	const char *const *paths; /* files and directories; meta/ and soak/ only when named */
	unsigned paths_count;
	unsigned targets;	  /* bit per target the user asked for; 0: every one that can run */
	const char *const *cells; /* "key=value": only matching cells */
	unsigned cells_count;
	const char *const *faults; /* replace the scenario's schedule */
	unsigned faults_count;
	uint64_t seed;
	const char *filter;    /* T=, a glob on case names; NULL none */
	const char *work_root; /* where the files of host will lie; NULL: $TMPDIR or /var/tmp */
	bool in_guest; /* this machine is the guest: its target nvme is here, and what is not
			  selected was looked at outside */
	const char *program_path; /* in a guest: where the program of its case lies; NULL: as the
				     scenario says */
	const char *program; /* how swaptorture was called, for the repro line; NULL: its name */
	const char *repro_extra; /* more words for the repro line, quoted already; NULL none */
};

/* 0; -EINVAL with @diag: a path, scenario, cell or fault that cannot be; -ENOMEM. Nothing planned
 * is -EINVAL, too: an empty run must not look like a passed one. */
int plan_make(const struct plan_options *options, struct plan **ret_plan, struct diag *diag);
void plan_free(struct plan *plan);

#endif /* CASE_H */
