/* SPDX-License-Identifier: MIT */
/*
 * schedule_check.c - faults whose parts are right by themselves and wrong together.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "schedule_draft.h"

/* It is a property of the system, not of one call. */
static int check_missing(struct scan *scan, const struct draft *draft)
{
	if (draft->fault.when.first != 1 || draft->fault.when.last != SCHEDULE_ANY ||
	    draft->fault.when.step != 1)
		return scan_fail(scan, draft->when_at,
				 "missing: a symbol is there or it is not, write #* or nothing");
	for (unsigned i = 0; i < CONDITION_COUNT; i++)
		if (draft->condition_at[i])
			return scan_fail(scan, draft->condition_at[i],
					 "missing: a symbol is there or it is not, "
					 "no condition applies");
	return 0;
}

static int check_signal(struct scan *scan, const struct draft *draft)
{
	const char *at = draft->argument_at ? draft->argument_at : draft->kind_at;

	if (draft->fault.value == SIGKILL)
		return scan_fail(scan, at,
				 "signal: KILL cannot be caught, it only ends the program (use a "
				 "signal such as USR1)");
	if (draft->fault.value == SIGSTOP)
		return scan_fail(scan, at,
				 "signal: STOP cannot be caught; to stop and continue the program "
				 "in the wait, write the kind stop");
	return 0;
}

/* A call that fails at once, or gives few events, looks at no state. */
static int check_no_ready(struct scan *scan, const struct draft *draft)
{
	if (!draft->condition_at[CONDITION_READY])
		return 0;
	return scan_fail(scan, draft->condition_at[CONDITION_READY],
			 "ready: %s needs no state to be made (allowed with: signal, stop, attach)",
			 kind_info(draft->fault.kind)->name);
}

static int check_res(struct scan *scan, const struct draft *draft)
{
	const struct fault *fault = &draft->fault;

	if (fault->op != FAULT_OP_READ)
		return 0;
	switch (fault->value) {
	case ENOSPC:
	case EFBIG:
	case EDQUOT:
	case EROFS:
		return scan_fail(scan, draft->condition_at[CONDITION_OP],
				 "op: a read never fails with %s (allowed: op=write)",
				 errno_name((int)fault->value));
	}
	return 0;
}

static int check_op(struct scan *scan, const struct draft *draft, enum fault_op wanted)
{
	if (draft->fault.op == FAULT_OP_ANY || draft->fault.op == wanted)
		return 0;
	return scan_fail(scan, draft->condition_at[CONDITION_OP],
			 "op: %s is about %ss only (allowed: op=%s)",
			 kind_info(draft->fault.kind)->name,
			 wanted == FAULT_OP_READ ? "read" : "write",
			 wanted == FAULT_OP_READ ? "read" : "write");
}

static int check_rate(struct scan *scan, const struct draft *draft)
{
	if (draft->fault.value)
		return 0;
	return scan_fail(scan, draft->argument_at,
			 "iops: 0 would answer nothing (to hold for ever, write hold:until=never)");
}

/* What is out cannot be pulled out. */
static int check_removal(struct scan *scan, const struct draft *draft)
{
	const struct fault_when *when = &draft->fault.when;

	if (when->first == when->last)
		return 0;
	return scan_fail(scan, draft->when_at,
			 "remove: a device is pulled out once, at the request that #N names "
			 "(#1, #7)");
}

int draft_check(struct scan *scan, const struct draft *draft)
{
	switch ((unsigned)draft->fault.kind) {
	case KIND_io_pgetevents_missing:
		return check_missing(scan, draft);
	case KIND_io_getevents_signal:
		return check_signal(scan, draft);
	case KIND_io_getevents_error:
	case KIND_io_getevents_few:
		return check_no_ready(scan, draft);
	case KIND_io_event_res:
		return check_res(scan, draft);
	case KIND_io_event_stale:
		return check_op(scan, draft, FAULT_OP_READ);
	case KIND_nvme_read_iops:
	case KIND_nvme_write_iops:
		return check_rate(scan, draft);
	case KIND_nvme_read_remove:
	case KIND_nvme_write_remove:
	case KIND_nvme_flush_remove:
		return check_removal(scan, draft);
	case KIND_io_event_lost:
		return check_op(scan, draft, FAULT_OP_WRITE);
	}
	return 0;
}

/* Which events it holds can be told from the text: nothing is filtered out before counting. */
static bool is_plain_hold(const struct fault *fault)
{
	bool of_event = fault->kind == KIND_io_event_hold && fault->until == FAULT_UNTIL_EVENT;

	return (of_event || fault->until == FAULT_UNTIL_REQUEST) && fault->op == FAULT_OP_ANY &&
	       fault->fd < 0 && !fault->path[0] && fault->offset.begin == 0 &&
	       fault->offset.end == SCHEDULE_ANY && fault->length.begin == 0 &&
	       fault->length.end == SCHEDULE_ANY && fault->depth == SCHEDULE_ANY &&
	       fault->thread == SCHEDULE_ANY && fault->proc == SCHEDULE_ANY &&
	       fault->image == SCHEDULE_ANY;
}

static enum point_id point_waited_for(const struct fault *fault)
{
	return fault->until == FAULT_UNTIL_REQUEST ? fault->until_point : POINT_io_event;
}

/* What holds the request that @waits waits for. */
static const struct fault *hold_of(const struct schedule *schedule, const struct fault *waits)
{
	for (unsigned i = 0; i < schedule->count; i++) {
		const struct fault *fault = &schedule->faults[i];

		if (is_plain_hold(fault) && fault->point == point_waited_for(waits) &&
		    fault->ctx == waits->ctx && when_matches(&fault->when, waits->until_number))
			return fault;
	}
	return NULL;
}

/* Does what @first waits for wait, in the end, for itself? */
static bool waits_for_itself(const struct schedule *schedule, const struct fault *first)
{
	const struct fault *fault = first;

	for (unsigned i = 0; fault && i <= schedule->count; i++)
		fault = hold_of(schedule, fault);
	return fault != NULL;
}

int holds_check(const struct schedule *schedule, struct schedule_error *error)
{
	for (unsigned i = 0; i < schedule->count; i++) {
		const struct fault *fault = &schedule->faults[i];

		if (!is_plain_hold(fault) || !waits_for_itself(schedule, fault))
			continue;
		error->line = fault->line;
		error->column = fault->column;
		snprintf(error->text, sizeof(error->text),
			 "hold: %s#%" PRIu64 " is held itself until it is delivered "
			 "(to hold for ever, write hold:until=never)",
			 point_info(point_waited_for(fault))->name, fault->until_number);
		return -EINVAL;
	}
	return 0;
}
