/* SPDX-License-Identifier: MIT */
/*
 * durable_crash.c - the power goes: what was in flight may have arrived, what was not durable may
 * be lost, and the process is gone without another instruction of the program.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "durable_internal.h"
#include "eventlog.h"
#include "runtime.h"

static __attribute__((noreturn)) void end_now(void)
{
	for (;;)
		raw_call(SYS_exit_group, EVENTLOG_EXIT_CRASH);
}

static const char *why_not(void)
{
	if (!runtime_sim())
		return "only sim can lose what is not durable";
	if (!durable_is_active())
		return "what is not durable was not kept";
	return durable_journal->broken[0] ? durable_journal->broken : NULL;
}

static void tell(const struct fault *fault, const struct fault_call *call, uint32_t number,
		 struct durable_count count)
{
	char text[56];

	snprintf(text, sizeof(text), "crash: %u of %u effects not durable are lost", count.dropped,
		 count.live);
	runtime_log_note(text);
	runtime_log_inject(fault, call, number, (int64_t)count.dropped);
}

static void tell_failed(const struct fault *fault, uint32_t number, int error)
{
	char text[56];

	snprintf(text, sizeof(text), "effects could not be taken back: error %d", -error);
	runtime_log_missed(fault, number, text);
}

/* The lock is not dropped again: whoever waits for it ends there. */
static __attribute__((noreturn)) void crash_locked(const struct fault *fault,
						   const struct fault_call *call, uint32_t number)
{
	struct durable_count count = durable_draw((uint64_t)fault->value);
	int result;

	runtime_enter();
	result = durable_undo_all();
	if (result < 0)
		tell_failed(fault, number, result);
	else
		tell(fault, call, number, count);
	durable_journal->used_bytes = 0; /* what is left now is durable */
	end_now();
}

void durable_crash(const struct fault *fault, const struct fault_call *call, uint32_t number)
{
	const char *why = why_not();
	struct simlock_guard guard;

	if (!why) {
		durable_carry_out_inflight();
		guard = durable_lock();
		why = why_not(); /* what was in flight was too much */
		if (!why)
			crash_locked(fault, call, number);
		durable_unlock(&guard);
	}
	runtime_log_missed(fault, number, why);
}
