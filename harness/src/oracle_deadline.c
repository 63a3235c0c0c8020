/* SPDX-License-Identifier: MIT */
/*
 * oracle_deadline.c - the case ended in time, and by itself: no hang, no crash.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "oracle.h"

static const char *step_of(const struct observation *seen)
{
	if (!seen->workload->steps_count)
		return "open";
	return step_name(seen->workload->steps[seen->outcome->last_step].kind);
}

/* In sim the preload ends the process the moment nothing can go on. */
static const struct eventlog_record *find_hang(struct eventlog *log)
{
	uint64_t count = log ? eventlog_count(log) : 0;

	while (count--) {
		const struct eventlog_record *record = eventlog_get(log, count);

		if (record && record->type == EVENTLOG_HANG)
			return record;
	}
	return NULL;
}

static void tell_crash(const struct observation *seen, struct case_result *result)
{
	unsigned step = seen->outcome->last_step + 1;

	if (WIFSIGNALED(seen->status))
		result_add(result, "deadline", CLASS_CRASH,
			   "died of signal %d (%s) in step %u (%s)", WTERMSIG(seen->status),
			   strsignal(WTERMSIG(seen->status)), step, step_of(seen));
	else
		result_add(result, "deadline", CLASS_CRASH,
			   "exited with %d in the middle of step %u (%s)",
			   WEXITSTATUS(seen->status), step, step_of(seen));
}

void oracle_deadline(const struct observation *seen, struct case_result *result)
{
	const struct eventlog_record *hang = find_hang(seen->log);

	if (hang)
		result_add(result, "deadline", CLASS_HANG, "hangs in step %u (%s): %s%s%s",
			   seen->outcome->last_step + 1, step_of(seen), hang->text,
			   seen->story[0] ? "; " : "", seen->story);
	else if (seen->overdue)
		result_add(result, "deadline", CLASS_HANG,
			   "not done after %" PRId64 " ms, in step %u (%s)%s%s",
			   seen->deadline_ns / 1000000, seen->outcome->last_step + 1, step_of(seen),
			   seen->story[0] ? ": " : "", seen->story);
	else if (!seen->outcome->ended && !seen->outcome->broken[0])
		tell_crash(seen, result);
}
