/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of tensors: from the handle, or the program's own, at any address; with a
 * red zone behind it.
 */
#include <string.h>
#include <sys/mman.h>

#include "raw.h"
#include "worker.h"

#define ADVICE_POPULATE_WRITE 23 /* MADV_POPULATE_WRITE */
#define TOUCH_BYTES_MAX ((size_t)1 << 20)
#define OWN_BYTES ((size_t)256 << 10)

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The program's own memory, where it is small: its pages are there for the next case, too. Nobody
 * reads in it what an earlier case left: sources are filled, destinations are poisoned. */
static _Alignas(4096) char own_memory[OWN_BYTES];
static size_t own_used;

static void *take_own(size_t bytes)
{
	char *taken = own_memory + own_used;

	if (page_bytes() > 4096 || bytes > OWN_BYTES - own_used)
		return NULL;
	own_used += bytes;
	return taken;
}

static bool is_own(const char *block)
{
	return block >= own_memory && block < own_memory + OWN_BYTES;
}

/* Those of steps that say other ones, too. */
static unsigned all_tensors(void)
{
	return worker.workload.tensors_count + worker.workload.as_count;
}

void memory_plan(void)
{
	own_used = 0;
	for (unsigned i = 0; i < all_tensors(); i++) {
		worker.tensors[i].origin = workload_origin(&worker.workload, i);
		worker.tensors[i].capacity_bytes = workload_tensor_bytes(&worker.workload, i);
	}
}

/* In one go: it is about to be filled, and a fault for each page takes far longer. Where the
 * kernel cannot (before Linux 5.14), the faults come. */
void memory_touch(void *memory, size_t bytes)
{
	if (bytes <= TOUCH_BYTES_MAX)
		syscall(SYS_madvise, memory, bytes, ADVICE_POPULATE_WRITE);
}

static int allocate_own(struct worker_tensor *tensor, size_t bytes)
{
	long address;

	tensor->block = take_own(bytes);
	if (tensor->block)
		return 0;
	address = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
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
	memory_touch(tensor->block, bytes);
	tensor->block_bytes = bytes;
	tensor->memory = (char *)tensor->block + asked->pointer_offset_bytes;
	return 0;
}

static void free_block(unsigned index)
{
	struct worker_tensor *tensor = &worker.tensors[index];
	int error;

	if (worker.workload.tensors[index].memory == MEMORY_HEAP) {
		if (!is_own(tensor->block))
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
