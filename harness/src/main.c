/* SPDX-License-Identifier: MIT */
/*
 * main.c - swaptorture: which command?
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const struct cli_command *const commands[] = {&cmd_run,	  &cmd_exec,   &cmd_list,
						     &cmd_points, &cmd_new,    &cmd_store,
						     &cmd_guest,  &cmd_schema, &cmd_serve,
						     NULL};

static void print_commands(FILE *stream)
{
	fprintf(stream, "Usage: %s COMMAND [OPTION...] [WORD...]\n\n", cli_program());
	fprintf(stream, "Runs swapping under injected faults and says what broke.\n\n");
	cli_list_commands(commands, stream);
	fprintf(stream,
		"\n'%s COMMAND --help' says more; --version prints the version.\n"
		"Exit status: 0 all passed, 1 something failed, 2 usage or scenario error,\n"
		"3 vacuous or broken, 77 all skipped, 130 interrupted.\n",
		cli_program());
}

/* What was printed must have arrived: a full disk below standard output is no success. */
static int finish(int status)
{
	if (cli_printed())
		return status;
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
	return finish(cli_run_command(commands, argc - 1, argv + 1));
}
