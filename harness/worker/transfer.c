/* SPDX-License-Identifier: MIT */
/*
 * transfer.c - one tensor's way through the library: memory made ready, submitted, waited for,
 * told, and its bytes looked at.
 */
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "worker.h"

static const struct tensor *tensor_of(unsigned index)
{
	return &worker.workload.tensors[index];
}

static struct pattern pattern_of(unsigned tensor, uint32_t generation)
{
	return (struct pattern){worker.wire.seed, tensor, generation};
}

/* An open of the program under test, not of ours: faults may hit it as they hit the library's. */
int transfer_open(const struct step *step, const char *path, int flags)
{
	int fd;

	flags |= O_CLOEXEC;
	fd = open(path, step->buffered_fd ? flags : flags | O_DIRECT, 0666);

	if (fd < 0 && errno == EINVAL)
		fd = open(path, flags, 0666); /* no direct I/O on this file system */
	return fd < 0 ? -errno : fd;
}

static void fill_or_poison(unsigned index, const struct transfer *transfer)
{
	struct worker_tensor *tensor = &worker.tensors[index];
	struct pattern pattern = pattern_of(index, transfer->generation);

	if (transfer->op == SWAPIO_WRITE)
		pattern_fill(&pattern, 0, tensor->memory, transfer->length_bytes);
	else
		pattern_poison(tensor->memory, tensor->capacity_bytes + WORKER_RED_ZONE_BYTES);
}

static uint32_t generation_for(const struct step *step, struct worker_tensor *tensor, bool write)
{
	if (!write)
		return tensor->stored;
	if (step->kind == STEP_WRITE && tensor->generation)
		return tensor->generation;
	return ++tensor->generation;
}

int transfer_refuse(struct transfer *transfer, int error, const char *what, const char *name)
{
	transfer->submitted = transfer->done = false;
	transfer->error = error;
	snprintf(transfer->sentence.text, sizeof(transfer->sentence.text), "%s: %s: %s", what, name,
		 strerror(-error));
	return error;
}

/* In a later process, or on a device that returned, it says whether there is something to read. */
static bool size_matters(bool write)
{
	return write || worker.wire.step_first > 0 || worker.device_returned;
}

/* From now on it may be in the file, whatever is told later. */
static void tell_begun(unsigned index, const struct transfer *transfer)
{
	if (transfer->op == SWAPIO_WRITE && promised_counts())
		tell_write("begun", index, transfer->generation, transfer->length_bytes);
}

/* A write that was shorter than this read leaves older bytes behind it; generation 0: a write
 * failed, so nobody knows what the file holds. */
static uint64_t known_bytes(unsigned index, const struct transfer *transfer)
{
	uint64_t stored = worker.tensors[index].stored_bytes;

	if (transfer->op == SWAPIO_WRITE)
		return transfer->length_bytes;
	if (!transfer->generation)
		return 0;
	return stored < transfer->length_bytes ? stored : transfer->length_bytes;
}

void transfer_prepare(const struct step *step, unsigned index, bool write,
		      struct transfer *transfer)
{
	struct worker_tensor *tensor = &worker.tensors[index];
	int error = memory_get(index);

	*transfer = (struct transfer){
		.asked = true,
		.op = write ? SWAPIO_WRITE : SWAPIO_READ,
		.generation = generation_for(step, tensor, write),
		.length_bytes = step_transfer_bytes(&worker.workload, step, index),
		.size_before = size_matters(write) ? raw_size(tensor_of(index)->file) : 0,
		.fd = -1,
	};
	if (error < 0) {
		transfer_refuse(transfer, error, "buffer", tensor_of(index)->name);
		return;
	}
	transfer->known_bytes = known_bytes(index, transfer);
	fill_or_poison(index, transfer);
	tell_begun(index, transfer);
	if (!step->by_fd)
		return;
	transfer->fd =
		transfer_open(step, tensor_of(index)->file, write ? O_RDWR | O_CREAT : O_RDONLY);
	if (transfer->fd < 0)
		transfer_refuse(transfer, transfer->fd, "open", tensor_of(index)->file);
}

int transfer_submit(struct swapio *handle, unsigned index, struct transfer *transfer)
{
	struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = transfer->op,
		.path = transfer->fd < 0 ? tensor_of(index)->file : NULL,
		.fd = transfer->fd,
		.offset_bytes = tensor_of(index)->file_offset_bytes,
		.length_bytes = transfer->length_bytes,
		.buf = worker.tensors[index].memory,
		.tag = index,
	};

	if (transfer->error)
		return transfer->error;
	transfer->error = swapio_submit(handle, &io, &transfer->sentence, &transfer->id);
	transfer->submitted = transfer->error == 0;
	/* What it will hold is not known before it ended well. */
	if (transfer->submitted && transfer->op == SWAPIO_WRITE)
		worker.tensors[index].stored = 0;
	return transfer->error;
}

void transfer_wait(struct swapio *handle, struct transfer *transfer, int64_t timeout_ns)
{
	transfer->error = swapio_wait(handle, transfer->id, timeout_ns, &transfer->result);
	transfer->done = transfer->error == 0;
	if (!transfer->done)
		snprintf(transfer->sentence.text, sizeof(transfer->sentence.text), "wait: %s",
			 strerror(-transfer->error));
}

/* Behind the bytes asked for nothing may have been written. */
static void check_red_zone(unsigned index, const struct transfer *transfer)
{
	const struct worker_tensor *tensor = &worker.tensors[index];
	uint64_t begin = transfer->length_bytes;
	uint64_t end = tensor->capacity_bytes + WORKER_RED_ZONE_BYTES;

	for (uint64_t at = begin; at < end && at < begin + WORKER_RED_ZONE_BYTES; at++) {
		if ((unsigned char)tensor->memory[at] == PATTERN_POISON)
			continue;
		tell_wrong("tensor %s: byte %llu behind the %llu bytes read was written",
			   tensor_of(index)->name, (unsigned long long)(at - begin),
			   (unsigned long long)transfer->length_bytes);
		return;
	}
}

static void check_data(unsigned index, const struct transfer *transfer)
{
	static const char *names[WORKLOAD_TENSORS_MAX];
	struct pattern pattern = pattern_of(index, transfer->generation);
	struct pattern_finding finding;

	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		names[i] = tensor_of(i)->name;
	if (transfer->known_bytes &&
	    pattern_check(&pattern, 0, worker.tensors[index].memory, transfer->known_bytes, names,
			  worker.workload.tensors_count, &finding))
		tell_data(index, &finding);
	else if (transfer->known_bytes < transfer->length_bytes)
		compare_with_file(index, transfer);
	if (transfer->op == SWAPIO_READ)
		check_red_zone(index, transfer);
}

/* Its time was up, but the library still has the buffer: a later wait fetches it. */
static void keep_pending(unsigned index, struct transfer *transfer)
{
	struct transfer *started = &worker.tensors[index].started;

	transfer->error = 0;
	if (started != transfer)
		*started = *transfer;
	transfer->asked = false;
}

void transfer_finish(unsigned index, struct transfer *transfer)
{
	bool whole = transfer->done && !transfer->result.error;

	if (transfer->done && transfer->result.error)
		swapio_result_text(&transfer->result, transfer->sentence.text,
				   sizeof(transfer->sentence.text));
	tell_transfer(index, transfer);
	/* A source that changed is as wrong as a destination that did not. */
	if (whole)
		check_data(index, transfer);
	if (whole && transfer->op == SWAPIO_WRITE) {
		worker.tensors[index].stored = transfer->generation;
		worker.tensors[index].stored_bytes = transfer->length_bytes;
	}
	if (transfer->submitted && !transfer->done) {
		keep_pending(index, transfer);
		return;
	}
	if (transfer->fd >= 0)
		close(transfer->fd);
	transfer->asked = false;
}
