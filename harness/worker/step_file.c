/* SPDX-License-Identifier: MIT */
/*
 * step_file.c - what happens to the files outside of the library: written, cut, flipped, removed.
 */
#include <string.h>

#include "raw.h"
#include "worker.h"

#define CHUNK_BYTES 65536u

static void broken(const char *what, unsigned tensor, long error)
{
	tell_broken("%s %s: %s", what, worker.workload.tensors[tensor].file, strerror((int)-error));
}

static long write_pattern(int fd, const struct pattern *pattern, uint64_t file_offset,
			  uint64_t bytes)
{
	static char chunk[CHUNK_BYTES];
	uint64_t done = 0;

	while (done < bytes) {
		size_t part = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
		long put;

		pattern_fill(pattern, done, chunk, part);
		put = raw_pwrite(fd, chunk, part, file_offset + done);
		if (put <= 0)
			return put ? put : -EIO;
		done += (uint64_t)put;
	}
	return 0;
}

static void prepare(const struct step *step, unsigned index)
{
	const struct tensor *asked = &worker.workload.tensors[index];
	struct worker_tensor *tensor = &worker.tensors[index];
	struct pattern pattern = {worker.wire.seed, index, ++tensor->generation};
	uint64_t bytes = step_transfer_bytes(&worker.workload, step, index);
	int fd = raw_open(asked->file, O_RDWR | O_CREAT, 0666);
	long error = fd;

	if (fd >= 0)
		error = write_pattern(fd, &pattern, asked->file_offset_bytes, bytes);
	/* Direct reads must not find it in memory only. */
	if (error >= 0 && worker.wire.backend == SWAPFAULT_BACKEND_KERNEL &&
	    syscall(SYS_fdatasync, fd) < 0)
		error = -errno;
	if (error < 0)
		broken("prepare", index, error);
	if (fd >= 0)
		raw_close(fd);
	tensor->stored = pattern.generation;
	tensor->stored_bytes = bytes;
	promised_written(index);
}

void step_prepare(const struct step *step)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (step_has(step, i))
			prepare(step, i);
}

void step_truncate(const struct step *step)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		int fd, error;

		if (!step_has(step, i))
			continue;
		fd = raw_open(worker.workload.tensors[i].file, O_RDWR | O_CREAT, 0666);
		error = fd < 0 ? fd : raw_truncate(fd, step->bytes);
		if (error < 0)
			broken("truncate", i, error);
		if (fd >= 0)
			raw_close(fd);
	}
}

static long flip_byte(int fd, uint64_t offset)
{
	char byte;
	long moved = raw_pread(fd, &byte, 1, offset);

	if (moved != 1)
		return moved < 0 ? moved : -ENODATA;
	byte ^= 1;
	moved = raw_pwrite(fd, &byte, 1, offset);
	return moved == 1 ? 0 : moved < 0 ? moved : -EIO;
}

void step_corrupt(const struct step *step)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		const struct tensor *asked = &worker.workload.tensors[i];
		long error;
		int fd;

		if (!step_has(step, i))
			continue;
		fd = raw_open(asked->file, O_RDWR, 0);
		error = fd < 0 ? fd : flip_byte(fd, asked->file_offset_bytes + step->bytes);
		if (error == 0 && syscall(SYS_fdatasync, fd) < 0)
			error = -errno;
		if (error < 0)
			broken("corrupt", i, error);
		if (fd >= 0)
			raw_close(fd);
	}
}

void step_remove(const struct step *step)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		int error = step_has(step, i) ? raw_unlink(worker.workload.tensors[i].file) : 0;

		if (error < 0)
			broken("remove", i, error);
	}
}
