/* SPDX-License-Identifier: MIT */
/*
 * program_words.c - the words of a command line: kept one behind the other, and what braces in them
 * stand for. {work_dir} is the directory that the program runs in, {seed} the case's; {{ is a
 * brace. Any other brace is itself, unless small letters follow up to a closing one.
 */
#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz_"

int program_words_add(struct program_words *words, const char *word)
{
	size_t bytes = strlen(word) + 1;

	if (words->count == PROGRAM_WORDS_MAX || bytes > sizeof(words->text) - words->used)
		return -E2BIG;
	memcpy(words->text + words->used, word, bytes);
	words->used += bytes;
	words->count++;
	return 0;
}

const char *program_words_next(const struct program_words *words, const char *word)
{
	const char *next = word ? word + strlen(word) + 1 : words->text;

	return next < words->text + words->used ? next : NULL;
}

/* Bytes of the name in braces at @at, both included; 0: it is none. */
static size_t name_bytes(const char *at)
{
	size_t letters = strspn(at + 1, NAME_LETTERS);

	return letters && at[letters + 1] == '}' ? letters + 2 : 0;
}

static bool is_name(const char *at, size_t bytes, const char *name)
{
	return bytes == strlen(name) && strncmp(at, name, bytes) == 0;
}

const char *program_words_unknown(const char *word)
{
	const char *at = word;

	while ((at = strchr(at, '{')) != NULL) {
		size_t bytes = name_bytes(at);

		if (bytes && !is_name(at, bytes, "{work_dir}") && !is_name(at, bytes, "{seed}"))
			return at;
		at += bytes ? bytes : at[1] == '{' ? 2 : 1;
	}
	return NULL;
}

/* Write what stands at the brace @at; how much of the word that was. */
static size_t expand_brace(FILE *stream, const char *at, const struct program_names *names)
{
	size_t bytes = name_bytes(at);

	if (!bytes) {
		fputc('{', stream);
		return at[1] == '{' ? 2 : 1;
	}
	if (is_name(at, bytes, "{seed}"))
		fprintf(stream, "%" PRIu64, names->seed);
	else
		fputs(names->work_dir, stream);
	return bytes;
}

char *program_words_expand(const char *word, const struct program_names *names)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	while (*word) {
		size_t plain = strcspn(word, "{");

		fwrite(word, 1, plain, stream);
		word += plain;
		if (*word)
			word += expand_brace(stream, word, names);
	}
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}
