/* SPDX-License-Identifier: MIT */
/*
 * step.c - the steps of this process in their order, repeats included.
 */
#include "raw.h"
#include "worker.h"

typedef void step_fn(const struct step *step);

static step_fn *const functions[STEP_COUNT] = {
	[STEP_SWAP_OUT] = step_transfer, [STEP_SWAP_IN] = step_transfer,
	[STEP_WRITE] = step_transfer,	 [STEP_READ] = step_transfer,
	[STEP_START] = step_start,	 [STEP_WAIT] = step_wait,
	[STEP_CANCEL] = step_cancel,	 [STEP_TRUNCATE] = step_truncate,
	[STEP_CORRUPT] = step_corrupt,	 [STEP_PREPARE] = step_prepare,
	[STEP_REMOVE] = step_remove,	 [STEP_CLOSE] = step_close,
	[STEP_ABORT] = step_abort,	 [STEP_OPEN] = step_open,
	[STEP_FORK] = step_fork,	 [STEP_IS_PINNED] = step_is_pinned,
	[STEP_SYNC] = step_sync,	 [STEP_REPLACE] = step_replace,
};

int64_t step_timeout(const struct step *step)
{
	return step->timeout_ns < 0 ? SWAPIO_FOREVER : step->timeout_ns;
}

/* Let the harness look at the files as they are now. */
static void pause_for_reader(void)
{
	struct wire_pause pause = {.id = worker.wire.id, .step = worker.step};

	if (!(worker.wire.pause_steps & UINT64_C(1) << worker.step))
		return;
	if (raw_write(worker.fds[WIRE_FD_PAUSE], &pause, sizeof(pause)) != sizeof(pause) ||
	    raw_read(worker.fds[WIRE_FD_PAUSE], &pause, sizeof(pause)) != sizeof(pause))
		syscall(SYS_exit_group, 1); /* the harness is gone */
}

static void run_one(unsigned index)
{
	const struct step *step = &worker.workload.steps[index];

	worker.step = index;
	tell_step();
	if (!worker.handle && step_needs_handle(step->kind))
		return; /* the open that failed was told */
	functions[step->kind](step);
	pause_for_reader();
}

void step_run_all(void)
{
	unsigned mark = worker.wire.step_first;

	for (unsigned i = mark; i < worker.wire.step_end; i++) {
		const struct step *step = &worker.workload.steps[i];

		if (step->kind != STEP_REPEAT) {
			run_one(i);
			continue;
		}
		for (unsigned round = 1; round < step->count; round++)
			for (unsigned again = mark; again < i; again++)
				run_one(again);
		mark = i + 1;
	}
}
