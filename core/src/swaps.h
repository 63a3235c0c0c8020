/* SPDX-License-Identifier: MIT */
/*
 * swaps.h - what a store carries out: its open groups, swaps that were started, the threads, and
 * the slots that are lent.
 */
#ifndef SWAPIOI_SWAPS_H
#define SWAPIOI_SWAPS_H

#include "list.h"
#include "swapio/swap.h"

struct swaps {
	/* Under the store's lock. */
	struct list groups; /* of struct swapio_group */
	struct list jobs;   /* swaps that were started and not fetched */
	unsigned lent;	    /* slots of the pool that callers have */
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

#endif /* SWAPIOI_SWAPS_H */
