/* SPDX-License-Identifier: MIT */
/*
 * main.c - swaptorture: which command?
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "nearest.h"

static const struct cli_command *const commands[] = {&cmd_run, &cmd_exec,  &cmd_list,  &cmd_points,
						     &cmd_new, &cmd_store, &cmd_schema};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_commands(FILE *stream)
{
	fprintf(stream, "Usage: %s COMMAND [OPTION...] [WORD...]\n\n", cli_program());
	fprintf(stream, "Runs swapping under injected faults and says what broke.\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(stream, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(stream,
		"\n'%s COMMAND --help' says more; --version prints the version.\n"
		"Exit status: 0 all passed, 1 something failed, 2 usage or scenario error,\n"
		"3 vacuous or broken, 77 all skipped, 130 interrupted.\n",
		cli_program());
}

static int refuse_command(const char *name)
{
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_offer(&nearest, commands[i]->name);
	fprintf(stderr, "%s: unknown %s '%s'%s%s%s\n", cli_program(),
		name[0] == '-' ? "option" : "command", name, nearest.best ? ", did you mean '" : "",
		nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
	fprintf(stderr, "Try '%s --help'.\n", cli_program());
	return CLI_EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i]->name, argv[0]) == 0)
			return commands[i]->run(commands[i], argc, argv);
	return refuse_command(argv[0]);
}

/* What was printed must have arrived: a full disk below standard output is no success. */
static int finish(int status)
{
	int error = 0;

	if (fflush(stdout) != 0)
		error = errno;
	else if (ferror(stdout))
		error = EIO;
	if (!error)
		return status;
	fprintf(stderr, "%s: standard output: %s\n", cli_program(), strerror(error));
	return status == CLI_EXIT_PASSED || status == CLI_EXIT_SKIPPED ? CLI_EXIT_USAGE : status;
}

/*
 * Else a report or a swapped file would get the number of a closed stream, and what is printed
 * would go into it. The wrong way round each, so that using a closed stream stays an error.
 */
static void occupy_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	occupy_closed_streams();
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of writing, reported as one */
	signal(SIGXFSZ, SIG_IGN); /* and so is a limit on the size of files */
	if (argc > 0 && argv[0][0])
		cli_program_set(argv[0]);
	if (argc < 2) {
		print_commands(stderr);
		return CLI_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		print_commands(stdout);
		return finish(CLI_EXIT_PASSED);
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("swaptorture %s\n", SWAPTORTURE_VERSION);
		return finish(CLI_EXIT_PASSED);
	}
	return finish(run_command(argc - 1, argv + 1));
}
