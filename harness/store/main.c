/* SPDX-License-Identifier: MIT */
/*
 * main.c - swaptorture-store: which command?
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "nearest.h"
#include "tool.h"

static const struct cli_command *const commands[] = {&tool_ls, &tool_verify, &tool_rm};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_commands(FILE *stream)
{
	fprintf(stream, "Usage: %s COMMAND [OPTION...] STORE [GROUP...]\n\n", cli_program());
	fprintf(stream, "Looks at a store of tensors: a directory, or a block device.\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(stream, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(stream, "\n'%s COMMAND --help' says more.\n", cli_program());
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

/* What was printed must have arrived. */
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
	return CLI_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of writing, reported as one */
	cli_program_set("swaptorture store");
	if (argc < 2) {
		print_commands(stderr);
		return CLI_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_commands(stdout);
		return finish(CLI_EXIT_PASSED);
	}
	return finish(run_command(argc - 1, argv + 1));
}
