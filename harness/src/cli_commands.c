/* SPDX-License-Identifier: MIT */
/*
 * cli_commands.c - the commands of a program: listed, found by their names, and whether what they
 * printed has arrived.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "nearest.h"

void cli_list_commands(const struct cli_command *const *commands, FILE *stream)
{
	for (; *commands; commands++)
		fprintf(stream, "  %-8s %s\n", (*commands)->name, (*commands)->summary);
}

static int refuse_command(const struct cli_command *const *commands, const char *name)
{
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (; *commands; commands++)
		nearest_offer(&nearest, (*commands)->name);
	fprintf(stderr, "%s: unknown %s '%s'%s%s%s\n", cli_program(),
		name[0] == '-' ? "option" : "command", name, nearest.best ? ", did you mean '" : "",
		nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
	fprintf(stderr, "Try '%s --help'.\n", cli_program());
	return CLI_EXIT_USAGE;
}

int cli_run_command(const struct cli_command *const *commands, int argc, char **argv)
{
	for (const struct cli_command *const *command = commands; *command; command++)
		if (strcmp((*command)->name, argv[0]) == 0)
			return (*command)->run(*command, argc, argv);
	return refuse_command(commands, argv[0]);
}

bool cli_printed(void)
{
	int error = 0;

	if (fflush(stdout) != 0)
		error = errno;
	else if (ferror(stdout))
		error = EIO;
	if (error && error != EPIPE) /* whoever closed the pipe has seen enough */
		fprintf(stderr, "%s: standard output: %s\n", cli_program(), strerror(error));
	return !error;
}
