/* SPDX-License-Identifier: MIT */
/*
 * run_share.c - which cases may be served by a process that had others before. Those that end, stop
 * or change their process may not: in a new one they cannot meet what others left.
 */
#include "run_job.h"

static bool is_of_process(const struct fault *fault)
{
	return fault_ends_process(fault) || fault->kind == KIND_io_getevents_stop ||
	       fault->kind == KIND_io_getevents_attach || fault->kind == KIND_io_pgetevents_missing;
}

static bool is_limited(const struct limits *limits)
{
	return limits->memlock_bytes != UINT64_MAX || limits->nofile != UINT64_MAX ||
	       limits->fsize_bytes != UINT64_MAX || limits->address_space_bytes != UINT64_MAX;
}

bool job_case_shares(const struct test_case *test_case)
{
	const struct workload *workload = &test_case->workload;

	if (test_case->target != TARGET_SIM || test_case->scenario->core[0] ||
	    is_limited(&workload->limits))
		return false;
	for (unsigned i = 0; i < workload->steps_count; i++)
		if (workload->steps[i].kind == STEP_FORK || workload->steps[i].kind == STEP_RESTART)
			return false;
	for (unsigned i = 0; i < test_case->schedule.count; i++)
		if (is_of_process(&test_case->schedule.faults[i]))
			return false;
	return true;
}
