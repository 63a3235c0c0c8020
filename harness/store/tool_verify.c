/* SPDX-License-Identifier: MIT */
/*
 * tool_verify.c - `swaptorture store verify`: is what a store holds what was stored?
 */
#include <errno.h>
#include <inttypes.h>

#include "tool.h"

static const struct cli_option options[] = {
	[TOOL_RANGE] = TOOL_RANGE_OPTION,
	[TOOL_JSON] = TOOL_JSON_OPTION,
	{0},
};

static int print_text(const struct swapio_damage *damage, void *arg)
{
	(void)arg;
	printf("damaged: %s\n", tool_name(damage->text));
	return 0;
}

static int print_json(const struct swapio_damage *damage, void *arg)
{
	json_t *object =
		json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "group", tool_json_name(damage->group),
			  "tensor", damage->tensor ? tool_json_name(damage->tensor) : json_null(),
			  "offset_bytes", (json_int_t)damage->offset_bytes, "length_bytes",
			  (json_int_t)damage->length_bytes, "error", tool_json_error(damage->error),
			  "text", tool_json_name(damage->text));

	(void)arg;
	tool_json_print(object);
	return 0;
}

/* Exit status of one group, or of all. */
static int verify(struct tool *tool, const char *group)
{
	struct swapio_error error;
	int ret = swapio_store_verify(tool->store, group, tool->json ? print_json : print_text,
				      NULL, &error);

	if (ret == -EBADMSG)
		return CLI_EXIT_FAILED;
	return ret < 0 ? tool_fail(tool, error.text) : CLI_EXIT_PASSED;
}

static int verify_asked(struct tool *tool)
{
	int worst = CLI_EXIT_PASSED;

	if (!tool->groups.count)
		worst = verify(tool, NULL);
	for (unsigned i = 0; i < tool->groups.count; i++) {
		int status = verify(tool, tool->groups.words[i]);

		worst = status > worst ? status : worst;
	}
	if (worst == CLI_EXIT_PASSED && !tool->json)
		printf("nothing is damaged\n");
	return worst;
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct tool tool;
	int status;

	if (!tool_read(&tool, command, argc, argv, &status))
		return status;
	status = tool_open(&tool, true);
	if (tool.store) {
		status = verify_asked(&tool);
		tool_close(&tool);
	}
	tool_fini(&tool);
	return status;
}

const struct cli_command tool_verify = {
	.name = "verify",
	.words = "STORE [GROUP...]",
	.summary = "read groups whole and report what is damaged, range by range",
	.options = options,
	.more = "Exit status: 0 nothing is damaged, 1 something is, 2 it could not be looked at.\n",
	.run = command_run,
};
