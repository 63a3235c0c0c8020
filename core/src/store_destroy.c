/* SPDX-License-Identifier: MIT */
/*
 * store_destroy.c - removes a whole store, without a handle: only its records are looked at.
 */
#include <errno.h>

#include "error.h"
#include "store_options.h"
#include "store_parts.h"

int swapioi_store_destroy_with(const char *path, const struct swapio_store_options *options,
			       const struct medium_ops *medium_ops, struct swapio_error *error)
{
	struct swapio_store *store = swapioi_store_alloc(NULL, path, options, medium_ops);
	int ret;

	if (!store)
		return swapioi_error(error, -ENOMEM, "%s: no memory to destroy a store", path);
	store->options.create = store->options.read_only = false;
	ret = medium_ops->destroy(store, error);
	swapioi_store_free(store, false);
	return ret;
}

int swapio_store_destroy(const char *path, const struct swapio_store_options *options,
			 struct swapio_error *error)
{
	struct swapio_store_options defaults;
	int ret;

	swapio_store_options_init(&defaults);
	if (!options)
		options = &defaults;
	ret = swapioi_store_options_check(options, error);
	if (ret < 0)
		return ret;
	if (!path || !*path)
		return swapioi_error(error, -ENOENT, "path is empty, and no store is there");
	return swapioi_store_destroy_with(path, options, swapioi_medium_of(path), error);
}
