/* SPDX-License-Identifier: MIT */
/*
 * schedule_kind.c - KIND[:ARGUMENT][ OPTION]: which kinds a point has, what their arguments look
 * like, which options belong to which kind.
 */
#include <errno.h>
#include <string.h>

#include "schedule_draft.h"
#include "schedule_hint.h"

#define HOLD_MS_MAX 3600000u
#define TRANSFER_BYTES_MAX 0x7ffff000ull /* the most that one request moves: MAX_RW_COUNT */

static bool errno_is_legal(const struct kind_info *kind, int number)
{
	const char *name = errno_name(number);
	size_t length = strlen(name);
	const char *found = kind->errnos;

	while ((found = strstr(found, name)) != NULL) {
		if ((found == kind->errnos || found[-1] == ' ') &&
		    (found[length] == ' ' || found[length] == '\0'))
			return true;
		found += length;
	}
	return false;
}

static int parse_errno(struct scan *scan, struct word word, struct fault *fault)
{
	const struct kind_info *kind = kind_info(fault->kind);
	char quote[SCAN_QUOTE_BYTES], text[320], name[24];
	struct hint hint;
	int number;

	if (word_copy(word, name, sizeof(name)) < 0 || errno_find(name, &number) < 0)
		number = 0;
	if (number && errno_is_legal(kind, number)) {
		fault->value = number;
		return 0;
	}
	hint_begin(&hint, word);
	hint_add_all(&hint, kind->errnos);
	return scan_fail(scan, word.at,
			 number ? "%s: the real call never returns %s%s"
				: "%s: '%s' is no error name%s",
			 point_info(fault->point)->name, word_quote(word, quote),
			 hint_text(&hint, text, sizeof(text)));
}

static int parse_signal(struct scan *scan, struct word word, struct fault *fault)
{
	char quote[SCAN_QUOTE_BYTES], text[320], name[16];
	struct hint hint;
	int number;

	if (word_copy(word, name, sizeof(name)) == 0 && signal_find(name, &number) == 0) {
		fault->value = number;
		return 0;
	}
	hint_begin(&hint, word);
	for (number = 1; number < 32; number++)
		if (signal_name(number))
			hint_add(&hint, signal_name(number));
	hint_add(&hint, "RTMIN");
	hint_add(&hint, "RTMIN+1");
	return scan_fail(scan, word.at, "'%s' is no signal name%s", word_quote(word, quote),
			 hint_text(&hint, text, sizeof(text)));
}

/* What stands behind @prefix in @word is the number. */
static bool until_prefix(struct word *word, const char *prefix)
{
	size_t length = strlen(prefix);

	if (word->length < length || memcmp(word->at, prefix, length) != 0)
		return false;
	word->at += length;
	word->length -= length;
	return true;
}

/* for=5s, for=200ms: real time, which is the only one that the device has. */
static int parse_for(struct scan *scan, struct word word, struct fault *fault)
{
	static const struct number_rule rule = {"for", 1, HOLD_MS_MAX, false};
	uint64_t factor = 0, value;
	char quote[SCAN_QUOTE_BYTES];

	word_quote(word, quote);
	if (word.length > 2 && memcmp(&word.at[word.length - 2], "ms", 2) == 0) {
		factor = 1;
		word.length -= 2;
	} else if (word.length > 1 && word.at[word.length - 1] == 's') {
		factor = 1000;
		word.length -= 1;
	}
	if (!factor)
		return scan_fail(scan, word.at, "for: '%s' is no time (allowed: 5s, 200ms)", quote);
	if (scan_number(scan, word, &rule, &value) < 0)
		return -EINVAL;
	if (value * factor > HOLD_MS_MAX)
		return scan_fail(scan, word.at, "for: %s is too long (at most an hour)", quote);
	fault->until = FAULT_UNTIL_TIME;
	fault->until_number = value * factor;
	return 0;
}

/* Each with its number behind it. Requests are waited for at the device, the others before it. */
static const struct {
	const char *prefix;
	enum fault_until until;
	enum point_id point; /* of requests */
} until_words[] = {
	{"until=io_event#", FAULT_UNTIL_EVENT, 0},
	{"until=wait#", FAULT_UNTIL_WAIT, 0},
	{"until=nvme.read#", FAULT_UNTIL_REQUEST, POINT_nvme_read},
	{"until=nvme.write#", FAULT_UNTIL_REQUEST, POINT_nvme_write},
	{"until=nvme.flush#", FAULT_UNTIL_REQUEST, POINT_nvme_flush},
};

static int parse_until(struct scan *scan, struct word word, struct fault *fault)
{
	static const struct number_rule rule = {"until", 1, UINT32_MAX, false};
	bool of_device = fault_is_device(fault);
	char quote[SCAN_QUOTE_BYTES];

	if (word_is(word, "until=never")) {
		fault->until = FAULT_UNTIL_NEVER;
		return 0;
	}
	if (of_device && until_prefix(&word, "for="))
		return parse_for(scan, word, fault);
	for (size_t i = 0; i < sizeof(until_words) / sizeof(until_words[0]); i++) {
		if ((until_words[i].until == FAULT_UNTIL_REQUEST) != of_device ||
		    !until_prefix(&word, until_words[i].prefix))
			continue;
		fault->until = until_words[i].until;
		fault->until_point = until_words[i].point;
		return scan_number(scan, word, &rule, &fault->until_number);
	}
	return scan_fail(scan, word.at,
			 "hold: '%s' says not until when (allowed: %s, until=never%s)",
			 word_quote(word, quote),
			 of_device ? "until=nvme.read#N, until=nvme.write#N, until=nvme.flush#N"
				   : "until=io_event#N, until=wait#N",
			 of_device ? ", for=5s, for=200ms" : "");
}

static int parse_removal(struct scan *scan, struct word word, struct fault *fault)
{
	char quote[SCAN_QUOTE_BYTES], text[320];
	struct hint hint;

	hint_begin(&hint, word);
	for (int way = 0; way < FAULT_REMOVALS; way++) {
		if (word_is(word, fault_removal_name((enum fault_removal)way))) {
			fault->value = way;
			return 0;
		}
		hint_add(&hint, fault_removal_name((enum fault_removal)way));
	}
	return scan_fail(scan, word.at, "remove: '%s' is no way to pull a device out%s",
			 word_quote(word, quote), hint_text(&hint, text, sizeof(text)));
}

static struct number_rule value_rule(const struct kind_info *kind)
{
	struct number_rule rule = {kind->name, 0, UINT32_MAX, false};

	switch ((unsigned)kind->argument) {
	case ARGUMENT_SEED:
		rule.max = INT64_MAX;
		break;
	case ARGUMENT_BYTE:
		rule.max = TRANSFER_BYTES_MAX - 1;
		rule.bytes = true;
		break;
	case ARGUMENT_BYTES:
		rule.min = 1;
		rule.max = TRANSFER_BYTES_MAX;
		rule.bytes = true;
		break;
	case ARGUMENT_OFFSET:
		rule.min = 1;
		rule.max = INT64_MAX;
		rule.bytes = true;
		break;
	}
	return rule;
}

/* Backwards in the file, or more than there was. */
static bool takes_sign(enum kind_id kind)
{
	return kind == KIND_io_event_lie || kind == KIND_io_event_misdirect ||
	       kind == KIND_nvme_read_misdirect || kind == KIND_nvme_write_misdirect;
}

static int parse_value(struct scan *scan, struct word word, struct fault *fault)
{
	struct number_rule rule = value_rule(kind_info(fault->kind));
	bool negative = takes_sign(fault->kind) && word.length && word.at[0] == '-';
	uint64_t value;

	if (negative) {
		word.at++;
		word.length--;
	}
	if (scan_number(scan, word, &rule, &value) < 0)
		return -EINVAL;
	fault->value = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

static int parse_argument(struct scan *scan, struct word word, struct fault *fault)
{
	switch (kind_info(fault->kind)->argument) {
	case ARGUMENT_NONE:
		return scan_fail(scan, word.at, "%s takes no argument",
				 kind_info(fault->kind)->name);
	case ARGUMENT_ERRNO:
		return parse_errno(scan, word, fault);
	case ARGUMENT_SIGNAL:
		return parse_signal(scan, word, fault);
	case ARGUMENT_UNTIL:
		return parse_until(scan, word, fault);
	case ARGUMENT_REMOVAL:
		return parse_removal(scan, word, fault);
	case ARGUMENT_COUNT:
	case ARGUMENT_SEED:
	case ARGUMENT_BYTE:
	case ARGUMENT_BYTES:
	case ARGUMENT_OFFSET:
		return parse_value(scan, word, fault);
	}
	return 0;
}

/* What points.def says the kind means without an argument. */
static int take_default(struct scan *scan, struct fault *fault)
{
	const char *text = kind_info(fault->kind)->fallback;

	if (kind_info(fault->kind)->argument == ARGUMENT_NONE)
		return 0;
	return parse_argument(scan, (struct word){text, strlen(text)}, fault);
}

static int parse_name(struct scan *scan, struct draft *draft)
{
	struct word word = scan_word(scan, ":");
	const struct point_info *point = point_info(draft->fault.point);
	char quote[SCAN_QUOTE_BYTES], text[320], name[32];
	struct hint hint;

	draft->kind_at = word.at;
	if (word_copy(word, name, sizeof(name)) == 0 &&
	    kind_find(draft->fault.point, name, &draft->fault.kind) == 0)
		return 0;
	hint_begin(&hint, word);
	for (unsigned i = 0; i < point->kind_count; i++)
		hint_add(&hint, kind_info((enum kind_id)(point->kind_first + i))->name);
	return scan_fail(scan, word.at, "point %s has no kind '%s'%s", point->name,
			 word_quote(word, quote), hint_text(&hint, text, sizeof(text)));
}

static const struct {
	const char *name;
	enum kind_id kind;
	size_t flag; /* its place in struct fault */
} options[] = {
	{"after", KIND_io_event_res, offsetof(struct fault, after)},
	{"direct", KIND_open_error, offsetof(struct fault, direct)},
	{"masked", KIND_io_getevents_signal, offsetof(struct fault, masked)},
	{"ignored", KIND_io_getevents_signal, offsetof(struct fault, ignored)},
	{"restart", KIND_io_getevents_signal, offsetof(struct fault, restart)},
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

static int fail_option(struct scan *scan, struct word word, enum kind_id kind)
{
	const struct kind_info *info = kind_info(kind);
	char quote[SCAN_QUOTE_BYTES], text[320];
	struct hint hint;

	hint_begin(&hint, word);
	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].kind == kind)
			hint_add(&hint, options[i].name);
	word_quote(word, quote);
	if (hint.length == 0)
		return scan_fail(scan, word.at, "unexpected '%s': %s %s takes no option", quote,
				 point_info(info->point)->name, info->name);
	return scan_fail(scan, word.at, "%s %s has no option '%s'%s", point_info(info->point)->name,
			 info->name, quote, hint_text(&hint, text, sizeof(text)));
}

static int parse_option(struct scan *scan, struct draft *draft)
{
	struct word word = scan_word(scan, "");
	char quote[SCAN_QUOTE_BYTES];

	if (draft->option_at)
		return scan_fail(scan, word.at, "unexpected '%s': one option is all",
				 word_quote(word, quote));
	draft->option_at = word.at;
	for (size_t i = 0; i < OPTIONS; i++) {
		if (options[i].kind != draft->fault.kind || !word_is(word, options[i].name))
			continue;
		*(bool *)((char *)&draft->fault + options[i].flag) = true;
		return 0;
	}
	return fail_option(scan, word, draft->fault.kind);
}

int kind_parse(struct scan *scan, struct draft *draft)
{
	int result = parse_name(scan, draft);

	if (result < 0)
		return result;
	if (scan_take(scan, ":")) {
		draft->argument_at = scan->at;
		result = parse_argument(scan, scan_word(scan, ""), &draft->fault);
	} else {
		result = take_default(scan, &draft->fault);
	}
	for (scan_blanks(scan); result == 0 && !scan_at_end(scan); scan_blanks(scan))
		result = parse_option(scan, draft);
	return result;
}
