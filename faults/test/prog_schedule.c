/* SPDX-License-Identifier: MIT */
/*
 * prog_schedule.c - what the shell tests want to know of the schedule language.
 *
 *   prog_schedule table          the points and kinds as the tables of docs/FAULTS.md
 *   prog_schedule print < TEXT   the schedule printed canonically, each fault with its effect
 */
#include <stdio.h>
#include <string.h>

#include "schedule_draft.h"

static const char *argument_name(enum kind_argument argument)
{
	switch (argument) {
	case ARGUMENT_NONE:
		return "";
	case ARGUMENT_ERRNO:
		return "errno";
	case ARGUMENT_COUNT:
		return "count";
	case ARGUMENT_SIGNAL:
		return "signal";
	case ARGUMENT_UNTIL:
		return "until";
	case ARGUMENT_SEED:
		return "seed";
	case ARGUMENT_BYTE:
		return "byte";
	case ARGUMENT_BYTES:
		return "bytes";
	case ARGUMENT_OFFSET:
		return "offset";
	case ARGUMENT_REMOVAL:
		return "surprise, orderly";
	}
	return "";
}

static void print_kind(const struct kind_info *kind)
{
	const char *argument = argument_name(kind->argument);

	printf("| `%s%s%s` | %s%s%s | %s | %s | %s |\n", kind->name, argument[0] ? ":" : "",
	       argument[0] ? kind->fallback : "", argument, kind->errnos[0] ? ": " : "",
	       kind->errnos, effect_name(kind->effect), kind->rows, kind->sentence);
}

static void print_point(enum point_id id)
{
	const struct point_info *point = point_info(id);
	const char *comma = "";

	printf("### %s\n\n%s", point->name, point->layer);
	if (!point_is_device(id))
		printf("/%s", point->name);
	printf(": %s. Conditions: ", point->sentence);
	for (unsigned i = 0; i < CONDITION_COUNT; i++) {
		if (!condition_applies((enum condition)i, id))
			continue;
		printf("%s%s", comma, condition_name((enum condition)i));
		comma = ", ";
	}
	printf(".\n\n| kind and default | argument | effect | rows | what happens |\n"
	       "|---|---|---|---|---|\n");
	for (unsigned i = 0; i < point->kind_count; i++)
		print_kind(kind_info((enum kind_id)(point->kind_first + i)));
	printf("\n");
}

static int print_schedule(void)
{
	static struct schedule schedule;
	struct schedule_error error;
	static char text[65536];
	size_t length = fread(text, 1, sizeof(text) - 1, stdin);

	text[length] = '\0';
	if (schedule_parse(text, &schedule, &error) < 0) {
		printf("%u:%u: %s\n", error.line, error.column, error.text);
		return 1;
	}
	for (unsigned i = 0; i < schedule.count; i++) {
		fault_print(&schedule.faults[i], text, sizeof(text));
		printf("%-12s %s\n", effect_name(fault_effect(&schedule.faults[i])), text);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "print") == 0)
		return print_schedule();
	if (argc != 2 || strcmp(argv[1], "table") != 0) {
		fprintf(stderr, "usage: prog_schedule table | print\n");
		return 2;
	}
	for (unsigned i = 0; i < POINT_COUNT; i++)
		print_point((enum point_id)i);
	return 0;
}
