/* SPDX-License-Identifier: MIT */
/*
 * cmd_list.c - `swaptorture list`: what would run?
 */
#include <errno.h>
#include <stdlib.h>

#include "cli_plan.h"
#include "plan_internal.h"
#include "plural.h"
#include "presets.h"

enum list_option {
	LIST_TARGET,
	LIST_CASE,
	LIST_FAULT,
	LIST_FILTER,
	LIST_SEED,
	LIST_CASES,
	LIST_REPRO,
	LIST_PRESETS
};

static const struct cli_option options[] = {
	[LIST_TARGET] = {"target", 0, "TARGET",
			 "sim, host or nvme; several with commas; default all"},
	[LIST_CASE] = {"case", 0, "KEY=VALUE",
		       "only cells of the matrix with this value; repeatable"},
	[LIST_FAULT] = {"fault", 0, "FAULT", "in place of the scenario's faults; repeatable"},
	[LIST_FILTER] = {"filter", 0, "GLOB", "only cases whose name fits: 'signal/*@sim'"},
	[LIST_SEED] = {"seed", 0, "NUMBER", "seed of every order that is drawn; default 1"},
	[LIST_CASES] = {"cases", 'c', NULL, "every case instead of every scenario"},
	[LIST_REPRO] = {"repro", 0, NULL, "with --cases, the command line of each"},
	[LIST_PRESETS] = {"presets", 0, NULL, "the optimizer states that tensors can be, instead"},
	{0},
};

struct list {
	struct cli_plan plan;
	bool cases, repro, presets;
};

static int take_option(struct list *list, struct cli_parser *parser, int option)
{
	switch (option) {
	case LIST_TARGET:
		return cli_read_targets(parser->value, &list->plan.options.targets, &parser->diag);
	case LIST_SEED:
		return cli_read_seed(parser->value, &list->plan.options.seed, &parser->diag);
	case LIST_CASE:
		cli_words_add(&list->plan.cells, parser->value);
		return 0;
	case LIST_FAULT:
		cli_words_add(&list->plan.faults, parser->value);
		return 0;
	case LIST_FILTER:
		list->plan.options.filter = parser->value;
		return 0;
	case LIST_CASES:
		list->cases = true;
		return 0;
	case LIST_REPRO:
		list->repro = true;
		return 0;
	case LIST_PRESETS:
		list->presets = true;
		return 0;
	default:
		cli_words_add(&list->plan.paths, parser->value);
		return 0;
	}
}

static void print_cases(const struct plan *plan, bool repro)
{
	for (unsigned i = 0; i < plan->count; i++) {
		const struct test_case *test_case = &plan->cases[i];

		printf("%s", repro ? test_case->repro : test_case->name);
		if (test_case->skip_reason[0])
			printf("  # skip: %s", test_case->skip_reason);
		putchar('\n');
	}
}

static unsigned count_cases(const struct plan *plan, const struct scenario *scenario)
{
	unsigned count = 0;

	for (unsigned i = 0; i < plan->count; i++)
		count += plan->cases[i].scenario == scenario;
	return count;
}

static void print_scenarios(const struct plan *plan)
{
	unsigned shown = 0;

	for (unsigned i = 0; i < plan->scenarios_count; i++) {
		const struct scenario *scenario = plan->scenarios[i];
		unsigned count = count_cases(plan, scenario);
		char name[DIAG_FILE_BYTES];

		if (!count)
			continue;
		shown++;
		plan_scenario_name(scenario->path, name, sizeof(name));
		printf("%-52s %4u  %s\n", name, count, scenario->title);
	}
	printf("%u scenario%s, %u case%s\n", shown, plural(shown), plan->count,
	       plural(plan->count));
}

static int list_plan(const struct cli_command *command, struct list *list)
{
	struct plan *plan;
	struct diag diag;

	if (list->presets) {
		presets_print(stdout);
		return CLI_EXIT_PASSED;
	}
	if (cli_plan_make(&list->plan, &plan, &diag) < 0)
		return cli_refuse(command, &diag);
	if (list->cases || list->repro)
		print_cases(plan, list->repro);
	else
		print_scenarios(plan);
	plan_free(plan);
	return CLI_EXIT_PASSED;
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_parser parser;
	struct list list = {0};
	int option, status = CLI_EXIT_PASSED;

	cli_parser_init(&parser, command, argc, argv);
	cli_plan_init(&list.plan);
	while ((option = cli_next(&parser)) >= 0 || option == CLI_WORD)
		if (take_option(&list, &parser, option) < 0) {
			option = CLI_WRONG;
			break;
		}
	if (option == CLI_WRONG)
		status = cli_refuse(command, &parser.diag);
	else if (option == CLI_END)
		status = list_plan(command, &list);
	cli_plan_fini(&list.plan);
	return status;
}

const struct cli_command cmd_list = {
	.name = "list",
	.words = "[PATH...]",
	.summary = "list scenarios, or the cases they unfold to",
	.options = options,
	.run = command_run,
};
