/* SPDX-License-Identifier: MIT */
/*
 * run_program.c - a case whose scenario names a program: started from here instead of by a fork
 * server, with its words kept; judged by how it ended and by what it left.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec.h"
#include "kernel_log.h"
#include "run_job.h"
#include "verdict.h"

struct command { /* malloc'ed, with every brace replaced */
	char **argv, **env;
	char directory[PATH_MAX], program[PATH_MAX];
};

static void free_words(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}

static char **make_words(const struct program_words *words, const struct program_names *names)
{
	char **list = calloc(words->count + 1, sizeof(*list));
	const char *word = NULL;

	for (unsigned i = 0; list && i < words->count; i++) {
		word = program_words_next(words, word);
		list[i] = program_words_expand(word, names);
		if (!list[i]) {
			free_words(list);
			return NULL;
		}
	}
	return list;
}

static void command_fini(struct command *command)
{
	free_words(command->argv);
	free_words(command->env);
}

/* It runs elsewhere: a path from here must not change its meaning. */
static int find_program(struct command *command, const char *name)
{
	char found[PATH_MAX], here[PATH_MAX];
	int result = exec_find_program(name, found, sizeof(found));

	if (result < 0)
		return result;
	if (found[0] != '/' && !getcwd(here, sizeof(here)))
		return -errno;
	if (snprintf(command->program, sizeof(command->program), "%s%s%s",
		     found[0] == '/' ? "" : here, found[0] == '/' ? "" : "/",
		     found) >= (int)sizeof(command->program))
		return -ENAMETOOLONG;
	return 0;
}

/* As the scenario calls it, or where it lies in a guest. */
static const char *name_of(const struct job *job)
{
	const char *moved = job->options->program_path;

	return moved ? moved : job->test_case->program->argv.text;
}

static int command_make(struct command *command, const struct job *job)
{
	const struct program *program = job->test_case->program;
	struct program_names names = {command->directory, job->test_case->seed};
	int result;

	*command = (struct command){0};
	if (!realpath(job->work_dir, command->directory))
		return -errno;
	command->argv = make_words(&program->argv, &names);
	command->env = make_words(&program->env, &names);
	result = command->argv && command->env ? find_program(command, name_of(job)) : -ENOMEM;
	if (result < 0)
		command_fini(command);
	return result;
}

/* What a correct program ends with, from the scenario or from the effects of the faults. */
static int status_wanted(const struct test_case *test_case)
{
	const struct expectation *expect = &test_case->expect;

	if (expect->program.status != PROGRAM_STATUS_UNSET)
		return (int)expect->program.status;
	if (expect->result != EXPECT_FROM_EFFECT)
		return expect->result == EXPECT_OK ? 0 : EXEC_STATUS_FAILURE;
	for (unsigned i = 0; i < test_case->schedule.count; i++)
		if (fault_effect(&test_case->schedule.faults[i]) != EFFECT_TRANSPARENT)
			return EXEC_STATUS_FAILURE;
	return 0;
}

static struct exec_options options_of(const struct test_case *test_case)
{
	return (struct exec_options){
		.schedule = &test_case->schedule,
		.target = test_case->target,
		.seed = test_case->seed,
		.arm_at_open = !test_case->program->arm_at_start,
		.follow_exec = test_case->program->follow_exec,
		.deadline_ns = test_case->expect.deadline_ns,
		.sim_deadline_ns = (uint64_t)test_case->expect.deadline_ns,
		.sector_bytes = test_case->device.sector_bytes,
		.memory_align_bytes = test_case->device.memory_align_bytes,
		.status = status_wanted(test_case),
	};
}

static int start(struct job *job, const struct command *command, const char *preload,
		 const sigset_t *mask)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), result;
	const int stdio[3] = {nothing, job->stdout_fd, job->stderr_fd};
	struct exec_options options = options_of(job->test_case);
	pid_t pid;

	if (nothing < 0)
		return -errno;
	options.work_dir = options.directory = command->directory;
	options.stdio = stdio;
	options.env = command->env;
	options.argv = command->argv;
	options.program = command->program;
	options.preload = preload;
	result = exec_start(&options, mask, job->log_fd, &pid);
	close(nothing);
	if (result == 0)
		job_started(job, pid);
	return result;
}

/* The device of a guest counts what the program does: what was made for it is written by then, and
 * read from there again. */
static int arm_device(struct job *job)
{
	int error;

	if (!job->options->device)
		return 0;
	error = work_dir_sync(job->work_dir);
	if (error == 0)
		error = program_drop_inputs(job->test_case->program, job->work_dir);
	if (error == 0)
		job_switch_device(job, true);
	return error;
}

int job_start_program(struct job *job, const struct test_case *test_case, const char *preload,
		      unsigned patience, const sigset_t *mask)
{
	const struct program *program = test_case->program;
	struct command command;
	int result;

	job_dismiss(job);
	result = job_reset(job, test_case);
	job->server = NULL;
	job->id = 0;
	job->may_stay = job->again = false;
	job->patience = patience;
	job->began_ns = job_now_ns();
	if (job->options->kernel_log)
		kernel_log_begin(job->options->kernel_log);
	job->stdout_fd = memfd_create("stdout", MFD_CLOEXEC);
	job->stderr_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (result == 0 && (job->stdout_fd < 0 || job->stderr_fd < 0))
		result = -errno;
	if (result == 0)
		result = program_make_inputs(program, job->work_dir, test_case->seed);
	if (result == 0)
		result = command_make(&command, job);
	if (result == 0) {
		result = arm_device(job);
		if (result == 0)
			result = start(job, &command, preload, mask);
		command_fini(&command);
	}
	if (result < 0) {
		job_disarm_device(job);
		job_end_program(job);
	}
	return result;
}

/* Nobody but us tells when it has ended. */
void job_poll_program(struct job *job)
{
	int status;

	if (job_is_program(job) && job->state == JOB_RUNNING &&
	    waitpid(job->pid, &status, WNOHANG) == job->pid)
		job_ended(job, status);
}

void job_end_program(struct job *job)
{
	if (job->pid > 0 && !job->ended && job_is_program(job))
		waitpid(job->pid, NULL, 0); /* it was killed */
	if (job->stdout_fd >= 0)
		close(job->stdout_fd);
	if (job->stderr_fd >= 0)
		close(job->stderr_fd);
	job->stdout_fd = job->stderr_fd = -1;
	job->state = JOB_IDLE;
}

static bool ended_as_it_must(const struct exec_options *options, int status)
{
	if (!WIFEXITED(status))
		return false;
	return options->status == EXEC_STATUS_FAILURE ? WEXITSTATUS(status) != 0
						      : WEXITSTATUS(status) == options->status;
}

/* What an end leaves has to be read by somebody. */
static void doubt_unread(const struct test_case *test_case, const struct fault *fault,
			 struct case_result *result)
{
	if (!fault || result->verdict != VERDICT_PASS || test_case->expect.program.outputs_count)
		return;
	result->verdict = VERDICT_VACUOUS;
	snprintf(result->reason, sizeof(result->reason),
		 "%s as scheduled, and no expected file is read afterwards",
		 fault_crashes(fault) ? "the power was cut" : "the process was killed");
}

void job_judge_program(struct job *job)
{
	const struct test_case *test_case = job->test_case;
	struct exec_options options = options_of(test_case);
	struct case_result *result = &job->result;
	char *argv[] = {(char *)(uintptr_t)name_of(job), NULL};
	struct exec_end end = {.status = job->status, .overdue = job->overdue};
	const struct fault *fault;

	options.argv = argv;
	verdict_count_faults(test_case, job->log, result);
	job_ask_device(job);
	if (job->outcome.broken[0]) {
		result->verdict = VERDICT_BROKEN;
		snprintf(result->reason, sizeof(result->reason), "%.*s", FINDING_TEXT_BYTES - 1,
			 job->outcome.broken);
		return;
	}
	job_ask_kernel(job);
	fault = job->overdue ? NULL
			     : verdict_ended_by(&test_case->schedule, result, 1, job->status);
	if (!job->overdue && (fault || ended_as_it_must(&options, job->status)))
		oracle_outputs(&test_case->expect.program, job->work_dir, job->stdout_fd, result);
	exec_judge(&options, &end, job->log, result);
	doubt_unread(test_case, fault, result);
}
