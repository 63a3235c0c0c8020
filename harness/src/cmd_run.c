/* SPDX-License-Identifier: MIT */
/*
 * cmd_run.c - `swaptorture run`: plan, run, report.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli_plan.h"
#include "number.h"
#include "plan_internal.h"
#include "run.h"
#include "run_signal.h"

#define REPORTS_MAX 16
#define JOBS_MAX 256

enum run_option {
	RUN_TARGET,
	RUN_ACCEL,
	RUN_CASE,
	RUN_FAULT,
	RUN_FILTER,
	RUN_SEED,
	RUN_JOBS,
	RUN_REPORT,
	RUN_WORK_DIR,
	RUN_KEEP,
	RUN_UNDER,
	RUN_KERNEL,
};

static const struct cli_option options[] = {
	[RUN_TARGET] = {"target", 0, "TARGET",
			"sim, host or nvme; several with commas; default all"},
	[RUN_ACCEL] = {"accel", 0, "NAME", "accelerator: host"},
	[RUN_CASE] = {"case", 0, "KEY=VALUE",
		      "only cells of the matrix with this value; repeatable"},
	[RUN_FAULT] = {"fault", 0, "FAULT", "in place of the scenario's faults; repeatable"},
	[RUN_FILTER] = {"filter", 0, "GLOB", "only cases whose name fits: 'signal/*@sim'"},
	[RUN_SEED] = {"seed", 0, "NUMBER", "seed of every order that is drawn; default 1"},
	[RUN_JOBS] = {"jobs", 'j', "NUMBER", "cases at once; default: as the processors allow"},
	[RUN_REPORT] = {"report", 0, "FORMAT:FILE",
			"text, ndjson or tap; - is standard output; repeatable"},
	[RUN_WORK_DIR] = {"work-dir", 0, "DIR",
			  "where the swapped files lie; default $TMPDIR or /var/tmp"},
	[RUN_KEEP] = {"keep", 0, NULL, "keep the files of passed cases, too"},
	[RUN_UNDER] = {"under", 0, "TOOL", "run the cases under memcheck, helgrind, asan or tsan"},
	[RUN_KERNEL] = {"kernel", 0, "FILE",
			"a vmlinuz for the guests of nvme; default: the distribution's"},
	{0},
};

struct run {
	struct cli_plan plan;
	const struct plan *cases; /* what came of it */
	struct run_options options;
	struct cli_words specs;
	unsigned reports_count;
	struct report *reports[REPORTS_MAX + 1];
	int report_error; /* the first -errno of any report */
};

static int take_jobs(struct run *run, const char *text, struct diag *diag)
{
	uint64_t jobs;

	if (number_count(text, &jobs) < 0 || jobs < 1 || jobs > JOBS_MAX)
		return diag_set(diag, NULL, 0, 0, "--jobs '%s': must be a number, 1 to %d", text,
				JOBS_MAX);
	run->options.jobs = (unsigned)jobs;
	return 0;
}

static int take_under(struct run *run, const char *text, struct diag *diag)
{
	static const char *const tools[] = {"memcheck", "helgrind", "asan", "tsan"};

	run->options.under = text;
	for (unsigned i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (strcmp(text, tools[i]) == 0)
			return 0;
	return diag_set(diag, NULL, 0, 0, "--under '%s': must be memcheck, helgrind, asan or tsan",
			text);
}

static int take_accel(const char *text, struct diag *diag)
{
	if (strcmp(text, "host") == 0)
		return 0;
	return diag_set(diag, NULL, 0, 0, "--accel '%s': this version has host only", text);
}

static int take_option(struct run *run, struct cli_parser *parser, int option)
{
	const char *value = parser->value;
	struct diag *diag = &parser->diag;

	switch (option) {
	case RUN_TARGET:
		return cli_read_targets(value, &run->plan.options.targets, diag);
	case RUN_ACCEL:
		return take_accel(value, diag);
	case RUN_SEED:
		return cli_read_seed(value, &run->plan.options.seed, diag);
	case RUN_JOBS:
		return take_jobs(run, value, diag);
	case RUN_UNDER:
		return take_under(run, value, diag);
	case RUN_KERNEL:
		run->options.kernel = value;
		break;
	case RUN_CASE:
		cli_words_add(&run->plan.cells, value);
		break;
	case RUN_FAULT:
		cli_words_add(&run->plan.faults, value);
		break;
	case RUN_FILTER:
		run->plan.options.filter = value;
		break;
	case RUN_REPORT:
		cli_words_add(&run->specs, value);
		break;
	case RUN_WORK_DIR:
		run->options.work_root = value;
		run->plan.options.work_root = value;
		break;
	case RUN_KEEP:
		run->options.keep = true;
		break;
	default:
		cli_words_add(&run->plan.paths, value);
	}
	return 0;
}

static void add_option(FILE *stream, const char *name, const char *value)
{
	if (!value)
		return;
	fprintf(stream, "%s--%s ", ftell(stream) > 0 ? " " : "", name);
	plan_quote(stream, value);
}

/* Options that change how a case runs belong into its line; malloc'ed, NULL when there are none. */
static char *make_repro_extra(const struct run_options *run_options)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	add_option(stream, "under", run_options->under);
	add_option(stream, "work-dir", run_options->work_root);
	add_option(stream, "kernel", run_options->kernel);
	if (fclose(stream) == 0 && *text)
		return text;
	free(text);
	return NULL;
}

static int open_reports(struct run *run, struct diag *diag)
{
	bool stdout_taken = false;
	int result = 0;

	if (run->specs.count > REPORTS_MAX)
		return diag_set(diag, NULL, 0, 0, "--report: more than %d", REPORTS_MAX);
	for (unsigned i = 0; result == 0 && i < run->specs.count; i++) {
		struct report **report = &run->reports[run->reports_count];

		result = report_open(run->specs.words[i], report, diag);
		if (result < 0)
			return result;
		run->reports_count++;
		if (strcmp(report_path(*report), "-") != 0)
			continue;
		if (stdout_taken)
			return diag_set(diag, NULL, 0, 0,
					"--report: only one of them can be standard output");
		stdout_taken = true;
	}
	result = report_open_text(stdout_taken, &run->reports[run->reports_count], diag);
	run->reports_count += result == 0;
	return result;
}

static void keep_error(struct run *run, int result)
{
	if (result < 0 && !run->report_error)
		run->report_error = result;
}

static void on_result(const struct case_result *result, void *arg)
{
	struct run *run = arg;

	for (unsigned i = 0; i < run->reports_count; i++)
		keep_error(run, report_result(run->reports[i], result));
}

static void close_reports(struct run *run)
{
	for (unsigned i = 0; i < run->reports_count; i++) {
		char path[256];
		int error;

		snprintf(path, sizeof(path), "%s", report_path(run->reports[i]));
		error = report_close(run->reports[i]);
		if (error < 0)
			fprintf(stderr, "%s: report %s: %s\n", cli_program(), path,
				strerror(-error));
		keep_error(run, error);
	}
	run->reports_count = 0;
}

static int exit_status(const struct run *run, const struct report_summary *summary)
{
	const unsigned *counts = summary->counts;

	if (summary->interrupted)
		return CLI_EXIT_INTERRUPTED;
	if (counts[VERDICT_FAIL])
		return CLI_EXIT_FAILED;
	if (run->report_error)
		return CLI_EXIT_USAGE;
	if (counts[VERDICT_VACUOUS] || counts[VERDICT_BROKEN])
		return CLI_EXIT_UNSURE;
	return counts[VERDICT_PASS] ? CLI_EXIT_PASSED : CLI_EXIT_SKIPPED;
}

static void on_begin(void *arg)
{
	struct run *run = arg;

	for (unsigned i = 0; i < run->reports_count; i++)
		keep_error(run, report_begin(run->reports[i], run->cases));
}

static int run_cases(const struct cli_command *command, struct run *run, const struct plan *plan)
{
	const struct run_listener listener = {on_begin, on_result, run};
	struct report_summary summary = {0};
	struct diag diag = {0};
	int result;

	/* Who names a kernel wants guests as much as who names their target. */
	run->options.guest_is_a_must =
		run->plan.options.targets & 1u << TARGET_NVME || run->options.kernel;
	run->cases = plan;
	result = run_plan(plan, &run->options, &listener, &summary, &diag);
	if (result == 0)
		for (unsigned i = 0; i < run->reports_count; i++)
			keep_error(run, report_end(run->reports[i], &summary));
	close_reports(run);
	return result < 0 ? cli_refuse(command, &diag) : exit_status(run, &summary);
}

static int run_all(const struct cli_command *command, struct run *run)
{
	char *extra = make_repro_extra(&run->options);
	struct plan *plan = NULL;
	struct diag diag = {0};
	int status;

	run->plan.options.repro_extra = extra;
	if (cli_plan_make(&run->plan, &plan, &diag) < 0 || open_reports(run, &diag) < 0)
		status = cli_refuse(command, &diag);
	else
		status = run_cases(command, run, plan);
	close_reports(run);
	plan_free(plan);
	free(extra);
	return status;
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_parser parser;
	struct run run = {0};
	int option, status = CLI_EXIT_PASSED;

	run_signal_watch();
	cli_parser_init(&parser, command, argc, argv);
	cli_plan_init(&run.plan);
	while ((option = cli_next(&parser)) >= 0 || option == CLI_WORD)
		if (take_option(&run, &parser, option) < 0) {
			option = CLI_WRONG;
			break;
		}
	if (option == CLI_WRONG)
		status = cli_refuse(command, &parser.diag);
	else if (option == CLI_END)
		status = run_all(command, &run);
	cli_words_fini(&run.specs);
	cli_plan_fini(&run.plan);
	return status;
}

const struct cli_command cmd_run = {
	.name = "run",
	.words = "[PATH...]",
	.summary = "run scenarios, by default those that come with swaptorture",
	.options = options,
	.more = "PATH is a scenario or a directory of them; a directory named meta is entered\n"
		"only when it is named. What failed ends with a line that runs it again.\n",
	.run = command_run,
};
