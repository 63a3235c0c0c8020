/* SPDX-License-Identifier: MIT */
/*
 * plan_select.h - which cells, targets and names the command line asks for.
 *
 * Threads: one thread.
 */
#ifndef PLAN_SELECT_H
#define PLAN_SELECT_H

#include "case.h"

/* "key=value" of --case: each must fit at least one of the scenarios; -EINVAL with @diag. */
int plan_select_check(const struct plan_options *options, struct scenario *const *scenarios,
		      unsigned scenarios_count, struct diag *diag);
/* Does the cell have every value that --case asks for? */
bool plan_select_cell(const struct plan_options *options, const struct scenario *scenario,
		      const unsigned *choice);
/* Targets to plan for @scenario, bit per target. */
unsigned plan_select_targets(const struct plan_options *options, const struct scenario *scenario);
bool plan_select_name(const struct plan_options *options, const char *name);

#endif /* PLAN_SELECT_H */
