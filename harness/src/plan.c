/* SPDX-License-Identifier: MIT */
/*
 * plan.c - from paths and options to the list of cases: everything that can be wrong with a
 * scenario is found here, before anything runs.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"
#include "guest_program.h"
#include "places.h"
#include "plan_builder.h"
#include "plan_room.h"
#include "plan_select.h"

#define CASES_MAX 100000u

struct builder {
	const struct plan_options *options;
	struct plan *plan;
	struct diag *diag;
	struct scenario *cell; /* scratch: the scenario with a cell applied */
	struct plan_room machine;
	unsigned room;
};

static int no_memory(struct builder *builder)
{
	diag_set(builder->diag, NULL, 0, 0, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

static int load_all(struct builder *builder, const struct plan_files *files)
{
	struct plan *plan = builder->plan;

	plan->scenarios = calloc(files->count ? files->count : 1, sizeof(*plan->scenarios));
	if (!plan->scenarios)
		return no_memory(builder);
	for (unsigned i = 0; i < files->count; i++) {
		int result = scenario_load(files->paths[i], &plan->scenarios[i], builder->diag);

		if (result < 0)
			return result;
		plan->scenarios_count++;
	}
	return 0;
}

static const char *work_root_of(const struct plan_options *options)
{
	return options->work_root ? options->work_root : places_temporary();
}

/* Why no case of the scenario can run on the target: "" when it can. */
static void find_skip_reason(const struct plan_options *options, const struct scenario *scenario,
			     enum target target, char *reason, size_t reason_bytes)
{
	const char *work_root = work_root_of(options);
	bool outside = target == TARGET_NVME && !options->in_guest;

	reason[0] = '\0';
	/* What a guest has of the scenario's needs is seen there; but programs are taken along. */
	for (unsigned i = 0; i < scenario->needs_count; i++)
		if ((!outside || plan_need_program(scenario->needs[i])) &&
		    plan_need_check(scenario->needs[i], target, work_root, reason, reason_bytes))
			return;
	reason[0] = '\0';
}

static struct test_case *next_case(struct builder *builder)
{
	struct plan *plan = builder->plan;
	unsigned room = builder->room ? 2 * builder->room : 64;
	struct test_case *grown;

	if (plan->count < builder->room)
		return &plan->cases[plan->count];
	grown = realloc(plan->cases, room * sizeof(*grown));
	if (!grown)
		return NULL;
	plan->cases = grown;
	builder->room = room;
	return &plan->cases[plan->count];
}

/* Where the machine may lack it, the scenario says so under `needs`, and is skipped. */
static int check_program(struct builder *builder, const struct scenario *cell)
{
	const char *moved = builder->options->program_path;
	const char *name = moved ? moved : cell->program.argv.text;
	char path[PATH_MAX];
	int result = cell->program.argv.count ? exec_find_program(name, path, sizeof(path)) : 0;

	if (result == 0)
		return 0;
	return diag_set(builder->diag, cell->path, cell->program.line, cell->program.column,
			"argv: program '%s': %s", name, strerror(-result));
}

static int add_case(struct builder *builder, const struct scenario *scenario,
		    const unsigned *choice, enum target target, const char *skip_reason)
{
	struct test_case *test_case = next_case(builder);
	int result;

	if (!test_case)
		return no_memory(builder);
	if (!skip_reason[0] && check_program(builder, builder->cell) < 0)
		return -EINVAL;
	if (builder->plan->count == CASES_MAX)
		return diag_set(builder->diag, NULL, 0, 0, "more than %u cases", CASES_MAX);
	result = plan_case_init(builder->options, scenario, builder->cell, choice, target,
				test_case, builder->diag);
	if (result < 0)
		return result;
	if (!plan_select_name(builder->options, test_case->name)) {
		plan_case_fini(test_case);
		return 0;
	}
	memcpy(test_case->skip_reason, skip_reason, sizeof(test_case->skip_reason));
	/* How much room a guest has is seen there. */
	if (!skip_reason[0] && (target != TARGET_NVME || builder->options->in_guest))
		plan_room_check(&builder->machine, &test_case->workload, target,
				test_case->skip_reason, sizeof(test_case->skip_reason));
	if (target == TARGET_NVME && !builder->options->in_guest && test_case->program &&
	    !skip_reason[0])
		guest_program_check(scenario, test_case->program, test_case->skip_reason);
	test_case->index = builder->plan->count++;
	return 0;
}

static int add_cell(struct builder *builder, const struct scenario *scenario,
		    const unsigned *choice, unsigned targets, char skip_reasons[TARGET_COUNT][128])
{
	int result = 0;

	builder->cell = calloc(1, sizeof(*builder->cell));
	if (!builder->cell)
		return no_memory(builder);
	result = matrix_decode(scenario, choice, builder->cell, builder->diag);
	for (unsigned target = 0; result == 0 && target < TARGET_COUNT; target++)
		if (targets & (1u << target))
			result = add_case(builder, scenario, choice, (enum target)target,
					  skip_reasons[target]);
	scenario_free(builder->cell);
	return result;
}

static int add_scenario(struct builder *builder, const struct scenario *scenario)
{
	unsigned targets = plan_select_targets(builder->options, scenario);
	unsigned choice[SCENARIO_MATRIX_KEYS_MAX];
	char skip_reasons[TARGET_COUNT][128] = {{0}};
	int result = 0;

	for (unsigned target = 0; target < TARGET_COUNT; target++)
		if (targets & (1u << target))
			find_skip_reason(builder->options, scenario, (enum target)target,
					 skip_reasons[target], sizeof(skip_reasons[target]));
	for (unsigned i = 0; result == 0 && i < matrix_cells(scenario); i++) {
		matrix_cell(scenario, i, choice);
		if (plan_select_cell(builder->options, scenario, choice))
			result = add_cell(builder, scenario, choice, targets, skip_reasons);
		else if (!builder->options->in_guest) /* also what is not selected must be right */
			result = add_cell(builder, scenario, choice, 0, skip_reasons);
	}
	return result;
}

static int build(struct builder *builder)
{
	const struct plan_options *options = builder->options;
	struct plan *plan = builder->plan;
	struct plan_files files = {0};
	int result = plan_files_find(options->paths, options->paths_count, &files, builder->diag);

	if (result == 0)
		result = load_all(builder, &files);
	plan_files_fini(&files);
	if (result == 0)
		result = plan_select_check(options, plan->scenarios, plan->scenarios_count,
					   builder->diag);
	for (unsigned i = 0; result == 0 && i < plan->scenarios_count; i++)
		result = add_scenario(builder, plan->scenarios[i]);
	if (result == 0 && plan->count == 0)
		return diag_set(builder->diag, NULL, 0, 0,
				"no case is left: none of the %u scenarios fits --target, --case "
				"and --filter together",
				plan->scenarios_count);
	return result;
}

int plan_make(const struct plan_options *options, struct plan **ret_plan, struct diag *diag)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	struct builder builder = {.options = options, .plan = plan, .diag = diag};
	int result;

	if (!plan)
		return no_memory(&builder);
	plan->seed = options->seed;
	plan_room_measure(&builder.machine, work_root_of(options));
	result = build(&builder);
	if (result < 0)
		plan_free(plan);
	else
		*ret_plan = plan;
	return result;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (unsigned i = 0; i < plan->count; i++)
		plan_case_fini(&plan->cases[i]);
	for (unsigned i = 0; i < plan->scenarios_count; i++)
		scenario_free(plan->scenarios[i]);
	free(plan->scenarios);
	free(plan->cases);
	free(plan);
}
