/* SPDX-License-Identifier: MIT */
/*
 * cli.c - parsing options by a command's table, and saying what is wrong with them.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "nearest.h"

#define LIST_BYTES 300

static const char *program_name = "swaptorture";

const char *cli_program(void)
{
	return program_name;
}

void cli_program_set(const char *name)
{
	program_name = name;
}

void cli_parser_init(struct cli_parser *parser, const struct cli_command *command, int argc,
		     char **argv)
{
	*parser = (struct cli_parser){.command = command, .argc = argc, .argv = argv, .next = 1};
}

static int find_name(const struct cli_command *command, const char *name, size_t length)
{
	for (int i = 0; command->options[i].name; i++)
		if (strlen(command->options[i].name) == length &&
		    strncmp(command->options[i].name, name, length) == 0)
			return i;
	return CLI_WRONG;
}

static int refuse_option(struct cli_parser *parser, const char *name, size_t length)
{
	char word[64], list[LIST_BYTES] = "";
	struct nearest nearest;
	size_t used = 0;

	snprintf(word, sizeof(word), "%.*s", (int)length, name);
	nearest_init(&nearest, word);
	for (int i = 0; parser->command->options[i].name && used < sizeof(list); i++) {
		nearest_offer(&nearest, parser->command->options[i].name);
		used += (size_t)snprintf(list + used, sizeof(list) - used, " --%s",
					 parser->command->options[i].name);
	}
	if (nearest.best)
		diag_set(&parser->diag, NULL, 0, 0, "unknown option --%s, did you mean --%s?", word,
			 nearest.best);
	else
		diag_set(&parser->diag, NULL, 0, 0, "unknown option --%s, known are%s --help", word,
			 list);
	return CLI_WRONG;
}

static int refuse_argument(struct cli_parser *parser, const struct cli_option *option, bool given)
{
	if (given)
		diag_set(&parser->diag, NULL, 0, 0, "option --%s takes no argument", option->name);
	else
		diag_set(&parser->diag, NULL, 0, 0, "option --%s needs an argument: %s",
			 option->name, option->argument);
	return CLI_WRONG;
}

static int help(const struct cli_parser *parser)
{
	cli_print_help(parser->command, stdout);
	return CLI_HELP;
}

/* --name, --name=value, --name value */
static int next_long(struct cli_parser *parser, const char *word)
{
	size_t length = strcspn(word, "=");
	const struct cli_option *option;
	int index;

	if (strcmp(word, "help") == 0)
		return help(parser);
	index = find_name(parser->command, word, length);
	if (index < 0)
		return refuse_option(parser, word, length);
	option = &parser->command->options[index];
	parser->value = word[length] ? word + length + 1 : NULL;
	if (!option->argument)
		return parser->value ? refuse_argument(parser, option, true) : index;
	if (!parser->value && parser->next < parser->argc)
		parser->value = parser->argv[parser->next++];
	return parser->value ? index : refuse_argument(parser, option, false);
}

/* -k, -j4, -j 4, -kj4 */
static int next_short(struct cli_parser *parser)
{
	char letter = *parser->letters++;
	const struct cli_option *option = parser->command->options;

	if (letter == 'h')
		return help(parser);
	while (option->name && option->letter != letter)
		option++;
	if (!option->name) {
		diag_set(&parser->diag, NULL, 0, 0, "unknown option -%c", letter);
		return CLI_WRONG;
	}
	if (option->argument) {
		parser->value = *parser->letters ? parser->letters : NULL;
		parser->letters = "";
		if (!parser->value && parser->next < parser->argc)
			parser->value = parser->argv[parser->next++];
		if (!parser->value)
			return refuse_argument(parser, option, false);
	}
	return (int)(option - parser->command->options);
}

int cli_next(struct cli_parser *parser)
{
	const char *word;

	if (parser->letters && *parser->letters)
		return next_short(parser);
	if (parser->next >= parser->argc)
		return CLI_END;
	word = parser->argv[parser->next++];
	if (!parser->words_only && strcmp(word, "--") == 0) {
		parser->words_only = true;
		return cli_next(parser);
	}
	if (parser->words_only || word[0] != '-' || !word[1]) {
		parser->words_only |= parser->command->program;
		parser->value = word;
		return CLI_WORD;
	}
	if (word[1] == '-')
		return next_long(parser, word + 2);
	parser->letters = word + 1;
	return next_short(parser);
}

int cli_refuse(const struct cli_command *command, const struct diag *diag)
{
	char text[DIAG_FILE_BYTES + DIAG_TEXT_BYTES + 64];

	diag_format(diag, text, sizeof(text));
	fflush(stdout);
	fprintf(stderr, "%s\n", text);
	if (!diag->file[0])
		fprintf(stderr, "Try '%s %s --help'.\n", cli_program(), command->name);
	return CLI_EXIT_USAGE;
}

int cli_refuse_text(const struct cli_command *command, const char *format, ...)
{
	struct diag diag;
	char text[DIAG_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	diag_set(&diag, NULL, 0, 0, "%s", text);
	return cli_refuse(command, &diag);
}

static void print_option(const struct cli_option *option, FILE *stream)
{
	char left[64];

	snprintf(left, sizeof(left), "%c%c%s--%s%s%s", option->letter ? '-' : ' ',
		 option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
		 option->argument ? " " : "", option->argument ? option->argument : "");
	fprintf(stream, "  %-26s %s%s\n", left,
		strlen(left) > 26 ? "\n                             " : "", option->doc);
}

void cli_print_help(const struct cli_command *command, FILE *stream)
{
	static const struct cli_option help_option = {"help", 'h', NULL, "print this and stop"};

	fprintf(stream, "Usage: %s %s [OPTION...]%s%s\n\n%c%s.\n\n", cli_program(), command->name,
		*command->words ? " " : "", command->words,
		toupper((unsigned char)*command->summary), command->summary + 1);
	for (const struct cli_option *option = command->options; option->name; option++)
		print_option(option, stream);
	print_option(&help_option, stream);
	if (command->more)
		fprintf(stream, "\n%s", command->more);
}

void cli_words_add(struct cli_words *list, const char *word)
{
	const char **grown = reallocarray(list->words, list->count + 1, sizeof(*grown));

	if (!grown) {
		fprintf(stderr, "%s: out of memory\n", cli_program());
		exit(CLI_EXIT_USAGE);
	}
	list->words = grown;
	grown[list->count++] = word;
}

void cli_words_fini(struct cli_words *list)
{
	free(list->words);
	*list = (struct cli_words){0};
}
