/* SPDX-License-Identifier: MIT */
/*
 * cmd_points.c - `swaptorture points`: the table of what can be injected where.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "nearest.h"
#include "points.h"

enum points_option { POINTS_JSON, POINTS_MARKDOWN };

static const struct cli_option options[] = {
	[POINTS_JSON] = {"json", 0, NULL, "as one JSON array"},
	[POINTS_MARKDOWN] = {"markdown", 0, NULL, "as a table in Markdown"},
	{0},
};

typedef void print_fn(const struct point_info *point, const struct kind_info *kind);

static const char *argument_name(enum kind_argument argument)
{
	switch (argument) {
	case ARGUMENT_NONE:
		return "";
	case ARGUMENT_ERRNO:
		return ":ERRNO";
	case ARGUMENT_COUNT:
		return ":COUNT";
	case ARGUMENT_SIGNAL:
		return ":SIGNAL";
	case ARGUMENT_UNTIL:
		return ":until=EVENT";
	case ARGUMENT_SEED:
		return ":SEED";
	case ARGUMENT_BYTE:
		return ":BYTE";
	case ARGUMENT_BYTES:
		return ":BYTES";
	case ARGUMENT_OFFSET:
		return ":OFFSET";
	case ARGUMENT_REMOVAL:
		return ":WAY";
	}
	return "";
}

static void print_text(const struct point_info *point, const struct kind_info *kind)
{
	char left[64];

	if (kind == kind_info(point->kind_first))
		printf("\n%s (%s): %s\n", point->name, point->layer, point->sentence);
	snprintf(left, sizeof(left), "%s%s", kind->name, argument_name(kind->argument));
	printf("  %-22s %-12s %-8s %s\n", left, effect_name(kind->effect), kind->rows,
	       kind->sentence);
	if (kind->errnos[0])
		printf("  %-22s %s\n", "", kind->errnos);
	if (kind->fallback[0])
		printf("  %-22s %s alone means %s\n", "",
		       kind->fiu_name ? kind->fiu_name : kind->name, kind->fallback);
}

static void print_markdown(const struct point_info *point, const struct kind_info *kind)
{
	printf("| `%s` | `%s%s` | %s | %s | %s | %s |\n", point->name, kind->name,
	       argument_name(kind->argument), effect_name(kind->effect), kind->rows, kind->errnos,
	       kind->sentence);
}

static json_t *words_json(const char *words)
{
	json_t *list = json_array();
	char *copy = strdup(words), *rest = copy, *word;

	while (copy && (word = strsep(&rest, " ")) != NULL)
		if (*word)
			json_array_append_new(list, json_string(word));
	free(copy);
	return list;
}

static json_t *kind_json(const struct kind_info *kind)
{
	return json_pack("{s:s, s:s?, s:s, s:s, s:o, s:s, s:o, s:s}", "kind", kind->name, "libfiu",
			 kind->fiu_name, "argument",
			 kind->argument ? argument_name(kind->argument) + 1 : "", "default",
			 kind->fallback, "errnos", words_json(kind->errnos), "effect",
			 effect_name(kind->effect), "rows", words_json(kind->rows), "sentence",
			 kind->sentence);
}

static json_t *point_json(const struct point_info *point)
{
	json_t *kinds = json_array();

	for (unsigned i = 0; i < point->kind_count; i++)
		json_array_append_new(kinds,
				      kind_json(kind_info((enum kind_id)(point->kind_first + i))));
	return json_pack("{s:s, s:s, s:s, s:o}", "point", point->name, "layer", point->layer,
			 "sentence", point->sentence, "kinds", kinds);
}

/* Points whose name is among the words; all without words. */
static bool is_wanted(const struct cli_words *words, const char *name)
{
	for (unsigned i = 0; i < words->count; i++)
		if (strcmp(words->words[i], name) == 0)
			return true;
	return words->count == 0;
}

static int print_json(const struct cli_words *words)
{
	json_t *list = json_array();
	int failed;

	for (unsigned i = 0; i < POINT_COUNT; i++) {
		const struct point_info *point = point_info((enum point_id)i);

		if (is_wanted(words, point->name))
			json_array_append_new(list, point_json(point));
	}
	failed = json_dumpf(list, stdout, JSON_INDENT(2));
	json_decref(list);
	putchar('\n');
	return failed ? CLI_EXIT_USAGE : CLI_EXIT_PASSED;
}

static void print_each(const struct cli_words *words, print_fn *print)
{
	for (unsigned i = 0; i < POINT_COUNT; i++) {
		const struct point_info *point = point_info((enum point_id)i);

		for (unsigned k = 0; is_wanted(words, point->name) && k < point->kind_count; k++)
			print(point, kind_info((enum kind_id)(point->kind_first + k)));
	}
}

static int check_words(const struct cli_command *command, const struct cli_words *words)
{
	enum point_id found;

	for (unsigned i = 0; i < words->count; i++) {
		struct nearest nearest;

		if (point_find(words->words[i], &found) == 0)
			continue;
		nearest_init(&nearest, words->words[i]);
		for (unsigned k = 0; k < POINT_COUNT; k++)
			nearest_offer(&nearest, point_info((enum point_id)k)->name);
		return cli_refuse_text(command, "no point is named '%s'%s%s%s", words->words[i],
				       nearest.best ? ", did you mean '" : "",
				       nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
	}
	return CLI_EXIT_PASSED;
}

static int print_points(const struct cli_command *command, const struct cli_words *words,
			int format)
{
	int status = check_words(command, words);

	if (status != CLI_EXIT_PASSED)
		return status;
	if (format == POINTS_JSON)
		return print_json(words);
	if (format == POINTS_MARKDOWN)
		printf("| point | kind | effect | rows | errnos | meaning |\n"
		       "|---|---|---|---|---|---|\n");
	else
		printf("A fault is POINT#WHEN CONDITION => KIND, see swaptorture-schedule(5).\n");
	print_each(words, format == POINTS_MARKDOWN ? print_markdown : print_text);
	return CLI_EXIT_PASSED;
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_words words = {0};
	struct cli_parser parser;
	int option, format = CLI_END, status = CLI_EXIT_PASSED;

	cli_parser_init(&parser, command, argc, argv);
	while ((option = cli_next(&parser)) >= 0 || option == CLI_WORD)
		if (option == CLI_WORD)
			cli_words_add(&words, parser.value);
		else
			format = option;
	if (option == CLI_WRONG)
		status = cli_refuse(command, &parser.diag);
	else if (option == CLI_END)
		status = print_points(command, &words, format);
	cli_words_fini(&words);
	return status;
}

const struct cli_command cmd_points = {
	.name = "points",
	.words = "[POINT...]",
	.summary = "print what can be injected where, and what a correct program does then",
	.options = options,
	.run = command_run,
};
