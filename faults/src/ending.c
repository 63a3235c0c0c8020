/* SPDX-License-Identifier: MIT */
/*
 * ending.c - ends the process where a fault says so.
 */
#include "ending.h"

#include <signal.h>

#include "durable.h"
#include "rawcall.h"
#include "runtime.h"

/*
 * The kernel carries out what is in flight when a process is killed; so does sim. Nobody is in the
 * middle of an effect that the journal has to know of: its lock is ours, and is never given back.
 */
static __attribute__((noreturn)) void kill_now(const struct fault *fault,
					       const struct fault_call *call, uint32_t number)
{
	if (runtime_sim())
		durable_carry_out_inflight();
	durable_stop();
	runtime_enter();
	runtime_log_inject(fault, call, number, 0);
	for (;;)
		raw_call(SYS_kill, raw_call(SYS_getpid), SIGKILL);
}

void ending_at(const struct fault *fault, const struct fault_call *call, uint32_t number)
{
	if (fault_kills(fault))
		kill_now(fault, call, number);
	durable_crash(fault, call, number);
}

void ending_of(struct firing *firing, const struct fault_call *call, uint32_t number)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < firing->count; i++) {
		if (fault_ends_process(firing->faults[i]))
			ending_at(firing->faults[i], call, number);
		else
			firing->faults[kept++] = firing->faults[i];
	}
	firing->count = kept;
}
