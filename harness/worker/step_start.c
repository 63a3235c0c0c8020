/* SPDX-License-Identifier: MIT */
/*
 * step_start.c - transfers that one step starts and another one waits for or cancels.
 */
#include <string.h>

#include "raw.h"
#include "worker.h"

void step_start(const struct step *step)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		struct transfer *transfer = &worker.tensors[i].started;

		if (!step_has(step, i))
			continue;
		if (transfer->submitted) {
			tell_broken("start: tensor %s is on its way already",
				    worker.workload.tensors[i].name);
			continue;
		}
		transfer_prepare(step, i, step->write, transfer);
		if (transfer_submit(worker.handle, i, transfer) < 0)
			transfer_finish(i, transfer);
	}
}

static unsigned count_started(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		count += worker.tensors[i].started.submitted;
	return count;
}

bool transfer_any_started(void)
{
	return count_started() > 0;
}

void transfer_forget_started(void)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		struct transfer *transfer = &worker.tensors[i].started;

		if (transfer->submitted && transfer->fd >= 0)
			raw_close(transfer->fd);
		*transfer = (struct transfer){0};
	}
}

static void take_result(const struct swapio_result *result)
{
	struct transfer *transfer = NULL;

	if (result->tag < worker.workload.tensors_count)
		transfer = &worker.tensors[result->tag].started;
	if (!transfer || !transfer->submitted || transfer->id != result->id) {
		tell_wrong("a wait gave the result of no request that is pending (tag %llu)",
			   (unsigned long long)result->tag);
		return;
	}
	transfer->result = *result;
	transfer->done = true;
	transfer_finish((unsigned)result->tag, transfer);
	*transfer = (struct transfer){0};
}

void step_wait(const struct step *step)
{
	struct swapio_result results[WORKLOAD_TENSORS_MAX];
	unsigned started = count_started();
	int got = swapio_wait_some(worker.handle, started, WORKLOAD_TENSORS_MAX, step_timeout(step),
				   results);

	tell_call("wait", got < 0 ? got : 0, "");
	for (int i = 0; i < got; i++)
		take_result(&results[i]);
	if (got >= 0 && (unsigned)got != started)
		tell_wrong("a wait for %u requests ended with %d", started, got);
}

void step_cancel(const struct step *step)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		const struct transfer *transfer = &worker.tensors[i].started;

		if (step_has(step, i) && transfer->submitted)
			tell_call("cancel", swapio_cancel(worker.handle, transfer->id), "");
	}
}

unsigned transfer_drain(int64_t timeout_ns)
{
	unsigned lost = 0;

	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		struct transfer *transfer = &worker.tensors[i].started;

		if (!transfer->submitted)
			continue;
		transfer_wait(worker.handle, transfer, timeout_ns);
		lost += !transfer->done;
		transfer_finish(i, transfer);
		if (transfer->done)
			*transfer = (struct transfer){0};
	}
	worker.aborted |= lost > 0;
	return lost;
}
