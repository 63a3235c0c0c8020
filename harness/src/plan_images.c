/* SPDX-License-Identifier: MIT */
/*
 * plan_images.c - faults of a later process of a case: there has to be such a process, and what is
 * done to the files outside of the library must not come before a loss of power. That is durable at
 * once, and nothing to take back may lie below it.
 */

#include "plan_builder.h"

/* The last process that a crash can end, from 1; 0: none. */
static unsigned last_crash(const struct schedule *schedule)
{
	unsigned last = 0;

	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_crashes(&schedule->faults[i]) && fault_image(&schedule->faults[i]) > last)
			last = fault_image(&schedule->faults[i]);
	return last;
}

static bool is_outside(enum step_kind kind)
{
	return kind == STEP_PREPARE || kind == STEP_TRUNCATE || kind == STEP_CORRUPT ||
	       kind == STEP_REMOVE || kind == STEP_COPY_VOLUME;
}

/* Of the first process scenario_check_steps.c has seen to it. */
static int check_steps(const struct test_case *test_case, const char *path, struct diag *diag)
{
	const struct workload *workload = &test_case->workload;
	unsigned last = last_crash(&test_case->schedule);

	for (unsigned i = 0; i < workload->steps_count; i++) {
		unsigned image = workload_image_of(workload, i) + 1;

		if (image > 1 && image <= last && is_outside(workload->steps[i].kind))
			return diag_set(diag, path, 0, 0,
					"faults: a crash with image=%u: step %u (%s) must stand "
					"behind the restart that follows it",
					last, i + 1, step_name(workload->steps[i].kind));
	}
	return 0;
}

int plan_images_check(const struct test_case *test_case, const char *path, struct diag *diag)
{
	unsigned images = workload_images(&test_case->workload);
	unsigned wanted = schedule_images(&test_case->schedule);

	if (wanted > images)
		return diag_set(diag, path, 0, 0,
				"faults: image=%u: the case has %u process%s (a step restart "
				"begins another)",
				wanted, images, images == 1 ? "" : "es");
	return check_steps(test_case, path, diag);
}
