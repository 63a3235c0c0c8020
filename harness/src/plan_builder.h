/* SPDX-License-Identifier: MIT */
/*
 * plan_builder.h - making and ending a single case of a plan.
 *
 * Threads: one thread.
 */
#ifndef PLAN_BUILDER_H
#define PLAN_BUILDER_H

#include "matrix.h"
#include "plan_internal.h"

/* @cell: the scenario with the values of @choice applied. On failure nothing is kept. */
int plan_case_init(const struct plan_options *options, const struct scenario *scenario,
		   const struct scenario *cell, const unsigned *choice, enum target target,
		   struct test_case *test_case, struct diag *diag);
/* plan_images.c: do the faults fit the processes of the case? 0; -EINVAL. */
int plan_images_check(const struct test_case *test_case, const char *path, struct diag *diag);
/* plan_case.c: the faults of the case do not go with the rest of it: -EINVAL, with @diag saying
 * where they come from, of what kind they are, and @why. */
int plan_refuse_faults(const struct plan_options *options, const struct scenario *cell,
		       const char *kind, const char *why, struct diag *diag);
/* plan_removal.c: does a device that is pulled out fit the rest of the case? 0; -EINVAL. */
int plan_removal_check(const struct plan_options *options, const struct scenario *cell,
		       const struct test_case *test_case, struct diag *diag);
/* plan_power.c: would somebody see what is left where the power is cut? 0; -EINVAL. */
int plan_power_check(const struct plan_options *options, const struct scenario *cell,
		     const struct test_case *test_case, struct diag *diag);
void plan_case_fini(struct test_case *test_case);

#endif /* PLAN_BUILDER_H */
