/* SPDX-License-Identifier: MIT */
/*
 * window.h - moves the pieces of one swap: many requests in flight, ended in order, so that the
 * handle's queues stay full across small tensors while checksums are added up byte after byte.
 *
 * Threads: one owner at a time. A turn that meets its deadline leaves everything in flight, and
 *          the next one goes on.
 */
#ifndef SWAPIOI_WINDOW_H
#define SWAPIOI_WINDOW_H

#include <stdatomic.h>

#include "piece.h"
#include "volume.h"

struct window;

/* What is to be moved: constant while it is, but for its cursor and the result. */
struct transfer {
	struct cutter cutter;
	enum swapio_swap_op op;
	const struct volume *volume;
	struct manifest *manifest;	   /* swap-out: gets its checksums */
	const _Atomic bool *cancelled;	   /* by anyone, while it moves */
	struct swapio_swap_result *result; /* what moved, and the first failure, in words unless
					      it was cancelled */
};

/* @size: requests in flight at most. 0 or -ENOMEM. */
int swapioi_window_create(struct swapio_store *store, unsigned size, struct window **ret_window);
void swapioi_window_destroy(struct window *window);

/* Requests in flight for each of a store's @runners, so that they leave room for others. */
unsigned swapioi_window_size(const struct swapio_store *store, unsigned runners);

/* Nothing may be in flight; starts nothing yet. */
void swapioi_window_begin(struct window *window, const struct transfer *transfer);

/*
 * Move until everything is moved, or failed and drained: true. False: @deadline_ns passed first;
 * 0 looks once.
 */
bool swapioi_window_turn(struct window *window, int64_t deadline_ns);

#endif /* SWAPIOI_WINDOW_H */
