/* SPDX-License-Identifier: MIT */
/*
 * verdict_shortage.c - did the disk run full under a case? An ENOSPC that no fault made is neither
 * the program's doing nor a part of the scenario: nothing was shown either way.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "points.h"
#include "verdict.h"

static bool ran_out(const struct eventlog_record *record)
{
	bool by_kernel = record->type == EVENTLOG_COMPLETE || record->type == EVENTLOG_CALL;

	return by_kernel && !(record->flags & EVENTLOG_INJECTED) &&
	       (record->result == -ENOSPC || record->result == -EDQUOT);
}

/* What the descriptor of record @index was opened as, or the path that its call was given. */
static const char *file_of(struct eventlog *log, uint64_t index)
{
	const struct eventlog_record *record = eventlog_get(log, index);
	int32_t fd = record->fd;

	if (record->type == EVENTLOG_CALL && record->text[0])
		return record->text;
	while (index--) {
		record = eventlog_get(log, index);
		if (record && record->type == EVENTLOG_FILE && record->fd == fd)
			return record->text;
	}
	return "a file";
}

bool verdict_ran_out_of_disk(const struct observation *seen, char *why, size_t why_bytes)
{
	uint64_t count = eventlog_count(seen->log);

	for (uint64_t i = 0; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(seen->log, i);

		if (!record || !ran_out(record))
			continue;
		snprintf(why, why_bytes,
			 "%s of %s in %.160s: the disk is full, no fault did that; free space "
			 "there, or take another --work-dir",
			 errno_name((int)-record->result), file_of(seen->log, i), seen->work_dir);
		return true;
	}
	return false;
}
