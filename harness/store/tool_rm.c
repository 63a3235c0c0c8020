/* SPDX-License-Identifier: MIT */
/*
 * tool_rm.c - `swaptorture store rm`: groups, or all of it.
 */
#include "tool.h"

static const struct cli_option options[] = {
	[TOOL_RANGE] = TOOL_RANGE_OPTION,
	[TOOL_ALL] = {"all", 0, NULL, "the whole store; a directory with other files stays"},
	{0},
};

static int remove_store(struct tool *tool)
{
	struct swapio_error error;

	if (tool->groups.count)
		return cli_refuse_text(tool->command, "'%s': --all leaves no group to name",
				       tool->groups.words[0]);
	if (swapio_store_destroy(tool->path, &tool->options, &error) < 0)
		return tool_fail(tool, error.text);
	return CLI_EXIT_PASSED;
}

static int remove_groups(struct tool *tool)
{
	struct swapio_error error;
	int status = CLI_EXIT_PASSED;

	for (unsigned i = 0; i < tool->groups.count; i++)
		if (swapio_store_remove(tool->store, tool->groups.words[i], &error) < 0)
			status = tool_fail(tool, error.text);
	return status;
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct tool tool;
	int status;

	if (!tool_read(&tool, command, argc, argv, &status))
		return status;
	if (tool.all)
		status = remove_store(&tool);
	else if (!tool.groups.count)
		status = cli_refuse_text(command, "no group is named; --all removes the store");
	else
		status = tool_open(&tool, false);
	if (tool.store) {
		status = remove_groups(&tool);
		tool_close(&tool);
	}
	tool_fini(&tool);
	return status;
}

const struct cli_command tool_rm = {
	.name = "rm",
	.words = "STORE GROUP...",
	.summary = "remove groups from a store, or the whole store",
	.options = options,
	.more = "A damaged volume whose group is not known has the name that ls gives it.\n",
	.run = command_run,
};
