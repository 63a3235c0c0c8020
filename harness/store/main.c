/* SPDX-License-Identifier: MIT */
/*
 * main.c - swaptorture-store: which command?
 */
#include <signal.h>
#include <string.h>

#include "tool.h"

static const struct cli_command *const commands[] = {&tool_ls, &tool_verify, &tool_rm, NULL};

static void print_commands(FILE *stream)
{
	fprintf(stream, "Usage: %s COMMAND [OPTION...] STORE [GROUP...]\n\n", cli_program());
	fprintf(stream, "Looks at a store of tensors: a directory, or a block device.\n\n");
	cli_list_commands(commands, stream);
	fprintf(stream, "\n'%s COMMAND --help' says more.\n", cli_program());
}

/* What was printed must have arrived. */
static int finish(int status)
{
	return cli_printed() ? status : CLI_EXIT_USAGE;
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
	return finish(cli_run_command(commands, argc - 1, argv + 1));
}
