/* SPDX-License-Identifier: MIT */
/*
 * cmd_store.c - `swaptorture store`: becomes swaptorture-store, which links the library that this
 * program must not.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "run_paths.h"

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	char path[PATH_MAX];
	int error = run_paths_program("swaptorture-store", path);

	(void)argc;
	if (error == 0) {
		execv(path, argv);
		error = -errno;
	}
	return cli_refuse_text(command, "swaptorture-store: %s; is the build complete?",
			       strerror(-error));
}

const struct cli_command cmd_store = {
	.name = "store",
	.words = "COMMAND STORE [GROUP...]",
	.summary = "list, verify and remove what stores of tensors hold",
	.run = command_run,
};
