/* SPDX-License-Identifier: MIT */
/*
 * schedule_scan.c - words, numbers and places in the text of a schedule.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "schedule_scan.h"

void scan_begin(struct scan *scan, const char *text, struct schedule_error *error)
{
	*scan = (struct scan){.at = text, .line_start = text, .line = 1, .error = error};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_end(char c)
{
	return c == '\0' || c == '\n' || c == ';';
}

void scan_blanks(struct scan *scan)
{
	while (is_blank(*scan->at))
		scan->at++;
}

bool scan_at_end(const struct scan *scan)
{
	return is_end(*scan->at);
}

bool scan_next(struct scan *scan)
{
	if (*scan->at == '\0')
		return false;
	if (*scan->at++ == '\n') {
		scan->line++;
		scan->line_start = scan->at;
	}
	return true;
}

bool scan_take(struct scan *scan, const char *literal)
{
	size_t length = strlen(literal);

	if (strncmp(scan->at, literal, length) != 0)
		return false;
	scan->at += length;
	return true;
}

struct word scan_word(struct scan *scan, const char *stops)
{
	struct word word = {.at = scan->at};

	while (!is_end(*scan->at) && !is_blank(*scan->at) && !strchr(stops, *scan->at) &&
	       strncmp(scan->at, "=>", 2) != 0)
		scan->at++;
	word.length = (size_t)(scan->at - word.at);
	return word;
}

unsigned scan_column(const struct scan *scan, const char *at)
{
	return (unsigned)(at - scan->line_start) + 1;
}

int scan_fail(struct scan *scan, const char *at, const char *format, ...)
{
	struct schedule_error *error = scan->error;
	va_list arguments;

	error->line = scan->line;
	error->column = scan_column(scan, at);
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

const char *word_quote(struct word word, char quote[SCAN_QUOTE_BYTES])
{
	size_t room = SCAN_QUOTE_BYTES - 1;
	size_t length = word.length < room ? word.length : room;

	for (size_t i = 0; i < length; i++)
		quote[i] = word.at[i] >= ' ' && word.at[i] <= '~' ? word.at[i] : '?';
	quote[length] = '\0';
	if (length < word.length)
		memcpy(&quote[room - 3], "...", 3);
	return quote;
}

bool word_is(struct word word, const char *text)
{
	return strlen(text) == word.length && memcmp(word.at, text, word.length) == 0;
}

int word_copy(struct word word, char *text, size_t text_bytes)
{
	if (word.length >= text_bytes)
		return -ENAMETOOLONG;
	memcpy(text, word.at, word.length);
	text[word.length] = '\0';
	return 0;
}

static uint64_t suffix_factor(char c)
{
	switch (c) {
	case 'K':
		return 1ull << 10;
	case 'M':
		return 1ull << 20;
	case 'G':
		return 1ull << 30;
	}
	return 0;
}

/* 0; -EINVAL: not a number; -ERANGE: does not fit into 64 bits. */
static int to_number(struct word word, bool bytes, uint64_t *ret_value)
{
	uint64_t value = 0, factor = 1;
	bool overflow = false;
	size_t i;

	for (i = 0; i < word.length && word.at[i] >= '0' && word.at[i] <= '9'; i++) {
		overflow |= __builtin_mul_overflow(value, 10, &value);
		overflow |= __builtin_add_overflow(value, (uint64_t)(word.at[i] - '0'), &value);
	}
	if (i == 0)
		return -EINVAL;
	if (bytes && i + 1 == word.length && suffix_factor(word.at[i]))
		factor = suffix_factor(word.at[i++]);
	if (i != word.length)
		return -EINVAL;
	overflow |= __builtin_mul_overflow(value, factor, &value);
	*ret_value = value;
	return overflow ? -ERANGE : 0;
}

int scan_number(struct scan *scan, struct word word, const struct number_rule *rule,
		uint64_t *ret_value)
{
	const char *suffixes = rule->bytes ? ", K M G allowed" : "";
	char quote[SCAN_QUOTE_BYTES];
	uint64_t value = 0;
	int result = to_number(word, rule->bytes, &value);

	if (result == -EINVAL)
		return scan_fail(scan, word.at, "%s: '%s' is not a number (decimal digits%s)",
				 rule->what, word_quote(word, quote), suffixes);
	if (result < 0 || value < rule->min || value > rule->max)
		return scan_fail(scan, word.at,
				 "%s: %s is out of range (%" PRIu64 " to %" PRIu64 "%s)",
				 rule->what, word_quote(word, quote), rule->min, rule->max,
				 suffixes);
	*ret_value = value;
	return 0;
}
