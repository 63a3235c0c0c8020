/* SPDX-License-Identifier: MIT */
/*
 * cli_plan.c - options that choose what to run, and the default paths.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli_plan.h"
#include "nearest.h"
#include "number.h"
#include "places.h"

int cli_read_seed(const char *text, uint64_t *ret_seed, struct diag *diag)
{
	uint64_t seed;

	if (number_count(text, &seed) < 0 || seed > INT64_MAX)
		return diag_set(diag, NULL, 0, 0, "--seed '%s': must be a number, 0 to %lld", text,
				(long long)INT64_MAX);
	*ret_seed = seed;
	return 0;
}

/* One name or several with commas between them; adds to @targets. */
int cli_read_targets(const char *text, unsigned *targets, struct diag *diag)
{
	char copy[64], *rest = copy, *word;
	struct nearest nearest;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, ",")) != NULL) {
		unsigned target = 0;

		nearest_init(&nearest, word);
		while (target < TARGET_COUNT && strcmp(word, target_name((enum target)target)) != 0)
			nearest_offer(&nearest, target_name((enum target)target++));
		if (target == TARGET_COUNT)
			return diag_set(diag, NULL, 0, 0,
					"--target '%s'%s%s%s: must be sim, host or nvme", word,
					nearest.best ? ", did you mean '" : "",
					nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
		*targets |= 1u << target;
	}
	return 0;
}

void cli_plan_init(struct cli_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->options.seed = CLI_SEED_DEFAULT;
	plan->options.program = cli_program();
}

void cli_plan_fini(struct cli_plan *plan)
{
	cli_words_fini(&plan->paths);
	cli_words_fini(&plan->cells);
	cli_words_fini(&plan->faults);
}

int cli_plan_make(struct cli_plan *plan, struct plan **ret_plan, struct diag *diag)
{
	if (!plan->paths.count) {
		if (places_scenarios(plan->scenarios, sizeof(plan->scenarios)) < 0)
			return diag_set(
				diag, NULL, 0, 0,
				"no directory scenarios here or beside the program: name one");
		cli_words_add(&plan->paths, plan->scenarios);
	}
	plan->options.paths = plan->paths.words;
	plan->options.paths_count = plan->paths.count;
	plan->options.cells = plan->cells.words;
	plan->options.cells_count = plan->cells.count;
	plan->options.faults = plan->faults.words;
	plan->options.faults_count = plan->faults.count;
	return plan_make(&plan->options, ret_plan, diag);
}
