/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - checks that decide, from what happened, whether the contract held. They see what was
 * asked for and what came of it; that anything was injected they do not know, but for records that
 * the log marks: those are not the program's doing.
 *
 * Threads: one thread.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "eventlog.h"
#include "reader_look.h"
#include "result.h"
#include "run_outcome.h"

struct observation {
	const struct workload *workload;
	const struct outcome *outcome;
	const struct store_looks *looks; /* one for each verify, by another process */
	struct eventlog *log;
	uint64_t log_first;	 /* its first record of the process that ran last */
	uint64_t steps_returned; /* bit per step that put a device back */
	uint64_t steps_cut;   /* bit per step: its process was ended in it or before, as scheduled,
			       * and   the case went on in a fresh one */
	unsigned image;	      /* which process of the case ran last, from 1 */
	int status;	      /* its wait status */
	bool overdue;	      /* it was killed when its time was up */
	int64_t deadline_ns;  /* that it had */
	const char *story;    /* what it was doing then, "" unknown */
	const char *work_dir; /* where its files lie */
	const char *kernel_text; /* what the kernel said meanwhile, lines; NULL: nobody listened */
	bool emulated;		 /* under a tool: memory is not what the kernel says it is */
};

typedef void oracle_fn(const struct observation *seen, struct case_result *result);

oracle_fn oracle_data;	   /* whatever is said to have moved is there, byte by byte */
oracle_fn oracle_ledger;   /* every block submitted completes exactly once, and is explained */
oracle_fn oracle_blame;	   /* who is said to have failed is who got a failing completion */
oracle_fn oracle_contract; /* what the library says of a request is consistent with itself */
oracle_fn oracle_swap;	   /* the same of swaps of a store */
oracle_fn oracle_verify;   /* what it says of a whole store is what another process sees */
oracle_fn oracle_leaks;	   /* descriptors, threads, contexts and memory are as before */
oracle_fn oracle_kernel;   /* the kernel complained of nothing */
oracle_fn oracle_deadline; /* it ended in time, and by itself */

/* What the preload caught the program at: one record of type EVENTLOG_CHECK, as a finding. */
void oracle_check(const struct eventlog_record *record, struct case_result *result);

/* What a program left in @work_dir and in its standard output, against what it must leave. */
void oracle_outputs(const struct program_expectation *expect, const char *work_dir, int stdout_fd,
		    struct case_result *result);

/* Those that look at one process, of one that others of the case follow. */
void oracle_ask_process(const struct observation *seen, struct case_result *result);
/* All of them, when the case is over. */
void oracle_ask_all(const struct observation *seen, struct case_result *result);

#endif /* ORACLE_H */
