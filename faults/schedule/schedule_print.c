/* SPDX-License-Identifier: MIT */
/*
 * schedule_print.c - faults as text, in the one canonical way: WHEN always written, conditions in a
 * fixed order, byte numbers with the largest suffix that loses nothing.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "schedule_draft.h"

/* Text that may not fit; length goes on counting, as snprintf's result does. */
struct out {
	char *text;
	size_t bytes;
	size_t length;
};

static void put(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *out, const char *format, ...)
{
	size_t used = out->length < out->bytes ? out->length : out->bytes;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(out->bytes ? &out->text[used] : NULL, out->bytes - used, format,
			   arguments);
	va_end(arguments);
	out->length += length > 0 ? (size_t)length : 0;
}

static void put_bytes(struct out *out, uint64_t value)
{
	static const char suffixes[] = "GMK";

	for (unsigned i = 0; value && i < 3; i++) {
		unsigned shift = 30 - 10 * i;

		if (value & ((1ull << shift) - 1))
			continue;
		put(out, "%" PRIu64 "%c", value >> shift, suffixes[i]);
		return;
	}
	put(out, "%" PRIu64, value);
}

static void put_when(struct out *out, const struct fault_when *when)
{
	if (when->first == 1 && when->last == SCHEDULE_ANY && when->step == 1) {
		put(out, "#*");
		return;
	}
	put(out, "#%" PRIu64, when->first);
	if (when->last == when->first)
		return;
	put(out, "..");
	if (when->last != SCHEDULE_ANY)
		put(out, "%" PRIu64, when->last);
	if (when->step != 1)
		put(out, "+%" PRIu64, when->step);
}

static void put_range(struct out *out, enum condition condition, const struct fault_range *range)
{
	if (range->begin == 0 && range->end == SCHEDULE_ANY)
		return;
	put(out, " %s=", condition_name(condition));
	if (range->begin || range->end == SCHEDULE_ANY)
		put_bytes(out, range->begin);
	put(out, "..");
	if (range->end != SCHEDULE_ANY)
		put_bytes(out, range->end);
}

static void put_number(struct out *out, enum condition condition, uint64_t value)
{
	if (value != SCHEDULE_ANY)
		put(out, " %s=%" PRIu64, condition_name(condition), value);
}

static void put_conditions(struct out *out, const struct fault *fault)
{
	if (fault->op != FAULT_OP_ANY)
		put(out, " op=%s", fault->op == FAULT_OP_READ ? "read" : "write");
	if (fault->fd >= 0)
		put(out, " fd=%" PRId64, fault->fd);
	if (fault->path[0])
		put(out, " path=%s", fault->path);
	put_range(out, CONDITION_OFFSET, &fault->offset);
	put_range(out, CONDITION_LENGTH, &fault->length);
	put_number(out, CONDITION_READY, fault->ready);
	put_number(out, CONDITION_DEPTH, fault->depth);
	put_number(out, CONDITION_CTX, fault->ctx);
	put_number(out, CONDITION_THREAD, fault->thread);
	put_number(out, CONDITION_PROC, fault->proc);
	put_number(out, CONDITION_IMAGE, fault->image);
	if (fault->call != FAULT_CALL_ANY)
		put(out, " call=%s",
		    fault->call == FAULT_CALL_GETEVENTS ? "io_getevents" : "io_pgetevents");
}

static void put_signed_bytes(struct out *out, int64_t value)
{
	if (value < 0)
		put(out, "-");
	put_bytes(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void put_until(struct out *out, const struct fault *fault)
{
	switch (fault->until) {
	case FAULT_UNTIL_EVENT:
		put(out, "until=io_event#%" PRIu64, fault->until_number);
		break;
	case FAULT_UNTIL_WAIT:
		put(out, "until=wait#%" PRIu64, fault->until_number);
		break;
	case FAULT_UNTIL_REQUEST:
		put(out, "until=%s#%" PRIu64, point_info(fault->until_point)->name,
		    fault->until_number);
		break;
	case FAULT_UNTIL_TIME:
		if (fault->until_number % 1000)
			put(out, "for=%" PRIu64 "ms", fault->until_number);
		else
			put(out, "for=%" PRIu64 "s", fault->until_number / 1000);
		break;
	case FAULT_UNTIL_NEVER:
	case FAULT_UNTIL_NONE:
		put(out, "until=never");
		break;
	}
}

static void put_argument(struct out *out, const struct fault *fault)
{
	enum kind_argument argument = kind_info(fault->kind)->argument;

	if (argument != ARGUMENT_NONE)
		put(out, ":");
	switch (argument) {
	case ARGUMENT_NONE:
		break;
	case ARGUMENT_ERRNO:
		put(out, "%s", errno_name((int)fault->value));
		break;
	case ARGUMENT_SIGNAL:
		put(out, "%s", signal_name((int)fault->value));
		break;
	case ARGUMENT_UNTIL:
		put_until(out, fault);
		break;
	case ARGUMENT_REMOVAL:
		put(out, "%s", fault_removal_name((enum fault_removal)fault->value));
		break;
	case ARGUMENT_COUNT:
	case ARGUMENT_SEED:
		put(out, "%" PRId64, fault->value);
		break;
	case ARGUMENT_BYTE:
	case ARGUMENT_BYTES:
	case ARGUMENT_OFFSET:
		put_signed_bytes(out, fault->value);
		break;
	}
}

static void put_fault(struct out *out, const struct fault *fault)
{
	put(out, "%s", point_info(fault->point)->name);
	put_when(out, &fault->when);
	put_conditions(out, fault);
	put(out, " => %s", kind_info(fault->kind)->name);
	put_argument(out, fault);
	put(out, "%s%s%s%s%s", fault->after ? " after" : "", fault->direct ? " direct" : "",
	    fault->masked ? " masked" : "", fault->ignored ? " ignored" : "",
	    fault->restart ? " restart" : "");
}

int fault_print(const struct fault *fault, char *text, size_t text_bytes)
{
	struct out out = {.text = text, .bytes = text_bytes};

	put_fault(&out, fault);
	return (int)out.length;
}

int schedule_print(const struct schedule *schedule, char *text, size_t text_bytes)
{
	struct out out = {.text = text, .bytes = text_bytes};

	put(&out, "%s", "");
	for (unsigned i = 0; i < schedule->count; i++) {
		put_fault(&out, &schedule->faults[i]);
		put(&out, "\n");
	}
	return (int)out.length;
}
