/* SPDX-License-Identifier: MIT */
/*
 * swaps.c - groups, swaps and threads of a store: none yet.
 */
#include "swaps.h"

#include <errno.h>

#include "store.h"

int swapioi_swaps_init(struct swapio_store *store, struct swapio_error *error)
{
	(void)error;
	list_init(&store->swaps.groups);
	list_init(&store->swaps.jobs);
	return 0;
}

int swapioi_swaps_drain(struct swapio_store *store, int64_t deadline_ns)
{
	(void)deadline_ns;
	return list_empty(&store->swaps.groups) && list_empty(&store->swaps.jobs) ? 0 : -EBUSY;
}

void swapioi_swaps_fini(struct swapio_store *store, bool forked)
{
	(void)store, (void)forked;
}
