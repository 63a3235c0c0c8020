/* SPDX-License-Identifier: MIT */
/*
 * slots.c - counts who has how many slots; the pool hands them out.
 */
#include "slots.h"

#include <errno.h>
#include <stdlib.h>

#include "deadline.h"
#include "handle.h"
#include "store.h"
#include "swap_job.h"

int swapioi_slots_init(struct swapio_store *store, unsigned runners)
{
	struct slots *slots = &store->swaps.slots;

	slots->shared = store->options.slots - runners * SLOTS_RESERVED;
	list_init(&slots->lenders);
	slots->swap = calloc(store->options.slots, sizeof(*slots->swap));
	return slots->swap ? 0 : -ENOMEM;
}

void swapioi_slots_fini(struct swapio_store *store)
{
	free(store->swaps.slots.swap);
}

static unsigned shared_free(const struct slots *slots)
{
	return slots->shared - slots->borrowed - slots->lent;
}

/* The counts say that there is one. */
static void *take_slot(struct swapio_store *store)
{
	void *slot = NULL;

	swapio_pool_acquire(store->pool, 0, &slot);
	return slot;
}

void *swapioi_slot_stage(struct swapio_store *store, unsigned held)
{
	struct slots *slots = &store->swaps.slots;
	void *slot = NULL;

	pthread_mutex_lock(&store->lock);
	if (held < SLOTS_RESERVED) {
		slot = take_slot(store);
	} else if (shared_free(slots) && list_empty(&slots->lenders)) {
		slots->borrowed++;
		slot = take_slot(store);
	}
	pthread_mutex_unlock(&store->lock);
	return slot;
}

void swapioi_slot_unstage(struct swapio_store *store, unsigned held, void *slot)
{
	struct slots *slots = &store->swaps.slots;

	pthread_mutex_lock(&store->lock);
	swapio_pool_release(store->pool, slot);
	if (held > SLOTS_RESERVED) {
		slots->borrowed--;
		if (!list_empty(&slots->lenders))
			pthread_cond_broadcast(&store->changed);
	}
	pthread_mutex_unlock(&store->lock);
}

struct lender {
	struct list link;
	unsigned count;
};

static bool may_take(const struct slots *slots, const struct lender *lender)
{
	return slots->lenders.next == &lender->link && shared_free(slots) >= lender->count;
}

/* Without threads the slots that staging has come back only when somebody drives. */
static int wait_for_slots(struct swapio_store *store, const struct lender *lender,
			  int64_t deadline_ns)
{
	const struct slots *slots = &store->swaps.slots;

	for (bool looked = false; !may_take(slots, lender); looked = true) {
		if (store->closing)
			return -ESHUTDOWN;
		if (looked && deadline_passed(deadline_ns))
			return -ETIMEDOUT;
		swapioi_swaps_step_locked(store, deadline_ns);
	}
	return 0;
}

static void take_wanted(struct swapio_store *store, swapio_swap_id id, const bool *wanted,
			unsigned count, void **mem)
{
	struct slots *slots = &store->swaps.slots;

	for (unsigned i = 0; i < count; i++) {
		if (!wanted[i])
			continue;
		mem[i] = take_slot(store);
		slots->swap[swapioi_pool_index(store->pool, mem[i])] = id;
		slots->lent++;
	}
}

int swapioi_slots_lend_locked(struct swapio_store *store, swapio_swap_id id, const bool *wanted,
			      unsigned count, void **mem, int64_t deadline_ns)
{
	struct slots *slots = &store->swaps.slots;
	struct lender lender = {.count = 0};
	int ret;

	for (unsigned i = 0; i < count; i++)
		lender.count += wanted[i];
	if (!lender.count)
		return 0;
	if (lender.count > slots->shared)
		return -EMSGSIZE;
	list_append(&slots->lenders, &lender.link);
	ret = wait_for_slots(store, &lender, deadline_ns);
	list_remove(&lender.link);
	if (ret == 0)
		take_wanted(store, id, wanted, count, mem);
	/* The next one may be served now. */
	if (!list_empty(&slots->lenders))
		pthread_cond_broadcast(&store->changed);
	return ret;
}

static void take_back(struct swapio_store *store, void *slot)
{
	struct slots *slots = &store->swaps.slots;

	slots->swap[swapioi_pool_index(store->pool, slot)] = 0;
	slots->lent--;
	swapio_pool_release(store->pool, slot);
	pthread_cond_broadcast(&store->changed);
}

/* 0 when @slot was taken back. The store is locked. */
static int release_locked(struct swapio_store *store, void *slot)
{
	int index = swapioi_pool_index(store->pool, slot);
	struct swap_job *job;
	swapio_swap_id id;

	if (index < 0)
		return -EINVAL;
	id = store->swaps.slots.swap[index];
	if (!id)
		return -EINVAL;
	job = swapioi_swaps_find_locked(store, id);
	if (job && !job->over)
		return -EBUSY;
	take_back(store, slot);
	return 0;
}

int swapio_slot_release(struct swapio_store *store, void *slot)
{
	int ret = swapioi_store_check_process(store, NULL);

	if (ret < 0)
		return ret;
	pthread_mutex_lock(&store->lock);
	ret = release_locked(store, slot);
	pthread_mutex_unlock(&store->lock);
	return ret;
}
