/* SPDX-License-Identifier: MIT */
/*
 * store_groups.h - which groups a store holds, by the heads of its volumes.
 */
#ifndef SWAPIOI_STORE_GROUPS_H
#define SWAPIOI_STORE_GROUPS_H

#include "store.h"

struct group_item {
	char *name; /* owned; the volume's, when no group is known */
	bool known;
	struct swapio_error why; /* not known: what is wrong with the volume */
};

struct group_items {
	struct group_item *items; /* in the order of names */
	size_t count;
};

/* Every group, and every volume that cannot be told whose it is. 0 or -errno with a sentence. */
int swapioi_groups_collect(struct swapio_store *store, struct group_items *ret_items,
			   struct swapio_error *error);
void swapioi_groups_fini(struct group_items *items);

/* Volumes of the store now; the caller frees them. 0 or -ENOMEM. */
int swapioi_groups_volumes(struct swapio_store *store, struct medium_entry **ret_entries,
			   size_t *ret_count);

#endif /* SWAPIOI_STORE_GROUPS_H */
