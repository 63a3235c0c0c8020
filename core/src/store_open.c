/* SPDX-License-Identifier: MIT */
/*
 * store_open.c - makes a store of its parts: a place, a pool, and what carries out swaps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "fork.h"
#include "handle.h"
#include "store.h"
#include "store_options.h"
#include "store_parts.h"

static void init_locks(struct swapio_store *store)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&store->lock, NULL);
	pthread_cond_init(&store->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

struct swapio_store *swapioi_store_alloc(struct swapio *handle, const char *path,
					 const struct swapio_store_options *options,
					 const struct medium_ops *medium_ops)
{
	struct swapio_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->path = strdup(path);
	if (!store->path) {
		free(store);
		return NULL;
	}
	store->handle = handle;
	store->options = *options;
	store->medium_ops = medium_ops;
	store->medium.lock_fd = store->medium.place_fd = -1;
	store->epoch = swapioi_fork_epoch();
	list_init(&store->names);
	init_locks(store);
	return store;
}

void swapioi_store_free(struct swapio_store *store, bool forked)
{
	if (!forked) {
		pthread_cond_destroy(&store->changed);
		pthread_mutex_destroy(&store->lock);
	}
	free(store->path);
	free(store);
}

/* All slots are in one slab, so one tells of all. */
static bool is_locked(struct swapio_store *store)
{
	bool locked;
	void *slot;

	if (swapio_pool_acquire(store->pool, 0, &slot) < 0)
		return false;
	locked = swapio_is_pinned(store->handle, slot, store->slot_bytes);
	swapio_pool_release(store->pool, slot);
	return locked;
}

static int make_pool(struct swapio_store *store, struct swapio_error *error)
{
	const struct swapio_store_options *options = &store->options;
	int ret = swapio_pool_create(store->handle, options->slot_bytes, options->slots,
				     &store->pool);

	if (ret < 0)
		return swapioi_error(error, ret, "no memory for a pool of %u slots of %zu bytes",
				     options->slots, options->slot_bytes);
	store->slot_bytes = swapio_pool_slot_bytes(store->pool);
	store->staging_slots = swapioi_store_staging_slots(options);
	store->pool_locked = is_locked(store);
	return 0;
}

/* The place comes first: what is refused there costs no memory. */
static int open_parts(struct swapio_store *store, struct swapio_error *error)
{
	int ret = store->medium_ops->open(store, error);

	if (ret < 0)
		return ret;
	ret = make_pool(store, error);
	if (ret < 0)
		goto no_pool;
	ret = swapioi_swaps_init(store, error);
	if (ret == 0)
		return 0;
	swapio_pool_destroy(store->pool);
no_pool:
	store->medium_ops->close(store, false);
	return ret;
}

int swapioi_store_open_with(struct swapio *handle, const char *path,
			    const struct swapio_store_options *options,
			    const struct medium_ops *medium_ops, struct swapio_error *error,
			    struct swapio_store **ret_store)
{
	struct swapio_store *store = swapioi_store_alloc(handle, path, options, medium_ops);
	int ret;

	if (!store)
		return swapioi_error(error, -ENOMEM, "%s: no memory for a store", path);
	ret = open_parts(store, error);
	if (ret < 0) {
		swapioi_store_free(store, false);
		return ret;
	}
	swapioi_fork_join(&store->fork, &store->lock);
	*ret_store = store;
	return 0;
}

/* What is not there yet will be a directory. */
const struct medium_ops *swapioi_medium_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISBLK(st.st_mode) ? &swapioi_medium_range
							   : &swapioi_medium_dir;
}

int swapio_store_open(struct swapio *handle, const char *path,
		      const struct swapio_store_options *options, struct swapio_error *error,
		      struct swapio_store **ret_store)
{
	struct swapio_store_options defaults;
	int ret;

	swapio_store_options_init(&defaults);
	if (!options)
		options = &defaults;
	ret = swapioi_store_options_check(options, error);
	if (ret < 0)
		return ret;
	if (swapioi_fork_passed(handle->epoch))
		return swapioi_error(error, -ECHILD,
				     "the handle was opened before fork(), in the parent");
	if (!path || !*path)
		return swapioi_error(error, -ENOENT, "path is empty, and no store is there");
	return swapioi_store_open_with(handle, path, options, swapioi_medium_of(path), error,
				       ret_store);
}
