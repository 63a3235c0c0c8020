/* SPDX-License-Identifier: MIT */
/*
 * cli_plan.h - what `run` and `list` have in common: choosing scenarios, targets and cells.
 *
 * Threads: one thread.
 */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "case.h"
#include "cli.h"

struct cli_plan {
	struct cli_words paths, cells, faults;
	struct plan_options options;
	char scenarios[4096]; /* the default path */
};

#define CLI_SEED_DEFAULT 1

/* Numbers and names as options give them: 0, or -EINVAL with @diag. */
int cli_read_seed(const char *text, uint64_t *ret_seed, struct diag *diag);
int cli_read_targets(const char *text, unsigned *targets, struct diag *diag);

void cli_plan_init(struct cli_plan *plan);
void cli_plan_fini(struct cli_plan *plan);
/* Plan what was chosen, by default the scenarios that come with us. */
int cli_plan_make(struct cli_plan *plan, struct plan **ret_plan, struct diag *diag);

#endif /* CLI_PLAN_H */
