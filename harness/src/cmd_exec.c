/* SPDX-License-Identifier: MIT */
/*
 * cmd_exec.c - `swaptorture exec -- PROGRAM`: options of a stranger's run.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli_plan.h"
#include "exec.h"
#include "number.h"
#include "places.h"
#include "verdict.h"
#include "yaml_bytes.h"

#define SCHEDULE_FILE_BYTES 65535

enum exec_option {
	EXEC_FAULT,
	EXEC_SCHEDULE,
	EXEC_TARGET,
	EXEC_SEED,
	EXEC_PATH,
	EXEC_ARM,
	EXEC_FOLLOW,
	EXEC_UNDER,
	EXEC_DEADLINE,
	EXEC_EXPECT,
};

static const struct cli_option cli_options[] = {
	[EXEC_FAULT] = {"fault", 'f', "FAULT", "POINT#WHEN CONDITION => KIND; repeatable"},
	[EXEC_SCHEDULE] = {"schedule", 0, "FILE", "faults from a file, one a line"},
	[EXEC_TARGET] = {"target", 0, "TARGET", "host (default), or sim: the preload does the I/O"},
	[EXEC_SEED] = {"seed", 0, "NUMBER", "seed of every order that is drawn; default 1"},
	[EXEC_PATH] = {"path", 0, "DIR", "file points mean files below DIR; default: here"},
	[EXEC_ARM] = {"arm", 0, "WHEN", "start, or open: count from the first open below --path"},
	[EXEC_FOLLOW] = {"follow-exec", 0, NULL, "programs that it executes are meant, too"},
	[EXEC_UNDER] = {"under", 0, "TOOL", "under memcheck or helgrind"},
	[EXEC_DEADLINE] = {"deadline", 0, "TIME",
			   "kill it after that time: 30s; it is a hang then"},
	[EXEC_EXPECT] = {"expect", 0, "END", "success (default), or failure: it must notice"},
	{0},
};

struct request {
	struct exec_options options;
	struct schedule schedule;
	char *text; /* of the schedule, as given */
	char work_dir[PATH_MAX], preload[PATH_MAX], program[PATH_MAX], suppressions[PATH_MAX];
	char loader[PATH_MAX];
};

static int take_word(const char *name, const char *text, const char *first, const char *second,
		     bool *ret_second, struct diag *diag)
{
	*ret_second = strcmp(text, second) == 0;
	if (*ret_second || strcmp(text, first) == 0)
		return 0;
	return diag_set(diag, NULL, 0, 0, "--%s '%s': must be %s or %s", name, text, first, second);
}

static int take_target(struct exec_options *options, const char *text, struct diag *diag)
{
	bool sim;

	if (take_word("target", text, "host", "sim", &sim, diag) < 0)
		return -EINVAL;
	options->target = sim ? TARGET_SIM : TARGET_HOST;
	return 0;
}

static int take_under(struct exec_options *options, const char *text, struct diag *diag)
{
	bool helgrind;

	options->under = text;
	return take_word("under", text, "memcheck", "helgrind", &helgrind, diag);
}

static int take_expect(struct exec_options *options, const char *text, struct diag *diag)
{
	bool failure;

	if (take_word("expect", text, "success", "failure", &failure, diag) < 0)
		return -EINVAL;
	options->status = failure ? EXEC_STATUS_FAILURE : 0;
	return 0;
}

static int take_deadline(struct exec_options *options, const char *text, struct diag *diag)
{
	if (number_duration(text, &options->deadline_ns) == 0 && options->deadline_ns > 0)
		return 0;
	return diag_set(diag, NULL, 0, 0, "--deadline '%s': must be a duration such as 30s", text);
}

static int take_path(struct request *request, const char *text, struct diag *diag)
{
	if (!realpath(text, request->work_dir))
		return diag_set(diag, NULL, 0, 0, "--path '%s': %s", text, strerror(errno));
	request->options.work_dir = request->work_dir;
	request->options.arm_at_open = true;
	return 0;
}

/* Added as lines: one parse of all of them counts faults and finds doubles. */
static int add_text(struct request *request, const char *text, struct diag *diag)
{
	char *joined;

	if (asprintf(&joined, "%s%s\n", request->text ? request->text : "", text) < 0)
		return diag_set(diag, NULL, 0, 0, "out of memory");
	free(request->text);
	request->text = joined;
	return 0;
}

static int take_fault(struct request *request, const char *text, struct diag *diag)
{
	struct schedule_error error = {0};

	if (schedule_parse(text, &request->schedule, &error) < 0)
		return diag_set(diag, NULL, 0, 0, "--fault '%s': column %u: %s", text, error.column,
				error.text);
	return add_text(request, text, diag);
}

static int take_schedule(struct request *request, const char *path, struct diag *diag)
{
	struct schedule_error error = {0};
	size_t bytes;
	char *text;
	int result = yaml_bytes_read(path, SCHEDULE_FILE_BYTES, &text, &bytes, diag);

	if (result < 0)
		return result;
	if (strlen(text) != bytes)
		result = diag_set(diag, path, 0, 0, "holds a NUL byte: no text");
	else if (schedule_parse(text, &request->schedule, &error) < 0)
		result = diag_set(diag, path, error.line, error.column, "%s", error.text);
	else
		result = add_text(request, text, diag);
	free(text);
	return result;
}

static int take_option(struct request *request, struct cli_parser *parser, int option)
{
	struct exec_options *options = &request->options;
	const char *value = parser->value;
	struct diag *diag = &parser->diag;

	switch (option) {
	case EXEC_FAULT:
		return take_fault(request, value, diag);
	case EXEC_SCHEDULE:
		return take_schedule(request, value, diag);
	case EXEC_TARGET:
		return take_target(options, value, diag);
	case EXEC_SEED:
		return cli_read_seed(value, &options->seed, diag);
	case EXEC_PATH:
		return take_path(request, value, diag);
	case EXEC_ARM:
		return take_word("arm", value, "start", "open", &options->arm_at_open, diag);
	case EXEC_UNDER:
		return take_under(options, value, diag);
	case EXEC_DEADLINE:
		return take_deadline(options, value, diag);
	case EXEC_EXPECT:
		return take_expect(options, value, diag);
	default:
		options->follow_exec = true;
		return 0;
	}
}

/* The program is started by its loader, which valgrind follows, and told apart from the preload. */
static int prepare_under(struct request *request, struct diag *diag)
{
	struct exec_options *options = &request->options;
	int result = exec_find_loader(request->program, request->loader, sizeof(request->loader));

	if (result < 0)
		return diag_set(diag, request->program, 0, 0,
				"--under %s: must be a dynamically linked 64-bit program",
				options->under);
	options->loader = request->loader;
	result = places_library("swaptorture.supp", request->suppressions,
				sizeof(request->suppressions));
	if (result < 0)
		return diag_set(diag, request->suppressions, 0, 0, "%s", strerror(-result));
	options->suppressions = request->suppressions;
	return 0;
}

static int prepare(struct request *request, struct diag *diag)
{
	struct exec_options *options = &request->options;
	struct schedule_error error = {0};
	int result;

	memset(&request->schedule, 0, sizeof(request->schedule));
	if (request->text && schedule_parse(request->text, &request->schedule, &error) < 0)
		return diag_set(diag, NULL, 0, 0, "faults: %s", error.text);
	if (schedule_find_device(&request->schedule))
		return diag_set(diag, NULL, 0, 0,
				"faults: %s is a point of the device under a guest, which exec "
				"does not have (target nvme of run has)",
				point_info(schedule_find_device(&request->schedule)->point)->name);
	options->schedule = &request->schedule;
	result = places_library("libswapfault.so", request->preload, sizeof(request->preload));
	if (result < 0)
		return diag_set(diag, request->preload, 0, 0, "%s", strerror(-result));
	options->preload = request->preload;
	result = exec_find_program(options->argv[0], request->program, sizeof(request->program));
	if (result < 0)
		return diag_set(diag, options->argv[0], 0, 0, "%s", strerror(-result));
	options->program = request->program;
	return options->under ? prepare_under(request, diag) : 0;
}

static void note_waits(const struct eventlog_header *header, struct case_result *result)
{
	const char *name = header->waits_getevents && header->waits_pgetevents ? "both calls"
			   : header->waits_pgetevents			       ? "io_pgetevents"
			   : header->waits_getevents			       ? "io_getevents"
									       : "none";

	snprintf(result->wait_call, sizeof(result->wait_call), "%s", name);
}

static int exit_status(const struct exec_end *end, enum verdict verdict)
{
	if (end->interrupted)
		return CLI_EXIT_INTERRUPTED;
	if (verdict == VERDICT_PASS)
		return CLI_EXIT_PASSED;
	return verdict == VERDICT_FAIL ? CLI_EXIT_FAILED : CLI_EXIT_UNSURE;
}

static int run_logged(const struct cli_command *command, const struct exec_options *options, int fd,
		      struct eventlog *log)
{
	struct test_case *test_case = calloc(1, sizeof(*test_case));
	struct case_result *result = calloc(1, sizeof(*result));
	struct exec_end end = {0};
	struct diag diag;
	int status = CLI_EXIT_USAGE;

	if (!test_case || !result) {
		status = cli_refuse_text(command, "%s", strerror(ENOMEM));
	} else if (exec_run(options, fd, log, &end, &diag) < 0) {
		status = cli_refuse(command, &diag);
	} else {
		test_case->schedule = *options->schedule;
		verdict_count_faults(test_case, log, result);
		note_waits(eventlog_header(log), result);
		exec_judge(options, &end, log, result);
		exec_tell(options, &end, result, stderr);
		status = exit_status(&end, result->verdict);
	}
	free(test_case);
	free(result);
	return status;
}

static int run_program(const struct cli_command *command, const struct exec_options *options)
{
	int fd = memfd_create("swaptorture-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int result = fd < 0 ? -errno : eventlog_init(fd), status;
	struct eventlog *log = NULL;

	if (result == 0)
		result = eventlog_open(fd, &log);
	if (result < 0)
		status = cli_refuse_text(command, "event log: %s", strerror(-result));
	else
		status = run_logged(command, options, fd, log);
	if (log)
		eventlog_close(log);
	if (fd >= 0)
		close(fd);
	return status;
}

static int parse_and_run(const struct cli_command *command, int argc, char **argv,
			 struct request *request)
{
	struct cli_parser parser;
	int option;

	cli_parser_init(&parser, command, argc, argv);
	while ((option = cli_next(&parser)) >= 0)
		if (take_option(request, &parser, option) < 0)
			return cli_refuse(command, &parser.diag);
	if (option == CLI_WRONG)
		return cli_refuse(command, &parser.diag);
	if (option == CLI_HELP)
		return CLI_EXIT_PASSED;
	if (option == CLI_END)
		return cli_refuse_text(command, "the program is missing: -- PROGRAM [ARGUMENT...]");
	request->options.argv = argv + parser.next - 1;
	if (prepare(request, &parser.diag) < 0)
		return cli_refuse(command, &parser.diag);
	return run_program(command, &request->options);
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct request *request = calloc(1, sizeof(*request));
	int status;

	if (!request)
		return cli_refuse_text(command, "%s", strerror(ENOMEM));
	request->options.target = TARGET_HOST;
	request->options.seed = CLI_SEED_DEFAULT;
	status = parse_and_run(command, argc, argv, request);
	free(request->text);
	free(request);
	return status;
}

const struct cli_command cmd_exec = {
	.name = "exec",
	.words = "-- PROGRAM [ARGUMENT...]",
	.summary = "run any program under injected faults",
	.options = cli_options,
	.program = true,
	.more = "The program's own output is left alone; what became of the faults is told on\n"
		"standard error. Exit status: 0 every fault took effect and the program ended as\n"
		"expected, 1 it did not, 2 it could not be run, 3 a fault did not fire (vacuous)\n"
		"or the preload was not in place (broken), 130 interrupted.\n",
	.run = command_run,
};
