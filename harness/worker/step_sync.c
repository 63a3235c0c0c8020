/* SPDX-License-Identifier: MIT */
/*
 * step_sync.c - what a program does around the library so that a loss of power does no harm: sync,
 * and replace a file by a new one.
 */
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "worker.h"

static bool takes_part(const struct step *step, unsigned index, const char *file)
{
	return step_has(step, index) && strcmp(worker.workload.tensors[index].file, file) == 0;
}

/* Is this the first tensor of the step that lies in its file? */
static bool leads(const struct step *step, unsigned index)
{
	if (!step_has(step, index))
		return false;
	for (unsigned i = 0; i < index; i++)
		if (takes_part(step, i, worker.workload.tensors[index].file))
			return false;
	return true;
}

void step_sync(const struct step *step)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (leads(step, i))
			promised_sync_file(worker.workload.tensors[i].file);
	if (step->directory)
		promised_sync_directory();
}

struct replacement { /* of one file */
	const struct step *step;
	const char *file;
	char fresh[WORKLOAD_FILE_BYTES + 8];
	struct {
		uint32_t stored;
		uint64_t bytes;
	} old[WORKLOAD_TENSORS_MAX];
};

static void prepare(struct replacement *it, unsigned index)
{
	struct transfer *transfer = &worker.transfers[index];

	it->old[index].stored = worker.tensors[index].stored;
	it->old[index].bytes = worker.tensors[index].stored_bytes;
	transfer_prepare(it->step, index, true, transfer);
	transfer->size_before = -ENOENT;
}

static void prepare_all(struct replacement *it)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (takes_part(it->step, i, it->file))
			prepare(it, i);
}

static void submit(const struct replacement *it, unsigned index)
{
	struct transfer *transfer = &worker.transfers[index];

	if (!transfer->error)
		transfer->fd = transfer_open(it->step, it->fresh, O_RDWR | O_CREAT);
	if (!transfer->error && transfer->fd < 0)
		transfer_refuse(transfer, transfer->fd, "open", it->fresh);
	transfer_submit(worker.handle, index, transfer);
}

/* -errno of the first that failed. */
static int write_all(struct replacement *it)
{
	int error = 0;

	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (takes_part(it->step, i, it->file))
			submit(it, i);
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		struct transfer *transfer = &worker.transfers[i];

		if (!takes_part(it->step, i, it->file))
			continue;
		if (transfer->submitted)
			transfer_wait(worker.handle, transfer, step_timeout(it->step));
		if (error == 0)
			error = transfer->error ? transfer->error : transfer->result.error;
	}
	return error;
}

static int sync_fresh(const struct replacement *it)
{
	int fd = open(it->fresh, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 || fsync(fd) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

/* The old file stays: nothing of the new one counts. */
static void give_up(struct replacement *it, int error, const char *what)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		struct transfer *transfer = &worker.transfers[i];

		if (!takes_part(it->step, i, it->file))
			continue;
		if (!transfer->error &&
		    (!transfer->submitted || (transfer->done && !transfer->result.error)))
			transfer_refuse(transfer, error, what, it->fresh);
		transfer_finish(i, transfer);
		worker.tensors[i].stored = it->old[i].stored;
		worker.tensors[i].stored_bytes = it->old[i].bytes;
	}
}

static void succeed(struct replacement *it)
{
	promised_renamed(it->file);
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		if (!takes_part(it->step, i, it->file))
			continue;
		transfer_finish(i, &worker.transfers[i]);
		worker.tensors[i].flushed = worker.tensors[i].stored;
		worker.tensors[i].flushed_bytes = worker.tensors[i].stored_bytes;
	}
	promised_sync_directory();
}

/* An earlier one came to nothing. */
static int forget_attempt(const char *fresh)
{
	return unlink(fresh) == 0 || errno == ENOENT ? 0 : -errno;
}

/* The new file, whole and durable under its other name. *@what: where it failed, or what is next.
 */
static int make_fresh(struct replacement *it, const char **what)
{
	int error;

	*what = "unlink";
	error = forget_attempt(it->fresh);
	if (error < 0)
		return error;
	*what = "write";
	error = write_all(it);
	if (error < 0)
		return error;
	*what = "fsync";
	error = sync_fresh(it);
	if (error == 0)
		*what = "rename";
	return error;
}

static void replace(const struct step *step, const char *file)
{
	struct replacement it = {.step = step, .file = file};
	const char *what;
	int error;

	snprintf(it.fresh, sizeof(it.fresh), "%s.new", file);
	prepare_all(&it);
	error = make_fresh(&it, &what);
	if (error == 0 && rename(it.fresh, file) < 0)
		error = -errno;
	if (error < 0)
		give_up(&it, error, what);
	else
		succeed(&it);
}

void step_replace(const struct step *step)
{
	memset(worker.transfers, 0, sizeof(worker.transfers));
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (leads(step, i))
			replace(step, worker.workload.tensors[i].file);
}
