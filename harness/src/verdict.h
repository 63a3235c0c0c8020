/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - from facts to a verdict: joins what was injected, what a correct program must then
 * do, and what the oracles found.
 *
 * Threads: one thread.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "oracle.h"

/* Fill @result->faults from the log. */
void verdict_count_faults(const struct test_case *test_case, struct eventlog *log,
			  struct case_result *result);
/* The `crash` or `kill` that took effect in process @image of the case, and ended it with wait
 * status @status; NULL: it ended otherwise. */
const struct fault *verdict_ended_by(const struct schedule *schedule,
				     const struct case_result *result, unsigned image, int status);
/* Does a fault of the device explain that the kernel complains of it? */
bool verdict_explains_kernel(const struct test_case *test_case, const struct case_result *result);
/* The findings are in @result; fill verdict, failure_class and reason. */
void verdict_decide(const struct test_case *test_case, const struct observation *seen,
		    struct case_result *result);

/* verdict_shortage.c: did the kernel itself say that the disk is full? The sentence in @why. */
bool verdict_ran_out_of_disk(const struct observation *seen, char *why, size_t why_bytes);

/* verdict_expect.c: does what happened agree with what the scenario and its faults' effects say? */
enum expectation_gap {
	GAP_NONE,
	GAP_UNEXPECTED, /* something failed that should not have, or failed otherwise */
	GAP_ABSENT,	/* nothing failed, and something should have */
};
enum expectation_gap verdict_compare(const struct test_case *test_case,
				     const struct observation *seen,
				     const struct case_result *result, char *why, size_t why_bytes);

#endif /* VERDICT_H */
