/* SPDX-License-Identifier: MIT */
/*
 * run_limits.c - fewer cases at once where descriptors, memory or disk space would run out. That
 * a single case has room was seen at planning.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "run_internal.h"

/* Event log and its mapping's own, outcome, both ends of the pause, a reader's pipe. */
#define JOB_DESCRIPTORS 6u
#define PROGRAM_DESCRIPTORS 2u /* what it prints */
/* The marks of work directories; a start of a fork server, files that are read or kept. */
#define PASSING_DESCRIPTORS 10u

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
	return count < FORKSERVERS_MAX ? count : FORKSERVERS_MAX;
}

static unsigned lanes_used(const struct plan *plan)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < plan->count; i++)
		seen |= 1u << plan->cases[i].target;
	return (unsigned)__builtin_popcount(seen);
}

static unsigned job_descriptors(const struct plan *plan)
{
	for (unsigned i = 0; i < plan->scenarios_count; i++)
		if (plan->scenarios[i]->program.argv.count)
			return JOB_DESCRIPTORS + PROGRAM_DESCRIPTORS;
	return JOB_DESCRIPTORS;
}

int run_limit_descriptors(struct run *run)
{
	unsigned lanes = lanes_used(run->plan), used = descriptors_in_use(), jobs;
	unsigned each = lanes * job_descriptors(run->plan);
	unsigned fixed = servers_needed(run->plan) + PASSING_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	if (used == UINT_MAX || used + fixed + each > limit.rlim_cur)
		return diag_set(run->diag, NULL, 0, 0,
				"RLIMIT_NOFILE (ulimit -n) is %llu: this run needs at least %u",
				(unsigned long long)limit.rlim_cur,
				(used == UINT_MAX ? 0 : used) + fixed + each);
	jobs = (unsigned)(limit.rlim_cur - used - fixed) / each;
	for (unsigned t = 0; t < TARGET_COUNT; t++)
		if (run->lanes[t].room > jobs)
			run->lanes[t].room = jobs;
	return 0;
}

/* What the tensors of the cases of a lane, or their files, take at once, at most. */
static uint64_t lane_bytes(const struct run *run, enum target target)
{
	uint64_t room = run->lanes[target].room * RUN_HEAVY_BYTES, largest = 0, sum = 0;

	for (unsigned i = 0; i < run->plan->count; i++) {
		const struct test_case *test_case = &run->plan->cases[i];
		uint64_t bytes = workload_file_bytes(&test_case->workload);

		if (test_case->target != target || test_case->skip_reason[0])
			continue;
		largest = bytes > largest ? bytes : largest;
		sum = sum > room ? sum : sum + bytes;
	}
	room = sum < room ? sum : room;
	return room > largest ? room : largest;
}

uint64_t run_files_in_memory(const struct run *run)
{
	return lane_bytes(run, TARGET_SIM);
}

/* Files of sim are memory, too. */
static bool has_room(const struct run *run, uint64_t memory_bytes, uint64_t disk_bytes)
{
	uint64_t host = lane_bytes(run, TARGET_HOST), sim = lane_bytes(run, TARGET_SIM);

	return host <= disk_bytes && host <= memory_bytes && sim <= (memory_bytes - host) / 2;
}

static bool halve(struct run *run)
{
	bool more = false;

	for (unsigned t = 0; t < TARGET_COUNT; t++) {
		more |= run->lanes[t].room > 1;
		run->lanes[t].room = (run->lanes[t].room + 1) / 2;
	}
	return more;
}

void run_limit_room(struct run *run, uint64_t memory_bytes, uint64_t disk_bytes)
{
	while (!has_room(run, memory_bytes, disk_bytes))
		if (!halve(run)) {
			run->jobs_limit = 1;
			return;
		}
}
