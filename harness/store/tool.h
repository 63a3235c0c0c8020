/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what the commands of swaptorture-store share. It is a program of its own, because
 * swaptorture never links libswapio.
 *
 * Threads: one thread.
 */
#ifndef STORE_TOOL_H
#define STORE_TOOL_H

#include <jansson.h>
#include <stdint.h>

#include "cli.h"
#include "swapio/swapio.h"

extern const struct cli_command tool_ls, tool_verify, tool_rm;

/* What the command line of each command says. */
struct tool {
	const struct cli_command *command;
	const char *path;
	struct cli_words groups;
	bool json, all;
	struct swapio_store_options options;

	struct swapio *handle;
	struct swapio_store *store;
};

/* Index of an option of every command; those of one command follow. */
enum tool_option { TOOL_RANGE, TOOL_JSON, TOOL_ALL = TOOL_JSON };

#define TOOL_RANGE_OPTION                                                                          \
	{                                                                                          \
		"range", 0, "OFFSET[:LENGTH]", "block devices only: where the store lies"          \
	}
#define TOOL_JSON_OPTION                                                                           \
	{                                                                                          \
		"json", 0, NULL, "one JSON object on a line for each"                              \
	}

/*
 * Read the command line. CLI_END: go on; else CLI_HELP or the exit status of what was refused,
 * in *ret_status.
 */
bool tool_read(struct tool *tool, const struct cli_command *command, int argc, char **argv,
	       int *ret_status);
void tool_fini(struct tool *tool);

/* Open the store; a failure is said on standard error. Exit status, CLI_EXIT_PASSED when open. */
int tool_open(struct tool *tool, bool read_only);
void tool_close(struct tool *tool);

/* Say what failed: "swaptorture store ls: ..." CLI_EXIT_USAGE. */
int tool_fail(const struct tool *tool, const char *text);

/* A name for people: control characters and broken UTF-8 as \xHH. Valid until the next call. */
const char *tool_name(const char *name);

/* A string of any bytes. */
json_t *tool_json_name(const char *name);
/* "EBADMSG"; null for 0. */
json_t *tool_json_error(int error);
/* One line; the object is used up. */
void tool_json_print(json_t *object);

#endif /* STORE_TOOL_H */
