/* SPDX-License-Identifier: MIT */
/*
 * cli.h - the command line: commands and their options as tables, from which both the parsing and
 * the help come; exit statuses.
 *
 * Threads: one thread.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "diag.h"

enum cli_exit {
	CLI_EXIT_PASSED = 0,
	CLI_EXIT_FAILED = 1,
	CLI_EXIT_USAGE = 2,  /* command line, scenario, or a file that cannot be read or written */
	CLI_EXIT_UNSURE = 3, /* something was vacuous or broken, nothing failed */
	CLI_EXIT_SKIPPED = 77,
	CLI_EXIT_INTERRUPTED = 130,
};

struct cli_option {
	const char *name;     /* without the hyphens */
	char letter;	      /* of the short form, 0 none */
	const char *argument; /* what the help calls it; NULL: the option takes none */
	const char *doc;
};

struct cli_command {
	const char *name;
	const char *words; /* what follows the options: "[PATH...]" */
	const char *summary;
	const struct cli_option *options; /* ended by one without a name; the index identifies it */
	bool program;	  /* options end at the first word: it is a program's name */
	const char *more; /* paragraphs of the help */
	int (*run)(const struct cli_command *command, int argc, char **argv);
};

extern const struct cli_command cmd_run, cmd_exec, cmd_list, cmd_points, cmd_new, cmd_store,
	cmd_guest, cmd_serve, cmd_schema;

/* Results of cli_next() beside the index of an option. */
#define CLI_END (-1)
#define CLI_WORD (-2)  /* parser.value is a word that is no option */
#define CLI_WRONG (-3) /* parser.diag says what */
#define CLI_HELP (-4)  /* the help was printed */

struct cli_parser {
	const struct cli_command *command;
	int argc;
	char **argv; /* argv[0] is the command */
	int next;
	const char *value;   /* of the option, or the word */
	const char *letters; /* rest of -abc */
	bool words_only;     /* after -- */
	struct diag diag;
};

void cli_parser_init(struct cli_parser *parser, const struct cli_command *command, int argc,
		     char **argv);
int cli_next(struct cli_parser *parser);

/* Print the error with the command's name, and where to find help; CLI_EXIT_USAGE. */
int cli_refuse(const struct cli_command *command, const struct diag *diag);
int cli_refuse_text(const struct cli_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void cli_print_help(const struct cli_command *command, FILE *stream);

/* How the program was called, for lines that people paste. */
const char *cli_program(void);
void cli_program_set(const char *name);

/* cli_commands.c: the commands of a program, a list that ends with NULL. */
void cli_list_commands(const struct cli_command *const *commands, FILE *stream);
/* Run the one that argv[0] names; where there is none, say so: CLI_EXIT_USAGE. */
int cli_run_command(const struct cli_command *const *commands, int argc, char **argv);
/* Has everything reached standard output? If not, that was told. */
bool cli_printed(void);

/* A growing list of borrowed words. */
struct cli_words {
	unsigned count;
	const char **words;
};
/* Exits the program with a message when out of memory: nothing has begun yet. */
void cli_words_add(struct cli_words *list, const char *word);
void cli_words_fini(struct cli_words *list);

#endif /* CLI_H */
