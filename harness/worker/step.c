/* SPDX-License-Identifier: MIT */
/*
 * step.c - the steps of this process in their order, repeats included.
 */
#include "raw.h"
#include "swap.h"

typedef void step_fn(const struct step *step);

static step_fn *const functions[STEP_COUNT] = {
	[STEP_SWAP_OUT] = step_transfer,
	[STEP_SWAP_IN] = step_transfer,
	[STEP_WRITE] = step_transfer,
	[STEP_READ] = step_transfer,
	[STEP_START] = step_start,
	[STEP_WAIT] = step_wait,
	[STEP_CANCEL] = step_cancel,
	[STEP_TRUNCATE] = step_truncate,
	[STEP_CORRUPT] = step_corrupt,
	[STEP_PREPARE] = step_prepare,
	[STEP_REMOVE] = step_remove,
	[STEP_CLOSE] = step_close,
	[STEP_ABORT] = step_abort,
	[STEP_OPEN] = step_open,
	[STEP_FORK] = step_fork,
	[STEP_IS_PINNED] = step_is_pinned,
	[STEP_DEVICE_RETURN] = step_device_return,
	[STEP_SYNC] = step_sync,
	[STEP_REPLACE] = step_replace,
};

/* Where the tensors are in a store; what is missing here is as without one. */
static step_fn *const with_store[STEP_COUNT] = {
	[STEP_SWAP_OUT] = step_swap,
	[STEP_SWAP_IN] = step_swap,
	[STEP_START] = step_swap_start,
	[STEP_WAIT] = step_swap_wait,
	[STEP_CANCEL] = step_swap_cancel,
	[STEP_TRUNCATE] = step_store_truncate,
	[STEP_CORRUPT] = step_store_corrupt,
	[STEP_REMOVE] = step_store_remove,
	[STEP_STORE_OPEN] = step_store_open,
	[STEP_STORE_CLOSE] = step_store_close,
	[STEP_COPY_VOLUME] = step_copy_volume,
	[STEP_PREPARE] = step_make_store,
	[STEP_RELEASE] = step_release,
	[STEP_VERIFY] = step_verify,
	[STEP_STORE_REMOVE] = step_remove_group,
};

static step_fn *function_of(enum step_kind kind)
{
	step_fn *function = worker.workload.store.used ? with_store[kind] : NULL;

	return function ? function : functions[kind];
}

/* A handle or store that it needs and that could not be opened was told. */
static bool can_run(const struct step *step)
{
	if (!worker.handle && step_needs_handle(step->kind))
		return false;
	return kept.store || !worker.workload.store.used || !step_needs_store(step->kind);
}

int64_t step_timeout(const struct step *step)
{
	return step->timeout_ns < 0 ? SWAPIO_FOREVER : step->timeout_ns;
}

void step_pause(uint32_t step, bool before)
{
	struct wire_pause pause = {.id = worker.wire.id, .step = step, .before = before};

	if (raw_write(worker.fds[WIRE_FD_PAUSE], &pause, sizeof(pause)) != sizeof(pause) ||
	    raw_read(worker.fds[WIRE_FD_PAUSE], &pause, sizeof(pause)) != sizeof(pause))
		syscall(SYS_exit_group, 1); /* the harness is gone */
}

/* Let the harness look at the files as they are now. */
static void pause_for_reader(bool before)
{
	if (worker.wire.pause_steps & UINT64_C(1) << worker.step)
		step_pause(worker.step, before);
}

static void run_one(unsigned index)
{
	const struct step *step = &worker.workload.steps[index];

	worker.step = index;
	tell_step();
	if (!can_run(step))
		return;
	if (step->kind == STEP_VERIFY) /* what it must leave as it is */
		pause_for_reader(true);
	function_of(step->kind)(step);
	pause_for_reader(false);
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
