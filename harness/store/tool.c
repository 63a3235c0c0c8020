/* SPDX-License-Identifier: MIT */
/*
 * tool.c - the command line of each command, and the store that it names.
 */
#include "tool.h"

#include <errno.h>
#include <string.h>

#include "number.h"

int tool_fail(const struct tool *tool, const char *text)
{
	fflush(stdout);
	fprintf(stderr, "%s %s: %s\n", cli_program(), tool->command->name, text);
	return CLI_EXIT_USAGE;
}

/* "1M" or "1M:2G" */
static int read_range(struct tool *tool, const char *text, struct diag *diag)
{
	const char *colon = strchrnul(text, ':');
	char offset[32];

	snprintf(offset, sizeof(offset), "%.*s", (int)(colon - text), text);
	if (colon - text < (long)sizeof(offset) &&
	    number_bytes(offset, &tool->options.range_offset_bytes) == 0 &&
	    (!*colon || number_bytes(colon + 1, &tool->options.range_length_bytes) == 0))
		return 0;
	diag_set(diag, NULL, 0, 0, "--range %s: must be OFFSET or OFFSET:LENGTH, like 1M:512M",
		 text);
	return CLI_WRONG;
}

/* The second option of each command is a flag. */
static void take_flag(struct tool *tool)
{
	if (strcmp(tool->command->options[TOOL_JSON].name, "json") == 0)
		tool->json = true;
	else
		tool->all = true;
}

static int parse(struct tool *tool, struct cli_parser *parser)
{
	int option;

	while ((option = cli_next(parser)) >= 0 || option == CLI_WORD) {
		if (option == TOOL_RANGE && read_range(tool, parser->value, &parser->diag) < 0)
			return CLI_WRONG;
		if (option == TOOL_JSON)
			take_flag(tool);
		if (option == CLI_WORD && tool->path)
			cli_words_add(&tool->groups, parser->value);
		if (option == CLI_WORD && !tool->path)
			tool->path = parser->value;
	}
	return option;
}

bool tool_read(struct tool *tool, const struct cli_command *command, int argc, char **argv,
	       int *ret_status)
{
	struct cli_parser parser;
	int end;

	*tool = (struct tool){.command = command};
	swapio_store_options_init(&tool->options);
	cli_parser_init(&parser, command, argc, argv);
	end = parse(tool, &parser);
	if (end == CLI_END && tool->path)
		return true;
	if (end == CLI_HELP)
		*ret_status = CLI_EXIT_PASSED;
	else if (end == CLI_WRONG)
		*ret_status = cli_refuse(command, &parser.diag);
	else
		*ret_status = cli_refuse_text(command, "the store is missing: a directory or a "
						       "block device");
	tool_fini(tool);
	return false;
}

void tool_fini(struct tool *tool)
{
	cli_words_fini(&tool->groups);
}

/* Nothing is swapped here, so the pool is as small as it gets. */
int tool_open(struct tool *tool, bool read_only)
{
	struct swapio_error error;

	tool->options.create = false;
	tool->options.read_only = read_only;
	tool->options.threads = 0;
	tool->options.slots = 2;
	tool->options.slot_bytes = 4096;
	if (swapio_open(NULL, &error, &tool->handle) < 0)
		return tool_fail(tool, error.text);
	if (swapio_store_open(tool->handle, tool->path, &tool->options, &error, &tool->store) == 0)
		return CLI_EXIT_PASSED;
	swapio_close(tool->handle, SWAPIO_FOREVER);
	return tool_fail(tool, error.text);
}

void tool_close(struct tool *tool)
{
	swapio_store_close(tool->store, SWAPIO_FOREVER);
	swapio_close(tool->handle, SWAPIO_FOREVER);
}
