/* SPDX-License-Identifier: MIT */
/*
 * plan_case.c - one case of a plan: a cell read as a scenario of its own, on one target.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_builder.h"

/* `--fault` stands in for the faults of the scenario, wherever they are written. */
static int replace_faults(const struct plan_options *options, struct test_case *test_case,
			  struct diag *diag)
{
	char *text = NULL;
	size_t bytes = 0;
	struct schedule_error error = {0};
	FILE *stream = open_memstream(&text, &bytes);
	int result;

	if (!stream)
		return -ENOMEM;
	for (unsigned i = 0; i < options->faults_count; i++)
		fprintf(stream, "%s\n", options->faults[i]);
	if (fclose(stream) != 0)
		return -ENOMEM;
	result = schedule_parse(text, &test_case->schedule, &error);
	if (result < 0 && error.line >= 1 && error.line <= options->faults_count)
		diag_set(diag, NULL, 0, 0, "--fault '%s': column %u: %s",
			 options->faults[error.line - 1], error.column, error.text);
	else if (result < 0)
		diag_set(diag, NULL, 0, 0, "--fault: %s", error.text);
	free(text);
	return result;
}

/* What was expected of the scenario's own faults says nothing about others: their effects do. A
 * scenario that errs without any fault goes on to expect that. */
static void forget_expectation(const struct scenario *cell, struct expectation *expect)
{
	bool errs_by_itself = !cell->schedule_text && expect->result != EXPECT_OK;

	if (errs_by_itself)
		return;
	*expect = (struct expectation){
		.data = expect->data,
		.deadline_ns = expect->deadline_ns,
		.program = expect->program,
	};
	expect->program.status = PROGRAM_STATUS_UNSET;
}

/* What a program leaves although it fails depends on why. */
static void forget_outputs(struct test_case *test_case)
{
	struct program_expectation *expect = &test_case->expect.program;

	for (unsigned i = 0; i < test_case->schedule.count; i++)
		if (fault_effect(&test_case->schedule.faults[i]) != EFFECT_TRANSPARENT)
			expect->texts_count = expect->outputs_count = 0;
}

/* What the device of a guest can be, but no step can use. */
static int check_namespace(const struct scenario *cell, const struct scenario_device *device,
			   struct diag *diag)
{
	const char *what = NULL;

	if (device->file_system != FILE_SYSTEM_EXT4)
		what = "file_system: none: steps work on files, and there are none on a bare "
		       "device";
	else if (device->read_only)
		what = "read_only: true: the file system is mounted for writing";
	if (!what)
		return 0;
	return diag_set(diag, cell->path, 0, 0,
			"device: %s (swaptorture guest plugs in what this says)", what);
}

int plan_refuse_faults(const struct plan_options *options, const struct scenario *cell,
		       const char *kind, const char *why, struct diag *diag)
{
	bool from_file = !options->faults_count;

	return diag_set(diag, from_file ? cell->path : NULL, 0, 0, "%s: %s: %s",
			from_file ? "faults" : "--fault", kind, why);
}

static int check_guest(const struct plan_options *options, const struct scenario *cell,
		       const struct test_case *test_case, struct diag *diag)
{
	int result = check_namespace(cell, &test_case->device, diag);

	if (result == 0)
		result = plan_power_check(options, cell, test_case, diag);
	return result < 0 ? result : plan_removal_check(options, cell, test_case, diag);
}

/* Neither a kernel nor the preload can do what a device does; in a guest there is one that can. */
static int check_device(const struct plan_options *options, const struct scenario *cell,
			const struct test_case *test_case, struct diag *diag)
{
	const struct fault *fault = schedule_find_device(&test_case->schedule);
	bool from_file = !options->faults_count;

	if (test_case->target == TARGET_NVME)
		return check_guest(options, cell, test_case, diag);
	if (!fault)
		return 0;
	return diag_set(diag, from_file ? cell->path : NULL, 0, 0,
			"%s: %s is a point of the device under a guest, and target %s has none "
			"(target nvme has)",
			from_file ? "faults" : "--fault", point_info(fault->point)->name,
			target_name(test_case->target));
}

static int set_schedule(const struct plan_options *options, const struct scenario *cell,
			struct test_case *test_case, struct diag *diag)
{
	struct schedule_error error = {0};
	int bytes;

	if (options->faults_count) {
		forget_expectation(cell, &test_case->expect);
		if (replace_faults(options, test_case, diag) < 0)
			return -EINVAL;
		forget_outputs(test_case);
	} else if (cell->schedule_text &&
		   schedule_parse(cell->schedule_text, &test_case->schedule, &error) < 0) {
		return diag_set(diag, cell->path, 0, 0, "faults: %s", error.text);
	}
	if (check_device(options, cell, test_case, diag) < 0)
		return -EINVAL;
	bytes = schedule_print(&test_case->schedule, NULL, 0);
	test_case->schedule_text = bytes < 0 ? NULL : calloc(1, (size_t)bytes + 1);
	if (!test_case->schedule_text)
		return -ENOMEM;
	schedule_print(&test_case->schedule, test_case->schedule_text, (size_t)bytes + 1);
	return 0;
}

static int set_program(const struct scenario *cell, struct test_case *test_case)
{
	if (!cell->program.argv.count)
		return 0;
	test_case->program = malloc(sizeof(*test_case->program));
	if (!test_case->program)
		return -ENOMEM;
	*test_case->program = cell->program;
	return 0;
}

static bool is_shown(const struct plan_options *options, const struct matrix_key *key)
{
	return !options->faults_count || strcmp(key->key, "faults") != 0;
}

static char *make_name(const struct plan_options *options, const struct scenario *scenario,
		       const unsigned *choice, enum target target)
{
	char base[DIAG_FILE_BYTES], *text = NULL;
	const char *before = "[";
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	plan_scenario_name(scenario->path, base, sizeof(base));
	fputs(base, stream);
	for (unsigned i = 0; i < scenario->matrix_count; i++) {
		const struct matrix_key *key = &scenario->matrix[i];

		if (!is_shown(options, key))
			continue;
		fprintf(stream, "%s%s=%s", before, key->key, key->values[choice[i]]);
		before = ",";
	}
	fprintf(stream, "%s@%s", before[0] == ',' ? "]" : "", target_name(target));
	return fclose(stream) == 0 ? text : NULL;
}

static void print_cell_options(FILE *stream, const struct plan_options *options,
			       const struct scenario *scenario, const unsigned *choice)
{
	for (unsigned i = 0; i < scenario->matrix_count; i++) {
		const struct matrix_key *key = &scenario->matrix[i];
		char word[sizeof(key->key) + sizeof(key->values[0]) + 1];

		if (!is_shown(options, key))
			continue;
		snprintf(word, sizeof(word), "%s=%s", key->key, key->values[choice[i]]);
		fputs(" --case ", stream);
		plan_quote(stream, word);
	}
	for (unsigned i = 0; i < options->faults_count; i++) {
		fputs(" --fault ", stream);
		plan_quote(stream, options->faults[i]);
	}
}

static char *make_repro(const struct plan_options *options, const struct scenario *scenario,
			const unsigned *choice, const struct test_case *test_case)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	plan_quote(stream, options->program ? options->program : "swaptorture");
	fputs(" run ", stream);
	plan_quote(stream, scenario->path);
	fprintf(stream, " --target %s", target_name(test_case->target));
	print_cell_options(stream, options, scenario, choice);
	fprintf(stream, " --seed %llu", (unsigned long long)test_case->seed);
	if (options->repro_extra)
		fprintf(stream, " %s", options->repro_extra);
	return fclose(stream) == 0 ? text : NULL;
}

int plan_case_init(const struct plan_options *options, const struct scenario *scenario,
		   const struct scenario *cell, const unsigned *choice, enum target target,
		   struct test_case *test_case, struct diag *diag)
{
	int result;

	/* Some compilers build a literal on the stack first, which this one is too large for. */
	memset(test_case, 0, sizeof(*test_case));
	test_case->scenario = scenario;
	memcpy(test_case->choice, choice, scenario->matrix_count * sizeof(*choice));
	test_case->target = target;
	test_case->seed = options->seed;
	test_case->workload = cell->workload;
	test_case->expect = cell->expect;
	test_case->device = cell->device;
	test_case->other_faults = options->faults_count;
	if (cell->checkpoint[0])
		test_case->checkpoint = strdup(cell->checkpoint);
	result = cell->checkpoint[0] && !test_case->checkpoint ? -ENOMEM
							       : set_program(cell, test_case);
	if (result == 0)
		result = set_schedule(options, cell, test_case, diag);
	if (result == 0)
		result = plan_images_check(test_case, cell->path, diag);
	if (result == 0) {
		test_case->name = make_name(options, scenario, choice, target);
		test_case->repro = make_repro(options, scenario, choice, test_case);
		result = test_case->name && test_case->repro ? 0 : -ENOMEM;
	}
	if (result < 0)
		plan_case_fini(test_case);
	return result;
}

void plan_case_fini(struct test_case *test_case)
{
	free(test_case->name);
	free(test_case->repro);
	free(test_case->schedule_text);
	free(test_case->checkpoint);
	free(test_case->program);
}
