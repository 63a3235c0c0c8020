/* SPDX-License-Identifier: MIT */
/*
 * schedule_scan.h - the text of a schedule, read from left to right: words, numbers, places, and
 * the one way to say that something is wrong with it.
 *
 * Threads: caller storage.
 */
#ifndef SCHEDULE_SCAN_H
#define SCHEDULE_SCAN_H

#include "schedule.h"

struct scan {
	const char *at;
	const char *line_start;
	unsigned line;
	struct schedule_error *error;
};

/* A piece of the text, not terminated. */
struct word {
	const char *at;
	size_t length;
};

#define SCAN_QUOTE_BYTES 48

void scan_begin(struct scan *scan, const char *text, struct schedule_error *error);
void scan_blanks(struct scan *scan);
/* At the end of a fault: of the text, of the line, or at a semicolon. */
bool scan_at_end(const struct scan *scan);
/* Step over the end of a fault; false at the end of the text. */
bool scan_next(struct scan *scan);
bool scan_take(struct scan *scan, const char *literal);
/* Up to a blank, an end, one of @stops, or "=>". May be empty. */
struct word scan_word(struct scan *scan, const char *stops);
unsigned scan_column(const struct scan *scan, const char *at);

/* Say what is wrong at @at; returns -EINVAL. */
int scan_fail(struct scan *scan, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The word for an error message: printable and short. Returns @quote. */
const char *word_quote(struct word word, char quote[SCAN_QUOTE_BYTES]);
bool word_is(struct word word, const char *text);
/* As a string; -ENAMETOOLONG. */
int word_copy(struct word word, char *text, size_t text_bytes);

/* What may be written for a number. */
struct number_rule {
	const char *what; /* begins the error: "fd" */
	uint64_t min, max;
	bool bytes; /* takes K, M, G */
};

/* The whole @word as a number; 0, -EINVAL with the error said. */
int scan_number(struct scan *scan, struct word word, const struct number_rule *rule,
		uint64_t *ret_value);

#endif /* SCHEDULE_SCAN_H */
