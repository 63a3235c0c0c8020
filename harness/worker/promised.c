/* SPDX-License-Identifier: MIT */
/*
 * promised.c - what the program was promised to find again after a loss of power, or of the device:
 * the syncs that it made itself, through libc, and what they answered. Told as "durable" lines;
 * whether the promise was kept is for the harness to see.
 */
#include <string.h>

#include "raw.h"
#include "worker.h"

bool promised_counts(void)
{
	return worker.wire.step_end < worker.workload.steps_count ||
	       workload_has_return(&worker.workload);
}

/* Contents that are durable under a name that is. */
static void tell_promise(unsigned index)
{
	const struct worker_tensor *tensor = &worker.tensors[index];

	if (promised_counts() && tensor->named && tensor->flushed)
		tell_write("durable", index, tensor->flushed, tensor->flushed_bytes);
}

static bool lies_in(unsigned index, const char *file)
{
	return strcmp(worker.workload.tensors[index].file, file) == 0;
}

void promised_written(unsigned index)
{
	struct worker_tensor *tensor = &worker.tensors[index];

	tensor->named = true;
	tensor->flushed = tensor->stored;
	tensor->flushed_bytes = tensor->stored_bytes;
	if (promised_counts())
		tell_write("begun", index, tensor->stored, tensor->stored_bytes);
	tell_promise(index);
}

static int sync_path(const char *path, int flags)
{
	int fd = open(path, flags | O_RDONLY | O_CLOEXEC);
	int error = fd < 0 || fsync(fd) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

/* What a write left unfinished stays unknown: no generation of it was promised. */
static void flushed(unsigned index)
{
	struct worker_tensor *tensor = &worker.tensors[index];

	if (!tensor->stored)
		return;
	tensor->flushed = tensor->stored;
	tensor->flushed_bytes = tensor->stored_bytes;
	tell_promise(index);
}

int promised_sync_file(const char *file)
{
	int error = sync_path(file, 0);

	tell_call("fsync", error, file);
	for (unsigned i = 0; error == 0 && i < worker.workload.tensors_count; i++)
		if (lies_in(i, file))
			flushed(i);
	return error;
}

int promised_sync_directory(void)
{
	int error = sync_path(".", O_DIRECTORY);

	tell_call("fsync", error, "the directory");
	for (unsigned i = 0; error == 0 && i < worker.workload.tensors_count; i++) {
		if (worker.tensors[i].named || raw_size(worker.workload.tensors[i].file) < 0)
			continue;
		worker.tensors[i].named = true;
		tell_promise(i);
	}
	return error;
}

void promised_renamed(const char *file)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (lies_in(i, file))
			worker.tensors[i].named = false;
}
