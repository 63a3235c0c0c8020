/* SPDX-License-Identifier: MIT */
/*
 * plan_removal.c - a device that is pulled out while a case runs: what does not go with that.
 */
#include <errno.h>

#include "plan_builder.h"

static unsigned count_removals(const struct schedule *schedule)
{
	unsigned count = 0;

	for (unsigned i = 0; i < schedule->count; i++)
		count += fault_removes(&schedule->faults[i]);
	return count;
}

static bool ends_process(const struct schedule *schedule)
{
	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_ends_process(&schedule->faults[i]))
			return true;
	return false;
}

int plan_removal_check(const struct plan_options *options, const struct scenario *cell,
		       const struct test_case *test_case, struct diag *diag)
{
	const struct schedule *schedule = &test_case->schedule;
	const char *why = NULL;

	if (!schedule_find_removal(schedule))
		return 0;
	if (count_removals(schedule) > 1)
		why = "a device is pulled out once, and here are two of them";
	else if (ends_process(schedule))
		why = "goes with no fault that ends the process: the next one would begin on what "
		      "is gone";
	else if (cell->program.argv.count)
		why = "goes with swap: a program has no step device-return, and leaves nothing to "
		      "look at";
	else if (workload_images(&test_case->workload) > 1 &&
		 !workload_has_return(&test_case->workload))
		why = "the process behind the restart would begin on what is gone: a step "
		      "device-return before it is due";
	else if (test_case->workload.aftermath && !workload_has_return(&test_case->workload))
		why = "nothing puts the device back: a step device-return is due, or aftermath: "
		      "false";
	return why ? plan_refuse_faults(options, cell, "remove", why, diag) : 0;
}
