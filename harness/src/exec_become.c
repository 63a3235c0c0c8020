/* SPDX-License-Identifier: MIT */
/*
 * exec_become.c - between fork and exec: the environment that loads and instructs the preload.
 *
 * Under valgrind the environment is set by env(1), which valgrind follows into the program:
 * valgrind's own start must not be taken for the program.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec.h"

#define VARIABLES_MAX 12
#define SCHEDULE_BYTES 65536
#define WORDS_MAX 4096

struct variables {
	unsigned count;
	char *texts[VARIABLES_MAX]; /* NAME=VALUE */
};

static __attribute__((noreturn)) void give_up(int error, int error_fd)
{
	if (write(error_fd, &error, sizeof(error)) != (ssize_t)sizeof(error))
		_exit(126);
	_exit(127);
}

static __attribute__((format(printf, 3, 4))) void add(struct variables *variables, int error_fd,
						      const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vasprintf(&variables->texts[variables->count], format, arguments);
	va_end(arguments);
	if (count < 0)
		give_up(ENOMEM, error_fd);
	variables->count++;
}

static void add_schedule(struct variables *variables, const struct schedule *schedule, int error_fd)
{
	static char text[SCHEDULE_BYTES];

	if (!schedule->count)
		return;
	if (schedule_print(schedule, text, sizeof(text)) >= (int)sizeof(text))
		give_up(E2BIG, error_fd);
	add(variables, error_fd, "SWAPFAULT_SCHEDULE=%s", text);
}

static void add_preload(struct variables *variables, const char *preload, int error_fd)
{
	const char *others = getenv("LD_PRELOAD");
	bool any = others && *others;

	add(variables, error_fd, "LD_PRELOAD=%s%s%s", preload, any ? ":" : "", any ? others : "");
}

static void fill(struct variables *variables, const struct exec_options *options,
		 const char *log_path, int error_fd)
{
	if (!options->under)
		add_preload(variables, options->preload, error_fd);
	add_schedule(variables, options->schedule, error_fd);
	add(variables, error_fd, "SWAPFAULT_LOG=%s", log_path);
	add(variables, error_fd, "SWAPFAULT_BACKEND=%s",
	    options->target == TARGET_SIM ? "sim" : "kernel");
	add(variables, error_fd, "SWAPFAULT_SEED=%llu", (unsigned long long)options->seed);
	if (options->work_dir)
		add(variables, error_fd, "SWAPFAULT_WORK_DIR=%s", options->work_dir);
	if (options->arm_at_open)
		add(variables, error_fd, "SWAPFAULT_ARM=open");
	if (options->follow_exec)
		add(variables, error_fd, "SWAPFAULT_FOLLOW_EXEC=1");
	if (options->sim_deadline_ns)
		add(variables, error_fd, "SWAPFAULT_DEADLINE_NS=%llu",
		    (unsigned long long)options->sim_deadline_ns);
	if (options->sector_bytes)
		add(variables, error_fd, "SWAPFAULT_SECTOR_BYTES=%u", options->sector_bytes);
	if (options->memory_align_bytes)
		add(variables, error_fd, "SWAPFAULT_MEMORY_ALIGN_BYTES=%u",
		    options->memory_align_bytes);
}

static void become_under(const struct exec_options *options, int error_fd)
{
	static char *words[WORDS_MAX];
	char tool[64], suppressions[PATH_MAX + 16];
	unsigned count = 0;

	snprintf(tool, sizeof(tool), "--tool=%s", options->under);
	snprintf(suppressions, sizeof(suppressions), "--suppressions=%s", options->suppressions);
	words[count++] = strdup("valgrind");
	words[count++] = tool;
	words[count++] = suppressions;
	words[count++] = strdup("--quiet");
	words[count++] = strdup("--error-exitcode=99");
	words[count++] = strdup(options->loader);
	words[count++] = strdup("--preload");
	words[count++] = strdup(options->preload);
	words[count++] = strdup(options->program);
	for (char *const *word = options->argv + 1; *word; word++) {
		if (count == WORDS_MAX - 1)
			give_up(E2BIG, error_fd);
		words[count++] = *word;
	}
	execvp(words[0], words);
	give_up(errno, error_fd);
}

void exec_become(const struct exec_options *options, const char *log_path, int error_fd)
{
	struct variables variables = {0};

	for (int fd = 0; options->stdio && fd < 3; fd++)
		if (dup2(options->stdio[fd], fd) < 0)
			give_up(errno, error_fd);
	if (options->directory && chdir(options->directory) < 0)
		give_up(errno, error_fd);
	for (char *const *word = options->env; word && *word; word++)
		putenv(*word);
	fill(&variables, options, log_path, error_fd);
	for (unsigned i = 0; i < variables.count; i++)
		putenv(variables.texts[i]);
	if (options->under)
		become_under(options, error_fd);
	execvp(options->program, options->argv);
	give_up(errno, error_fd);
}
