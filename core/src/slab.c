/* SPDX-License-Identifier: MIT */
/*
 * slab.c - maps, aligns, prefaults and locks memory.
 */
#include "slab.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "align.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void unmap(char *start, char *end)
{
	if (end > start)
		munmap(start, (size_t)(end - start));
}

/* Map more than is needed and give back what sticks out on both sides. */
static void *map_aligned(size_t length_bytes, size_t alignment_bytes)
{
	size_t spare = alignment_bytes > page_bytes() ? alignment_bytes : 0;
	char *base, *mem;

	base = mmap(NULL, length_bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	if (!spare)
		return base;
	mem = base + (round_up((uintptr_t)base, alignment_bytes) - (uintptr_t)base);
	unmap(base, mem);
	unmap(mem + length_bytes, base + length_bytes + spare);
	return mem;
}

/* Touching a page writes a zero where there is a zero. */
static void prefault(char *mem, size_t length_bytes)
{
	if (madvise(mem, length_bytes, MADV_POPULATE_WRITE) == 0)
		return;
	for (size_t at = 0; at < length_bytes; at += page_bytes())
		*(volatile char *)(mem + at) = 0;
}

static void pin(struct slab *slab, size_t wanted_bytes)
{
	if (slab->length_bytes >= HUGE_PAGE_BYTES)
		madvise(slab->mem, slab->length_bytes, MADV_HUGEPAGE);
	madvise(slab->mem, slab->length_bytes, MADV_DONTFORK);
	prefault(slab->mem, slab->length_bytes);
	slab->locked = mlock(slab->mem, slab->length_bytes) == 0;
	if (slab->locked)
		swapioi_pin_add(&slab->pin, slab->mem, wanted_bytes);
}

int swapioi_slab_create(struct slab *slab, size_t length_bytes, size_t alignment_bytes, bool pinned)
{
	size_t mapped_bytes;

	if (!length_bytes || length_bytes > PTRDIFF_MAX)
		return -EINVAL;
	if (length_bytes > PTRDIFF_MAX - 2 * HUGE_PAGE_BYTES)
		return -ENOMEM; /* no room to align it */
	mapped_bytes = round_up(length_bytes, page_bytes());
	if (pinned && length_bytes >= HUGE_PAGE_BYTES && alignment_bytes < HUGE_PAGE_BYTES)
		alignment_bytes = HUGE_PAGE_BYTES;
	*slab = (struct slab){.length_bytes = mapped_bytes};
	slab->mem = map_aligned(mapped_bytes, alignment_bytes);
	if (!slab->mem)
		return -ENOMEM;
	if (pinned)
		pin(slab, length_bytes);
	return 0;
}

void swapioi_slab_destroy(struct slab *slab)
{
	if (!slab->mem)
		return;
	if (slab->locked)
		swapioi_pin_remove(&slab->pin);
	munmap(slab->mem, slab->length_bytes);
	slab->mem = NULL;
}

void swapioi_slab_forget(struct slab *slab)
{
	slab->mem = NULL;
}
