/* SPDX-License-Identifier: MIT */
/*
 * oracle_check.c - what the preload caught the program at, on the spot, as a finding.
 */
#include <inttypes.h>

#include "oracle.h"
#include "points.h"

static enum failure_class class_of(const struct eventlog_record *record)
{
	switch ((enum eventlog_check)record->result) {
	case EVENTLOG_CHECK_MEMORY:
		return CLASS_CORRUPTION;
	case EVENTLOG_CHECK_LEFT:
		return CLASS_LEAK;
	case EVENTLOG_CHECK_WAIT:
	case EVENTLOG_CHECK_TIMED_WAIT:
		return CLASS_CONTRACT;
	}
	return CLASS_CONTRACT;
}

void oracle_check(const struct eventlog_record *record, struct case_result *result)
{
	if (record->point == POINT_io_event)
		result_add(result, "ledger", class_of(record),
			   "block %u of context %u (bytes %" PRIu64 " + %" PRIu64 "): %s",
			   record->number & INT32_MAX, record->ctx, record->offset, record->length,
			   record->text);
	else
		result_add(result, "ledger", class_of(record), "context %u: %s", record->ctx,
			   record->text);
}
