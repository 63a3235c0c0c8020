/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of tensors: from the handle, or the program's own, at any address; with a
 * red zone behind it.
 */
#include <string.h>
#include <sys/mman.h>

#include "raw.h"
#include "worker.h"

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t memory_transfer_bytes(const struct step *step, unsigned tensor)
{
	const struct tensor *asked = &worker.workload.tensors[tensor];
	uint64_t numel = step->numel == UINT64_MAX ? asked->numel : step->numel;
	enum dtype dtype = step->dtype < 0 ? asked->dtype : (enum dtype)step->dtype;

	return numel * dtype_bytes(dtype);
}

/* Those of steps that say other ones, too. */
static unsigned all_tensors(void)
{
	return worker.workload.tensors_count + worker.workload.as_count;
}

static unsigned origin_of(unsigned tensor)
{
	unsigned first = 0;

	while (strcmp(worker.workload.tensors[first].name, worker.workload.tensors[tensor].name))
		first++;
	return first;
}

/* How much memory each tensor needs: what its longest transfer takes. */
void memory_plan(void)
{
	for (unsigned i = 0; i < all_tensors(); i++) {
		struct worker_tensor *tensor = &worker.tensors[i];

		tensor->origin = origin_of(i);
		tensor->capacity_bytes = tensor_bytes(&worker.workload.tensors[i]);
		for (unsigned s = 0; s < worker.workload.steps_count; s++) {
			uint64_t bytes = memory_transfer_bytes(&worker.workload.steps[s], i);

			if (step_has(&worker.workload.steps[s], i) &&
			    bytes > tensor->capacity_bytes)
				tensor->capacity_bytes = bytes;
		}
	}
}

static int allocate_own(struct worker_tensor *tensor, size_t bytes)
{
	long address = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (address == -1)
		return -errno;
	tensor->block = (void *)address;
	return 0;
}

int memory_get(unsigned index)
{
	const struct tensor *asked = &worker.workload.tensors[index];
	struct worker_tensor *tensor = &worker.tensors[index];
	size_t bytes = tensor->capacity_bytes + asked->pointer_offset_bytes + WORKER_RED_ZONE_BYTES;
	int error;

	if (tensor->memory)
		return 0;
	bytes = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
	if (asked->memory == MEMORY_HEAP)
		error = allocate_own(tensor, bytes);
	else
		error = swapio_buffer_alloc(
			worker.handle, bytes,
			asked->memory == MEMORY_PINNED ? SWAPIO_BUFFER_PINNED : 0, &tensor->block);
	if (error < 0)
		return error;
	tensor->block_bytes = bytes;
	tensor->memory = (char *)tensor->block + asked->pointer_offset_bytes;
	return 0;
}

static void free_block(unsigned index)
{
	struct worker_tensor *tensor = &worker.tensors[index];
	int error;

	if (worker.workload.tensors[index].memory == MEMORY_HEAP) {
		syscall(SYS_munmap, tensor->block, tensor->block_bytes);
		return;
	}
	if (!worker.handle)
		return;
	error = swapio_buffer_free(worker.handle, tensor->block);
	if (error < 0 && !tensor->started.submitted && !worker.aborted)
		tell_wrong("swapio_buffer_free of idle tensor %s: %s",
			   worker.workload.tensors[index].name, strerror(-error));
}

void memory_forget_all(bool free_it)
{
	for (unsigned i = 0; i < all_tensors(); i++) {
		struct worker_tensor *tensor = &worker.tensors[i];

		if (!tensor->memory)
			continue;
		if (free_it || worker.workload.tensors[i].memory == MEMORY_HEAP)
			free_block(i);
		tensor->memory = NULL;
		tensor->block = NULL;
	}
}
