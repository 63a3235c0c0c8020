/* SPDX-License-Identifier: MIT */
/*
 * pool.c - equal slots in one pinned slab, handed out last in first out so that they stay warm.
 */
#include <errno.h>
#include <stdlib.h>

#include "deadline.h"
#include "fork.h"
#include "handle.h"

#define SLOT_BYTES_MAX (UINT64_C(1) << 40)
#define SLOTS_MAX 65536u

struct swapio_pool {
	struct swapio *handle;
	struct slab slab;
	size_t slot_bytes;
	unsigned slots;
	pthread_mutex_t lock;
	pthread_cond_t released;
	/* Under the lock. */
	unsigned *free_slots; /* stack of indexes */
	unsigned free_count;
	bool *acquired; /* [slots] */
};

static int pool_alloc(struct swapio_pool *pool)
{
	pool->free_slots = calloc(pool->slots, sizeof(*pool->free_slots));
	pool->acquired = calloc(pool->slots, sizeof(*pool->acquired));
	if (!pool->free_slots || !pool->acquired)
		return -ENOMEM;
	for (unsigned i = 0; i < pool->slots; i++)
		pool->free_slots[i] = pool->slots - 1 - i;
	pool->free_count = pool->slots;
	return swapioi_slab_create(&pool->slab, pool->slot_bytes * pool->slots,
				   pool->handle->alignment_bytes, true);
}

static void pool_free(struct swapio_pool *pool)
{
	free(pool->acquired);
	free(pool->free_slots);
	free(pool);
}

static void init_locks(struct swapio_pool *pool)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->released, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

int swapio_pool_create(struct swapio *handle, size_t slot_bytes, unsigned slots,
		       struct swapio_pool **ret_pool)
{
	struct swapio_pool *pool;
	int ret;

	if (swapioi_fork_passed(handle->epoch))
		return -ECHILD;
	if (!slot_bytes || slot_bytes > SLOT_BYTES_MAX || !slots || slots > SLOTS_MAX)
		return -EINVAL;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	pool->handle = handle;
	pool->slots = slots;
	pool->slot_bytes = (size_t)round_up(slot_bytes, handle->alignment_bytes);
	ret = pool->slot_bytes > PTRDIFF_MAX / slots ? -ENOMEM : pool_alloc(pool);
	if (ret < 0) {
		pool_free(pool);
		return ret == -EINVAL ? -ENOMEM : ret;
	}
	init_locks(pool);
	if (!pool->slab.locked)
		swapioi_log(&handle->log, SWAPIO_LOG_WARNING,
			    "pool: %u slots of %zu bytes are not locked in memory (RLIMIT_MEMLOCK)",
			    slots, pool->slot_bytes);
	*ret_pool = pool;
	return 0;
}

int swapio_pool_destroy(struct swapio_pool *pool)
{
	bool busy;

	if (!pool)
		return 0;
	if (swapioi_fork_passed(pool->handle->epoch)) {
		pool_free(pool);
		return 0;
	}
	pthread_mutex_lock(&pool->lock);
	busy = pool->free_count < pool->slots;
	pthread_mutex_unlock(&pool->lock);
	if (busy)
		return -EBUSY;
	swapioi_slab_destroy(&pool->slab);
	pthread_cond_destroy(&pool->released);
	pthread_mutex_destroy(&pool->lock);
	pool_free(pool);
	return 0;
}

/* False when @deadline_ns passed, or was 0, without a free slot. */
static bool wait_for_slot(struct swapio_pool *pool, int64_t deadline_ns)
{
	struct timespec until = timespec_of(deadline_ns);
	int ret = 0;

	while (!pool->free_count && ret == 0) {
		if (deadline_ns == INT64_MAX)
			ret = pthread_cond_wait(&pool->released, &pool->lock);
		else if (deadline_ns)
			ret = pthread_cond_timedwait(&pool->released, &pool->lock, &until);
		else
			ret = ETIMEDOUT;
	}
	return pool->free_count;
}

int swapio_pool_acquire(struct swapio_pool *pool, int64_t timeout_ns, void **ret_slot)
{
	int64_t deadline_ns = deadline_of(timeout_ns);
	bool got;

	if (swapioi_fork_passed(pool->handle->epoch))
		return -ECHILD;
	pthread_mutex_lock(&pool->lock);
	got = wait_for_slot(pool, deadline_ns);
	if (got) {
		unsigned index = pool->free_slots[--pool->free_count];

		pool->acquired[index] = true;
		*ret_slot = (char *)pool->slab.mem + index * pool->slot_bytes;
	}
	pthread_mutex_unlock(&pool->lock);
	return got ? 0 : -ETIMEDOUT;
}

int swapioi_pool_index(const struct swapio_pool *pool, const void *slot)
{
	uintptr_t distance = (uintptr_t)slot - (uintptr_t)pool->slab.mem;

	if ((uintptr_t)slot < (uintptr_t)pool->slab.mem || distance % pool->slot_bytes ||
	    distance / pool->slot_bytes >= pool->slots)
		return -EINVAL;
	return (int)(distance / pool->slot_bytes);
}

int swapio_pool_release(struct swapio_pool *pool, void *slot)
{
	int index;

	if (swapioi_fork_passed(pool->handle->epoch))
		return -ECHILD;
	index = swapioi_pool_index(pool, slot);
	if (index < 0)
		return -EINVAL;
	pthread_mutex_lock(&pool->lock);
	if (pool->acquired[index]) {
		pool->acquired[index] = false;
		pool->free_slots[pool->free_count++] = (unsigned)index;
		pthread_cond_signal(&pool->released);
	} else {
		index = -EINVAL;
	}
	pthread_mutex_unlock(&pool->lock);
	return index < 0 ? index : 0;
}

size_t swapio_pool_slot_bytes(const struct swapio_pool *pool)
{
	return pool->slot_bytes;
}
