/* SPDX-License-Identifier: MIT */
/*
 * simqueue.c - queues of threads by address. One lock guards all queues; the clock's is taken
 * inside.
 */
#include "simqueue.h"

#include <stddef.h>
#include <string.h>

#include "emulated.h"
#include "simlock.h"

#define QUEUE_COUNT 64u

static struct simlock lock;
static struct simqueue_place *queues[QUEUE_COUNT];
static _Atomic unsigned waiting; /* in all queues: most unlocks have nobody to wake */

static struct simqueue_place **queue_of(const void *key)
{
	return &queues[((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 58];
}

static bool unlink_place(struct simqueue_place *place)
{
	struct simqueue_place **link = queue_of(place->key);

	while (*link && *link != place)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = place->next;
	atomic_fetch_sub(&waiting, 1);
	return true;
}

static struct simqueue_place *first_of(const void *key)
{
	struct simqueue_place *place = *queue_of(key);

	while (place && place->key != key)
		place = place->next;
	return place;
}

void simqueue_join(struct simqueue_place *place, const void *key)
{
	struct simqueue_place **link = queue_of(key);
	struct simlock_guard guard;

	memset(place, 0, sizeof(*place));
	place->key = key;
	guard = simlock_take(&lock);
	atomic_fetch_add(&waiting, 1);
	while (*link)
		link = &(*link)->next;
	*link = place;
	simlock_drop(&lock, &guard);
}

bool simqueue_leave(struct simqueue_place *place)
{
	struct simlock_guard guard = simlock_take(&lock);
	bool found = unlink_place(place);

	simlock_drop(&lock, &guard);
	emulated_is_ours_again(place, sizeof(*place));
	return found;
}

int simqueue_block(struct simqueue_place *place, uint64_t deadline_ns)
{
	int result = simclock_block(&place->waiter, deadline_ns);

	if (result == 0) {
		emulated_is_ours_again(place, sizeof(*place));
		return 0;
	}
	/* The wake may have come between the deadline and here: then it counts. */
	return simqueue_leave(place) ? result : 0;
}

static bool wake_one(const void *key)
{
	struct simqueue_place *place = first_of(key);

	if (!place)
		return false;
	unlink_place(place);
	simclock_wake(&place->waiter);
	return true;
}

/* Who joins looks once more at what he waits for, and who wakes has changed that before. */
static bool nobody_waits(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load(&waiting) == 0;
}

void simqueue_wake_first(const void *key)
{
	struct simlock_guard guard;

	if (nobody_waits())
		return;
	guard = simlock_take(&lock);
	wake_one(key);
	simlock_drop(&lock, &guard);
}

void simqueue_wake_all(const void *key)
{
	struct simlock_guard guard;

	if (nobody_waits())
		return;
	guard = simlock_take(&lock);
	while (wake_one(key))
		;
	simlock_drop(&lock, &guard);
}

void simqueue_after_fork_child(void)
{
	simlock_reset(&lock);
	memset(queues, 0, sizeof(queues));
	atomic_store(&waiting, 0);
}
