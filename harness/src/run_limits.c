/* SPDX-License-Identifier: MIT */
/*
 * run_limits.c - fewer cases at once where descriptors would run out.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "run_internal.h"

/* Event log and its mapping's own, outcome, both ends of the pause, a reader's pipe. */
#define JOB_DESCRIPTORS 6u
#define PASSING_DESCRIPTORS 8u /* a start of a fork server, files that are read or kept */

/* The lowest number that is free: what lies below is in use. */
static unsigned descriptors_in_use(void)
{
	int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	if (lowest < 0)
		return UINT_MAX;
	close(lowest);
	return (unsigned)lowest;
}

static unsigned servers_needed(const struct plan *plan)
{
	unsigned count = 1;

	for (unsigned i = 0; i < plan->scenarios_count; i++)
		count += plan->scenarios[i]->core[0] != '\0';
	return count < RUN_SERVERS_MAX ? count : RUN_SERVERS_MAX;
}

static unsigned lanes_used(const struct plan *plan)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < plan->count; i++)
		seen |= 1u << plan->cases[i].target;
	return (unsigned)__builtin_popcount(seen);
}

int run_limit_descriptors(struct run *run)
{
	unsigned lanes = lanes_used(run->plan), used = descriptors_in_use(), jobs;
	unsigned fixed = servers_needed(run->plan) + PASSING_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	if (used == UINT_MAX || used + fixed + lanes * JOB_DESCRIPTORS > limit.rlim_cur)
		return diag_set(run->diag, NULL, 0, 0,
				"RLIMIT_NOFILE (ulimit -n) is %llu: this run needs at least %u",
				(unsigned long long)limit.rlim_cur,
				(used == UINT_MAX ? 0 : used) + fixed + lanes * JOB_DESCRIPTORS);
	jobs = (unsigned)(limit.rlim_cur - used - fixed) / (lanes * JOB_DESCRIPTORS);
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		if (run->lanes[t].room > jobs)
			run->lanes[t].room = jobs;
	return 0;
}
