/* SPDX-License-Identifier: MIT */
/*
 * group.h - an open group: the tensors its owner wants, and what is stored of them.
 *
 * What is stored is looked up when the group is opened and known from then on: no other process
 * changes it, and whatever the medium loses of it, a swap-in compares with what was committed.
 */
#ifndef SWAPIOI_GROUP_H
#define SWAPIOI_GROUP_H

#include "list.h"
#include "store.h"
#include "volume.h"

struct swapio_group {
	struct list link; /* of the store's open groups */
	struct store_name name;
	struct swapio_store *store;
	struct manifest *asked; /* constant: what the owner wants, generation 0 */

	/* The running swap's; between swaps they change hands under the store's lock. */
	struct manifest *stored; /* NULL: nothing is */
	struct volume volume;	 /* where it lies; fd -1 without */

	/* Under the store's lock. */
	uint64_t generation; /* of stored, 0 for none */
	struct list jobs;    /* swaps that are not over, in the order in which they were started */
};

/* Free it; in a child after fork the store is not locked. */
void swapioi_group_free(struct swapio_group *group);

#endif /* SWAPIOI_GROUP_H */
