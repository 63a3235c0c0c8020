/* SPDX-License-Identifier: MIT */
/*
 * step_transfer.c - swap-out, swap-in, write, read: all tensors of a step, at once or one by one,
 * from one thread or several.
 */
#include <pthread.h>
#include <string.h>

#include "raw.h"
#include "worker.h"

#define THREADS_MAX WORKLOAD_TENSORS_MAX

struct share { /* of one thread: tensors first, first + stride, ... */
	const struct step *step;
	struct swapio *handle;
	unsigned first, stride;
	pthread_t thread;
	bool started;
	int open_error;
};

static bool is_write(const struct step *step)
{
	return step->kind == STEP_SWAP_OUT || step->kind == STEP_WRITE;
}

/* The oldest of ours that is pending makes room when requests_max are. */
static bool make_room(const struct share *share, unsigned before)
{
	for (unsigned i = share->first; i < before; i += share->stride) {
		struct transfer *transfer = &worker.transfers[i];

		if (!transfer->submitted || transfer->done || transfer->error)
			continue;
		transfer_wait(share->handle, transfer, step_timeout(share->step));
		return transfer->done;
	}
	return false;
}

static void submit_share(const struct share *share)
{
	for (unsigned i = share->first; i < worker.workload.tensors_count; i += share->stride) {
		struct transfer *transfer = &worker.transfers[i];

		if (!transfer->asked || transfer->error)
			continue;
		while (transfer_submit(share->handle, i, transfer) == -EAGAIN &&
		       make_room(share, i))
			transfer->error = 0;
	}
}

static bool is_pending(const struct transfer *transfer)
{
	return transfer->submitted && !transfer->done && !transfer->error;
}

static void wait_share(const struct share *share)
{
	for (unsigned i = share->first; i < worker.workload.tensors_count; i += share->stride)
		if (is_pending(&worker.transfers[i]))
			transfer_wait(share->handle, &worker.transfers[i],
				      step_timeout(share->step));
}

static void take_result(const struct swapio_result *result)
{
	struct transfer *transfer;

	if (result->tag >= worker.workload.tensors_count) {
		tell_wrong("a result with tag %llu, which no request has",
			   (unsigned long long)result->tag);
		return;
	}
	transfer = &worker.transfers[result->tag];
	if (!is_pending(transfer) || transfer->id != result->id) {
		tell_wrong("tensor %s got a second result, or another request's",
			   worker.workload.tensors[result->tag].name);
		return;
	}
	transfer->result = *result;
	transfer->done = true;
}

/* All at once, where every request on the handle is ours. */
static void wait_all(const struct step *step)
{
	struct swapio_result results[WORKLOAD_TENSORS_MAX];
	unsigned pending = 0;
	int got;

	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		pending += is_pending(&worker.transfers[i]);
	got = swapio_wait_some(worker.handle, pending, WORKLOAD_TENSORS_MAX, step_timeout(step),
			       results);
	for (int i = 0; i < got; i++)
		take_result(&results[i]);
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		struct transfer *transfer = &worker.transfers[i];

		if (!is_pending(transfer))
			continue;
		if (got >= 0)
			tell_wrong("a wait for %u requests ended with %d", pending, got);
		transfer_wait(worker.handle, transfer, 0);
	}
}

static void *run_share(void *argument)
{
	struct share *share = argument;

	submit_share(share);
	wait_share(share);
	return NULL;
}

static void open_share(struct share *share, const struct step *step)
{
	if (!step->own_handles) {
		share->handle = worker.handle;
		return;
	}
	share->open_error = handle_open(&share->handle, NULL);
	if (share->open_error < 0)
		tell_call("open", share->open_error, "a thread's own handle");
}

static void close_share(struct share *share)
{
	int error =
		share->handle == worker.handle ? 0 : swapio_close(share->handle, SWAPIO_FOREVER);

	if (error < 0)
		tell_call("close", error, "a thread's own handle");
}

static void run_threads(const struct step *step, unsigned count)
{
	static struct share shares[THREADS_MAX];

	count = count < THREADS_MAX ? count : THREADS_MAX;
	memset(shares, 0, sizeof(shares));
	for (unsigned i = 0; i < count; i++) {
		shares[i] = (struct share){.step = step, .first = i, .stride = count};
		open_share(&shares[i], step);
	}
	for (unsigned i = 0; i < count; i++) {
		int error = shares[i].open_error ? 0
						 : pthread_create(&shares[i].thread, NULL,
								  run_share, &shares[i]);

		shares[i].started = !error && !shares[i].open_error;
		if (error)
			run_share(&shares[i]); /* no thread to be had: in turn, then */
	}
	for (unsigned i = 0; i < count; i++) {
		if (shares[i].started)
			pthread_join(shares[i].thread, NULL);
		if (!shares[i].open_error)
			close_share(&shares[i]);
	}
}

static void run_at_once(const struct step *step)
{
	struct share all = {.step = step, .handle = worker.handle, .stride = 1};

	if (step->threads > 1) {
		run_threads(step, step->threads);
		return;
	}
	submit_share(&all);
	if (transfer_any_started())
		wait_share(&all);
	else
		wait_all(step);
}

/* The synchronous calls know paths only; by descriptor it is submit and wait. */
static void run_synchronous(const struct step *step, unsigned index)
{
	const struct tensor *tensor = &worker.workload.tensors[index];
	struct transfer *transfer = &worker.transfers[index];
	char *memory = worker.tensors[index].memory;
	int error;

	if (transfer->fd >= 0 || step->timeout_ns >= 0) {
		if (transfer_submit(worker.handle, index, transfer) == 0)
			transfer_wait(worker.handle, transfer, step_timeout(step));
		return;
	}
	if (transfer->op == SWAPIO_WRITE)
		error = swapio_write(worker.handle, tensor->file, tensor->file_offset_bytes, memory,
				     transfer->length_bytes, &transfer->sentence);
	else
		error = swapio_read(worker.handle, tensor->file, tensor->file_offset_bytes, memory,
				    transfer->length_bytes, &transfer->sentence);
	transfer->synchronous = true;
	transfer->submitted = error == 0;
	transfer->done = error == 0;
	transfer->error = error;
	transfer->result.bytes = error ? 0 : transfer->length_bytes;
}

static void finish_all(void)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (worker.transfers[i].asked)
			transfer_finish(i, &worker.transfers[i]);
}

void step_transfer(const struct step *step)
{
	bool in_turn = step->kind == STEP_WRITE || step->kind == STEP_READ;

	memset(worker.transfers, 0, sizeof(worker.transfers));
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		if (!step_has(step, i) || worker.tensors[i].started.submitted)
			continue;
		transfer_prepare(step, i, is_write(step), &worker.transfers[i]);
		if (in_turn && !worker.transfers[i].error)
			run_synchronous(step, i);
	}
	if (!in_turn)
		run_at_once(step);
	finish_all();
}
