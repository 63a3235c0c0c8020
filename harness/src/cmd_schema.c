/* SPDX-License-Identifier: MIT */
/*
 * cmd_schema.c - `swaptorture schema`: what a scenario file may hold, for editors.
 */
#include "cli.h"
#include "scenario_json.h"

enum schema_option { SCHEMA_MDOC };

static const struct cli_option options[] = {
	[SCHEMA_MDOC] = {"mdoc", 0, NULL, "the list of keys as in swaptorture-scenario(5)"},
	{0},
};

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_parser parser;
	bool mdoc = false;
	int option;

	cli_parser_init(&parser, command, argc, argv);
	while ((option = cli_next(&parser)) >= 0)
		mdoc = true;
	if (option == CLI_WORD)
		return cli_refuse_text(command, "'%s': no words are expected", parser.value);
	if (option == CLI_WRONG)
		return cli_refuse(command, &parser.diag);
	if (option == CLI_HELP)
		return CLI_EXIT_PASSED;
	if (mdoc)
		scenario_print_mdoc(stdout);
	else if (scenario_print_schema(stdout) < 0)
		return CLI_EXIT_USAGE;
	return CLI_EXIT_PASSED;
}

const struct cli_command cmd_schema = {
	.name = "schema",
	.words = "",
	.summary = "print the JSON schema of scenario files",
	.options = options,
	.run = command_run,
};
