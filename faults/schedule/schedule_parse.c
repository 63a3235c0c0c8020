/* SPDX-License-Identifier: MIT */
/*
 * schedule_parse.c - from the text of a schedule to its faults: the lines, POINT and WHEN. The rest
 * of a line is in schedule_condition.c, schedule_kind.c and schedule_check.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schedule_draft.h"
#include "schedule_hint.h"

void fault_init(struct fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	fault->when = (struct fault_when){1, SCHEDULE_ANY, 1};
	fault->fd = -1;
	fault->offset = fault->length = (struct fault_range){0, SCHEDULE_ANY};
	fault->ready = fault->depth = SCHEDULE_ANY;
	fault->ctx = fault->thread = fault->proc = fault->image = SCHEDULE_ANY;
}

static int parse_point(struct scan *scan, struct fault *fault)
{
	struct word word = scan_word(scan, "#=");
	char quote[SCAN_QUOTE_BYTES], text[320], name[32];
	struct hint hint;

	if (word_copy(word, name, sizeof(name)) == 0 && point_find(name, &fault->point) == 0)
		return 0;
	if (word.length == 0 && *scan->at == '#')
		return scan_fail(scan, word.at,
				 "expected a point (a comment has a line of its own)");
	hint_begin(&hint, word);
	for (unsigned i = 0; i < POINT_COUNT; i++)
		hint_add(&hint, point_info((enum point_id)i)->name);
	return scan_fail(scan, word.at, "no point '%s'%s", word_quote(word, quote),
			 hint_text(&hint, text, sizeof(text)));
}

static int fail_when(struct scan *scan, struct word word)
{
	char quote[SCAN_QUOTE_BYTES];

	return scan_fail(scan, word.at,
			 "when: '%s' is not understood (allowed: N, N.., N..M, N..+S, N..M+S, *)",
			 word_quote(word, quote));
}

/* One N, M or S out of WHEN: up to the next dot or plus. */
static int when_number(struct scan *scan, struct word *rest, const char *what, uint64_t *ret_value)
{
	struct number_rule rule = {what, 1, SCHEDULE_ANY - 1, false};
	struct word word = {rest->at, 0};

	while (word.length < rest->length && !strchr(".+", rest->at[word.length]))
		word.length++;
	rest->at += word.length;
	rest->length -= word.length;
	return scan_number(scan, word, &rule, ret_value);
}

static bool word_skip(struct word *word, const char *prefix)
{
	size_t length = strlen(prefix);

	if (word->length < length || memcmp(word->at, prefix, length) != 0)
		return false;
	word->at += length;
	word->length -= length;
	return true;
}

/* One call alone has no step, and a range of one is that one: so that equal faults are equal. */
static void when_normalise(struct fault_when *when)
{
	if (when->last - when->first < when->step)
		when->last = when->first;
	if (when->last == when->first)
		when->step = 1;
}

static int parse_when(struct scan *scan, struct fault_when *when)
{
	struct word word = scan_word(scan, ""), rest = word;
	char quote[SCAN_QUOTE_BYTES];

	if (word_is(word, "*"))
		return 0;
	if (word.length == 0)
		return fail_when(scan, word);
	if (when_number(scan, &rest, "when", &when->first) < 0)
		return -EINVAL;
	when->last = when->first;
	if (rest.length == 0)
		return 0;
	if (!word_skip(&rest, ".."))
		return fail_when(scan, word);
	when->last = SCHEDULE_ANY;
	if (rest.length && *rest.at != '+' && when_number(scan, &rest, "when", &when->last) < 0)
		return -EINVAL;
	if (word_skip(&rest, "+") && when_number(scan, &rest, "step", &when->step) < 0)
		return -EINVAL;
	if (rest.length)
		return fail_when(scan, word);
	if (when->last < when->first)
		return scan_fail(scan, word.at, "when: %s is empty (the end is below the start)",
				 word_quote(word, quote));
	when_normalise(when);
	return 0;
}

static int parse_conditions(struct scan *scan, struct draft *draft)
{
	for (;;) {
		scan_blanks(scan);
		if (scan_take(scan, "=>"))
			break;
		if (scan_at_end(scan))
			return scan_fail(scan, scan->at, "expected => KIND");
		if (condition_parse(scan, draft) < 0)
			return -EINVAL;
	}
	scan_blanks(scan);
	return 0;
}

/* POINT[#WHEN] {CONDITION} => KIND[:ARGUMENT][ OPTION] */
static int parse_fault(struct scan *scan, struct fault *ret_fault)
{
	struct draft draft = {0};
	int result;

	fault_init(&draft.fault);
	draft.fault.line = scan->line;
	draft.fault.column = scan_column(scan, scan->at);
	result = parse_point(scan, &draft.fault);
	draft.when_at = scan->at;
	if (result == 0 && scan_take(scan, "#"))
		result = parse_when(scan, &draft.fault.when);
	if (result == 0)
		result = parse_conditions(scan, &draft);
	if (result == 0)
		result = kind_parse(scan, &draft);
	if (result == 0)
		result = draft_check(scan, &draft);
	if (result == 0)
		*ret_fault = draft.fault;
	return result;
}

static int add_fault(struct scan *scan, struct schedule *schedule)
{
	if (schedule->count == SCHEDULE_FAULTS_MAX)
		return scan_fail(scan, scan->at, "one fault too many (at most %d)",
				 SCHEDULE_FAULTS_MAX);
	if (parse_fault(scan, &schedule->faults[schedule->count]) < 0)
		return -EINVAL;
	schedule->count++;
	return 0;
}

static bool skip_comment(struct scan *scan, bool line_start)
{
	if (!line_start || *scan->at != '#')
		return false;
	while (*scan->at != '\0' && *scan->at != '\n')
		scan->at++;
	return true;
}

static int parse_lines(const char *text, struct schedule *schedule, struct schedule_error *error)
{
	struct scan scan;
	bool line_start = true;

	scan_begin(&scan, text, error);
	do {
		scan_blanks(&scan);
		if (!skip_comment(&scan, line_start) && !scan_at_end(&scan) &&
		    add_fault(&scan, schedule) < 0)
			return -EINVAL;
		line_start = *scan.at == '\n';
	} while (scan_next(&scan));
	return holds_check(schedule, error);
}

int schedule_parse(const char *text, struct schedule *ret_schedule, struct schedule_error *error)
{
	/* Not on the stack: with its counters a schedule is larger than many a thread's. */
	struct schedule *schedule = calloc(1, sizeof(*schedule));
	int result = schedule ? parse_lines(text, schedule, error) : -ENOMEM;

	if (!schedule)
		*error = (struct schedule_error){.line = 1, .column = 1, .text = "out of memory"};
	if (result == 0)
		*ret_schedule = *schedule;
	free(schedule);
	return result;
}
