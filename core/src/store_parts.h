/* SPDX-License-Identifier: MIT */
/*
 * store_parts.h - a store without a place: for those who open, close and destroy one.
 */
#ifndef SWAPIOI_STORE_PARTS_H
#define SWAPIOI_STORE_PARTS_H

#include "store.h"

/* Locks, names and options, and nothing else. NULL: no memory. */
struct swapio_store *swapioi_store_alloc(struct swapio *handle, const char *path,
					 const struct swapio_store_options *options,
					 const struct medium_ops *medium_ops);
void swapioi_store_free(struct swapio_store *store, bool forked);

/* Destroy with a medium that need not be looked for. */
int swapioi_store_destroy_with(const char *path, const struct swapio_store_options *options,
			       const struct medium_ops *medium_ops, struct swapio_error *error);

/* A range for a block device, a directory for everything else. */
const struct medium_ops *swapioi_medium_of(const char *path);

#endif /* SWAPIOI_STORE_PARTS_H */
