/* SPDX-License-Identifier: MIT */
/*
 * program.h - a command line that runs in place of the built-in workload: its words, the files that
 * it is given, and what it must leave behind.
 *
 * Threads: caller storage.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PROGRAM_WORDS_MAX 256
#define PROGRAM_WORDS_BYTES 8192
#define PROGRAM_FILES_MAX 8
#define PROGRAM_NAME_BYTES 64
#define PROGRAM_TEXT_BYTES 128
#define PROGRAM_TEXTS_MAX 4
#define PROGRAM_STATUS_UNSET 256u

struct program_words { /* as written, each ended by a NUL */
	unsigned count;
	size_t used;
	char text[PROGRAM_WORDS_BYTES];
};

struct program_input { /* lies in the work directory before the program starts */
	char name[PROGRAM_NAME_BYTES];
	uint64_t bytes;
};

struct program_output { /* lies there when it has ended */
	char name[PROGRAM_NAME_BYTES];
	uint64_t bytes;			  /* UINT64_MAX: any */
	char same_as[PROGRAM_NAME_BYTES]; /* "": any content */
	char holds[PROGRAM_TEXT_BYTES];	  /* "": any content */
	bool absent;			  /* it must not lie there */
};

struct program {
	struct program_words argv, env; /* argv.count 0: the scenario has no program */
	bool arm_at_start;		/* count from its start, not from its first open */
	bool follow_exec;
	unsigned inputs_count;
	struct program_input inputs[PROGRAM_FILES_MAX];
	unsigned line, column; /* of argv in the scenario */
};

struct program_expectation {
	unsigned status; /* PROGRAM_STATUS_UNSET: as the effects say */
	unsigned texts_count, outputs_count;
	char texts[PROGRAM_TEXTS_MAX][PROGRAM_TEXT_BYTES]; /* that its standard output holds */
	struct program_output outputs[PROGRAM_FILES_MAX];
};

/* Append one word. -E2BIG. */
int program_words_add(struct program_words *words, const char *word);
/* The first word and the ones behind it; NULL behind the last. */
const char *program_words_next(const struct program_words *words, const char *word);

/* What braces stand for in words. */
struct program_names {
	const char *work_dir;
	uint64_t seed;
};
/* The first brace of @word that stands for nothing, or NULL. */
const char *program_words_unknown(const char *word);
/* @word with its braces replaced; malloc'ed, NULL when out of memory. */
char *program_words_expand(const char *word, const struct program_names *names);

/* Make the files that it is given, each with a pattern of its own drawn from @seed. 0, -errno. */
int program_make_inputs(const struct program *program, const char *work_dir, uint64_t seed);
/* Have none of them in memory, so that they are read from the device: they have to be written there
 * before. 0, -errno. */
int program_drop_inputs(const struct program *program, const char *work_dir);

#endif /* PROGRAM_H */
