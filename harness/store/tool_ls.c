/* SPDX-License-Identifier: MIT */
/*
 * tool_ls.c - `swaptorture store ls`: what does a store hold?
 */
#include <inttypes.h>
#include <string.h>

#include "tool.h"

static const struct cli_option options[] = {
	[TOOL_RANGE] = TOOL_RANGE_OPTION,
	[TOOL_JSON] = TOOL_JSON_OPTION,
	{0},
};

static const char *checksum_name(enum swapio_checksum checksum)
{
	switch (checksum) {
	case SWAPIO_CHECKSUM_NONE:
		return "none";
	case SWAPIO_CHECKSUM_XXH64:
		return "xxh64";
	case SWAPIO_CHECKSUM_XXH3:
		return "xxh3";
	}
	return "unknown";
}

static int print_text(const struct swapio_group_info *info, void *arg)
{
	(void)arg;
	if (info->damage)
		printf("%10s %8s %14s %8s  %s (%s)\n", "-", "-", "-", "damaged",
		       tool_name(info->name), strerror(-info->damage));
	else
		printf("%10" PRIu64 " %8u %14" PRIu64 " %8s  %s\n", info->generation, info->tensors,
		       info->bytes, checksum_name(info->checksum), tool_name(info->name));
	return 0;
}

static int print_json(const struct swapio_group_info *info, void *arg)
{
	json_t *object =
		json_pack("{s:o, s:I, s:I, s:I, s:I, s:s, s:o}", "group",
			  tool_json_name(info->name), "generation", (json_int_t)info->generation,
			  "tensors", (json_int_t)info->tensors, "bytes", (json_int_t)info->bytes,
			  "volume_bytes", (json_int_t)info->volume_bytes, "checksum",
			  checksum_name(info->checksum), "damage", tool_json_error(info->damage));

	(void)arg;
	tool_json_print(object);
	return 0;
}

static int print_head(struct tool *tool)
{
	struct swapio_store_info info = {.size_bytes = sizeof(info)};
	int ret = swapio_store_info_get(tool->store, &info);

	if (ret < 0)
		return tool_fail(tool, strerror(-ret));
	printf("store ");
	for (unsigned i = 0; i < sizeof(info.id); i++)
		printf("%02x", info.id[i]);
	printf(", %s, %" PRIu64 " bytes free\n", info.block_device ? "block device" : "directory",
	       info.free_bytes);
	printf("%10s %8s %14s %8s  %s\n", "generation", "tensors", "bytes", "checksum", "group");
	return CLI_EXIT_PASSED;
}

static int list(struct tool *tool)
{
	struct swapio_error error;
	int status = tool->json ? CLI_EXIT_PASSED : print_head(tool);

	if (status == CLI_EXIT_PASSED &&
	    swapio_store_list(tool->store, tool->json ? print_json : print_text, NULL, &error) < 0)
		status = tool_fail(tool, error.text);
	return status;
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct tool tool;
	int status;

	if (!tool_read(&tool, command, argc, argv, &status))
		return status;
	if (tool.groups.count)
		status =
			cli_refuse_text(command, "'%s': one store at a time", tool.groups.words[0]);
	else
		status = tool_open(&tool, true);
	if (tool.store) {
		status = list(&tool);
		tool_close(&tool);
	}
	tool_fini(&tool);
	return status;
}

const struct cli_command tool_ls = {
	.name = "ls",
	.words = "STORE",
	.summary = "list the groups of a store",
	.options = options,
	.run = command_run,
};
