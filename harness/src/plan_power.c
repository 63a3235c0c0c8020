/* SPDX-License-Identifier: MIT */
/*
 * plan_power.c - the power of a device is cut while a case runs: where nobody would see what is
 * left, that is refused.
 */
#include <errno.h>

#include "plan_builder.h"

static bool verifies_before_restart(const struct workload *workload)
{
	for (unsigned i = 0; i < workload_image(workload, 0).end; i++)
		if (workload->steps[i].kind == STEP_VERIFY)
			return true;
	return false;
}

int plan_power_check(const struct plan_options *options, const struct scenario *cell,
		     const struct test_case *test_case, struct diag *diag)
{
	const struct workload *workload = &test_case->workload;
	const char *why = NULL;

	if (!schedule_cuts_power(&test_case->schedule))
		return 0;
	if (cell->program.argv.count)
		why = "goes with swap: a program has no second process to read what is left";
	else if (workload_images(workload) < 2)
		why = "nobody reads what is left: no step restart follows";
	else if (!workload_is_durable(workload))
		why = "nothing is promised: the store is opened with durable: false";
	else if (verifies_before_restart(workload))
		why = "a step verify must stand behind the restart: what another process saw of "
		      "it is lost with the guest";
	return why ? plan_refuse_faults(options, cell, "powercut", why, diag) : 0;
}
