/* SPDX-License-Identifier: MIT */
/*
 * swaps.h - what a store carries out: its open groups, swaps that were started, the threads that
 * carry them out, and the slots of the pool.
 *
 * A swap is ready when it is the first of its group that is not over. Threads take ready swaps in
 * the order in which they became so; without threads callers that wait do, one at a time.
 */
#ifndef SWAPIOI_SWAPS_H
#define SWAPIOI_SWAPS_H

#include <pthread.h>

#include "list.h"
#include "slots.h"
#include "swapio/swap.h"

#define SWAP_BUCKETS 64

struct swap_job;

/* Carries out one swap at a time. */
struct runner {
	struct swapio_store *store;
	struct window *window;
	bool has_thread;
	pthread_t thread;
};

struct swaps {
	/* Constant after open. */
	struct runner *runners; /* one for each thread; one for callers without threads */
	unsigned runners_count;
	pthread_cond_t work; /* for threads: a swap is ready, or stop */

	/* Under the store's lock. */
	struct list groups;		/* of struct swapio_group */
	struct list jobs[SWAP_BUCKETS]; /* swaps that were started and not fetched, by id */
	struct list ready;		/* swaps that nobody took yet */
	swapio_swap_id last_id;
	unsigned running; /* swaps that are not over */
	bool stop;
	bool driven;		  /* without threads: a caller carries a swap out */
	struct swap_job *current; /* without threads: the swap that was begun and is not over */
	struct slots slots;
};

/* When a store is opened, the pool is there: make lists, start threads. 0 or -errno, nothing left.
 */
int swapioi_swaps_init(struct swapio_store *store, struct swapio_error *error);

/*
 * When a store is closed, after store->closing was set: wait until every swap is over, or until
 * @deadline_ns. 0, or -EBUSY: swaps are not over, a group is open, or a slot is lent.
 */
int swapioi_swaps_drain(struct swapio_store *store, int64_t deadline_ns);

/* Stop the threads and free everything; in a child after fork only free. */
void swapioi_swaps_fini(struct swapio_store *store, bool forked);

/* What follows is called with the store locked. */

/* A swap was started. It has its id. */
void swapioi_swaps_add_locked(struct swapio_store *store, struct swap_job *job);

/* NULL: no such swap, or fetched already. */
struct swap_job *swapioi_swaps_find_locked(struct swapio_store *store, swapio_swap_id id);

/* A swap is over: let the next of its group go on, wake who waits. */
void swapioi_swaps_end_locked(struct swapio_store *store, struct swap_job *job);

/*
 * Wait one step for something to change, until @deadline_ns; without threads carry out swaps
 * meanwhile if nobody else does. Called in a loop; swapioi_swaps_leave_locked() ends the loop.
 */
void swapioi_swaps_step_locked(struct swapio_store *store, int64_t deadline_ns);
void swapioi_swaps_leave_locked(struct swapio_store *store);

#endif /* SWAPIOI_SWAPS_H */
