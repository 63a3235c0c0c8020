/* SPDX-License-Identifier: MIT */
/*
 * store_close.c - the end of a store: drained, or forgotten in a child of fork(); and what it is.
 */
#include <errno.h>
#include <string.h>

#include "deadline.h"
#include "fork.h"
#include "store.h"
#include "store_parts.h"

static void take_apart(struct swapio_store *store, bool forked)
{
	swapioi_fork_leave(&store->fork);
	swapioi_swaps_fini(store, forked);
	swapio_pool_destroy(store->pool);
	store->medium_ops->close(store, forked);
	swapioi_store_free(store, forked);
}

/* By this name core/libswapio.supp knows it, as those of close.c and group.c. */
static void forget(struct swapio_store *store)
{
	take_apart(store, true);
}

int swapio_store_close(struct swapio_store *store, int64_t timeout_ns)
{
	int64_t deadline_ns = timeout_ns > 0 ? deadline_after(timeout_ns) : 0;
	int ret;

	if (!store)
		return 0;
	if (swapioi_fork_passed(store->epoch)) {
		forget(store);
		return 0;
	}
	pthread_mutex_lock(&store->lock);
	store->closing = true;
	pthread_cond_broadcast(&store->changed);
	pthread_mutex_unlock(&store->lock);
	ret = swapioi_swaps_drain(store, deadline_ns);
	if (ret == 0)
		take_apart(store, false);
	return ret;
}

int swapio_store_info_get(struct swapio_store *store, struct swapio_store_info *ret_info)
{
	struct swapio_store_info info = {.size_bytes = sizeof(info)};
	int ret;

	if (ret_info->size_bytes != sizeof(*ret_info))
		return -EINVAL;
	ret = swapioi_store_check_process(store, NULL);
	if (ret == 0)
		ret = store->medium_ops->free_bytes(store, &info.free_bytes);
	if (ret < 0)
		return ret;
	memcpy(info.id, store->id, sizeof(info.id));
	info.block_device = store->medium_ops->block_device;
	info.checksum = store->options.checksum;
	info.pool_bytes = (uint64_t)store->slot_bytes * store->options.slots;
	info.pool_locked = store->pool_locked;
	*ret_info = info;
	return 0;
}
