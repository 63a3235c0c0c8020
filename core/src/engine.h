/* SPDX-License-Identifier: MIT */
/*
 * engine.h - how blocks reach the kernel and come back; one table of functions for each engine.
 *
 * Threads: an engine belongs to one queue, and is called by that queue's owner only; wait_call may
 *          be asked by anyone.
 */
#ifndef SWAPIOI_ENGINE_H
#define SWAPIOI_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swapio/handle.h"

struct engine;

/* One transfer of contiguous memory; @index, below the count of create, names it. */
struct engine_io {
	unsigned index;
	int fd;
	bool write;
	char *mem;
	uint64_t offset_bytes;
	size_t length_bytes;
	uintptr_t cookie; /* comes back in the event */
};

/* What came back; @cookie is whatever the kernel delivered and may be anything. */
struct engine_event {
	uintptr_t cookie;
	int64_t result; /* bytes, or -errno */
};

struct engine_ops {
	const char *name;

	/*
	 * Make an engine for @depth transfers in flight, out of @count different indexes.
	 * 0, -EAGAIN (the kernel grants no context of that depth), -ENOMEM, -ENOSYS, ...
	 */
	int (*create)(unsigned depth, unsigned count, struct engine **ret_engine);

	/* Returns when the kernel is done with every transfer: no DMA can happen after it. */
	void (*destroy)(struct engine *engine);

	/* In a child after fork: free the copy's memory, leave the parent's context alone. */
	void (*forget)(struct engine *engine);

	/*
	 * Start a prefix of @ios. Returns its length, 0 or -EAGAIN if the kernel takes none now, or
	 * another -errno that concerns ios[0] only.
	 */
	int (*submit)(struct engine *engine, struct engine_io *const *ios, unsigned count);

	/*
	 * Wait for @min to @max events or @timeout_ns (0: look only, INT64_MAX: for ever). Returns
	 * the number of events, which may be fewer than @min, or -EINTR, or another -errno.
	 */
	int (*wait)(struct engine *engine, unsigned min, unsigned max, int64_t timeout_ns,
		    struct engine_event *events);

	enum swapio_wait_call (*wait_call)(const struct engine *engine);
};

/* NULL means "aio". NULL is returned for unknown names. */
const struct engine_ops *swapioi_engine_find(const char *name);

#endif /* SWAPIOI_ENGINE_H */
