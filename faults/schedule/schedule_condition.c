/* SPDX-License-Identifier: MIT */
/*
 * schedule_condition.c - KEY=VALUE: which conditions there are, at which points they mean
 * something, and what their values look like.
 */
#include <errno.h>
#include <string.h>

#include "schedule_draft.h"
#include "schedule_hint.h"

#define BIT(point) (1ull << POINT_##point)

_Static_assert(POINT_COUNT <= 64, "a set of points is 64 bits");

#define DEVICE_TRANSFERS (BIT(nvme_read) | BIT(nvme_write))
#define DEVICE (DEVICE_TRANSFERS | BIT(nvme_flush))
/* The device knows neither threads nor processes of the guest, nor its files. */
#define OF_PROGRAM (~DEVICE)
#define WAITS (BIT(io_getevents) | BIT(io_pgetevents))
#define ON_CONTEXT (WAITS | BIT(io_submit) | BIT(io_cancel) | BIT(io_destroy) | BIT(io_event))
#define ON_DESCRIPTOR                                                                              \
	(BIT(io_event) | BIT(close) | BIT(pread) | BIT(pwrite) | BIT(fstat) | BIT(ftruncate) |     \
	 BIT(fallocate) | BIT(fsync))
#define ON_FILE (ON_DESCRIPTOR | BIT(open) | BIT(rename) | BIT(unlink))
#define WITH_OFFSET (BIT(io_event) | BIT(pread) | BIT(pwrite) | BIT(fallocate))
#define WITH_LENGTH (WITH_OFFSET | BIT(ftruncate) | BIT(mmap) | BIT(mlock) | BIT(posix_memalign))

static int parse_op(struct scan *scan, struct word value, struct fault *fault)
{
	char quote[SCAN_QUOTE_BYTES];

	if (word_is(value, "read"))
		fault->op = FAULT_OP_READ;
	else if (word_is(value, "write"))
		fault->op = FAULT_OP_WRITE;
	else
		return scan_fail(scan, value.at, "op: '%s' is unknown (allowed: read, write)",
				 word_quote(value, quote));
	return 0;
}

static int parse_call(struct scan *scan, struct word value, struct fault *fault)
{
	char quote[SCAN_QUOTE_BYTES];

	if (word_is(value, "io_getevents"))
		fault->call = FAULT_CALL_GETEVENTS;
	else if (word_is(value, "io_pgetevents"))
		fault->call = FAULT_CALL_PGETEVENTS;
	else
		return scan_fail(scan, value.at,
				 "call: '%s' is unknown (allowed: io_getevents, io_pgetevents)",
				 word_quote(value, quote));
	return 0;
}

static int parse_fd(struct scan *scan, struct word value, struct fault *fault)
{
	static const struct number_rule rule = {"fd", 0, INT32_MAX, false};
	uint64_t number;

	if (scan_number(scan, value, &rule, &number) < 0)
		return -EINVAL;
	fault->fd = (int64_t)number;
	return 0;
}

static int parse_path(struct scan *scan, struct word value, struct fault *fault)
{
	if (value.length == 0)
		return scan_fail(scan, value.at,
				 "path: no pattern given (a glob on the path below the work "
				 "directory, such as *.swp)");
	if (word_copy(value, fault->path, sizeof(fault->path)) < 0)
		return scan_fail(scan, value.at, "path: the pattern has %zu bytes (at most %zu)",
				 value.length, sizeof(fault->path) - 1);
	if (fault->path[0] == '/')
		return scan_fail(scan, value.at,
				 "path: patterns are relative to the work directory: leave the "
				 "first / out");
	return 0;
}

/* A..B, A.. or ..B, half open. */
static int parse_range(struct scan *scan, struct word value, const char *what,
		       struct fault_range *ret_range)
{
	struct number_rule rule = {what, 0, SCHEDULE_ANY - 1, true};
	const char *dots = memmem(value.at, value.length, "..", 2);
	struct word first = value, last;
	char quote[SCAN_QUOTE_BYTES];

	word_quote(value, quote);
	if (!dots || value.length == 2)
		return scan_fail(scan, value.at,
				 "%s: '%s' is not a range (A..B without B itself, A.. or ..B)",
				 what, quote);
	first.length = (size_t)(dots - value.at);
	last = (struct word){dots + 2, value.length - first.length - 2};
	*ret_range = (struct fault_range){0, SCHEDULE_ANY};
	if (first.length && scan_number(scan, first, &rule, &ret_range->begin) < 0)
		return -EINVAL;
	if (last.length && scan_number(scan, last, &rule, &ret_range->end) < 0)
		return -EINVAL;
	if (ret_range->begin >= ret_range->end)
		return scan_fail(scan, value.at,
				 "%s: %s is empty (the end must be above the start)", what, quote);
	return 0;
}

static int parse_offset(struct scan *scan, struct word value, struct fault *fault)
{
	return parse_range(scan, value, "offset", &fault->offset);
}

static int parse_length(struct scan *scan, struct word value, struct fault *fault)
{
	return parse_range(scan, value, "length", &fault->length);
}

static int parse_ready(struct scan *scan, struct word value, struct fault *fault)
{
	static const struct number_rule rule = {"ready", 0, UINT32_MAX, false};

	return scan_number(scan, value, &rule, &fault->ready);
}

static int parse_depth(struct scan *scan, struct word value, struct fault *fault)
{
	static const struct number_rule rule = {"depth", 1, UINT32_MAX, false};

	return scan_number(scan, value, &rule, &fault->depth);
}

static int parse_ctx(struct scan *scan, struct word value, struct fault *fault)
{
	static const struct number_rule rule = {"ctx", 1, UINT32_MAX, false};

	return scan_number(scan, value, &rule, &fault->ctx);
}

static int parse_thread(struct scan *scan, struct word value, struct fault *fault)
{
	static const struct number_rule rule = {"thread", 1, UINT32_MAX, false};

	return scan_number(scan, value, &rule, &fault->thread);
}

static int parse_proc(struct scan *scan, struct word value, struct fault *fault)
{
	static const struct number_rule rule = {"proc", 1, UINT32_MAX, false};

	return scan_number(scan, value, &rule, &fault->proc);
}

static int parse_image(struct scan *scan, struct word value, struct fault *fault)
{
	static const struct number_rule rule = {"image", 1, SCHEDULE_IMAGES_MAX, false};

	return scan_number(scan, value, &rule, &fault->image);
}

static const struct {
	const char *name;
	uint64_t points; /* where it means something */
	int (*parse)(struct scan *scan, struct word value, struct fault *fault);
} conditions[CONDITION_COUNT] = {
	[CONDITION_OP] = {"op", BIT(io_event), parse_op},
	[CONDITION_FD] = {"fd", ON_DESCRIPTOR, parse_fd},
	[CONDITION_PATH] = {"path", ON_FILE, parse_path},
	[CONDITION_OFFSET] = {"offset", WITH_OFFSET | DEVICE_TRANSFERS, parse_offset},
	[CONDITION_LENGTH] = {"length", WITH_LENGTH | DEVICE_TRANSFERS, parse_length},
	[CONDITION_READY] = {"ready", BIT(io_getevents), parse_ready},
	[CONDITION_DEPTH] = {"depth", ON_CONTEXT | DEVICE, parse_depth},
	[CONDITION_CTX] = {"ctx", ON_CONTEXT, parse_ctx},
	[CONDITION_THREAD] = {"thread", OF_PROGRAM, parse_thread},
	[CONDITION_PROC] = {"proc", OF_PROGRAM, parse_proc},
	[CONDITION_IMAGE] = {"image", OF_PROGRAM, parse_image},
	[CONDITION_CALL] = {"call", BIT(io_getevents), parse_call},
};

const char *condition_name(enum condition condition)
{
	return conditions[condition].name;
}

bool condition_applies(enum condition condition, enum point_id point)
{
	return conditions[condition].points & (1ull << point);
}

/* The key is unknown, or means nothing at this point. */
static int fail_key(struct scan *scan, struct word key, enum point_id point)
{
	const char *trouble = "unknown condition";
	char quote[SCAN_QUOTE_BYTES], text[320];
	struct hint hint;

	hint_begin(&hint, key);
	for (unsigned i = 0; i < CONDITION_COUNT; i++) {
		if (condition_applies((enum condition)i, point))
			hint_add(&hint, conditions[i].name);
		else if (word_is(key, conditions[i].name))
			trouble = "no such condition";
	}
	return scan_fail(scan, key.at, "%s '%s' at point %s%s", trouble, word_quote(key, quote),
			 point_info(point)->name, hint_text(&hint, text, sizeof(text)));
}

int condition_parse(struct scan *scan, struct draft *draft)
{
	struct word key = scan_word(scan, "=");
	char quote[SCAN_QUOTE_BYTES];
	unsigned i;

	for (i = 0; i < CONDITION_COUNT; i++)
		if (word_is(key, conditions[i].name))
			break;
	if (i == CONDITION_COUNT || !condition_applies((enum condition)i, draft->fault.point))
		return fail_key(scan, key, draft->fault.point);
	if (draft->condition_at[i])
		return scan_fail(scan, key.at, "condition '%s' is given twice",
				 word_quote(key, quote));
	if (!scan_take(scan, "="))
		return scan_fail(scan, scan->at, "expected %s=VALUE", conditions[i].name);
	draft->condition_at[i] = key.at;
	return conditions[i].parse(scan, scan_word(scan, ""), &draft->fault);
}
