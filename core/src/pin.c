/* SPDX-License-Identifier: MIT */
/*
 * pin.c - the process-wide list of pinned ranges.
 *
 * Ranges are few and large (slabs, buffers), so a list searched from its start is enough.
 * Lock order: a leaf, nothing is locked while it is held.
 */
#include "pin.h"

#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list ranges = {&ranges, &ranges};

void swapioi_pin_add(struct pin_range *range, const void *start, size_t length_bytes)
{
	range->start = start;
	range->length_bytes = length_bytes;
	pthread_mutex_lock(&lock);
	list_append(&ranges, &range->link);
	pthread_mutex_unlock(&lock);
}

void swapioi_pin_remove(struct pin_range *range)
{
	pthread_mutex_lock(&lock);
	list_remove(&range->link);
	pthread_mutex_unlock(&lock);
}

/* Written so that no sum of address and length can wrap. */
static bool covers(const struct pin_range *range, uintptr_t ptr, size_t length_bytes)
{
	uintptr_t start = (uintptr_t)range->start;

	return ptr >= start && ptr - start < range->length_bytes &&
	       length_bytes <= range->length_bytes - (ptr - start);
}

bool swapioi_pin_contains(const void *ptr, size_t length_bytes)
{
	bool found = false;

	if (!length_bytes)
		return false;
	pthread_mutex_lock(&lock);
	for (struct list *link = ranges.next; link != &ranges && !found; link = link->next)
		found = covers(list_entry(link, struct pin_range, link), (uintptr_t)ptr,
			       length_bytes);
	pthread_mutex_unlock(&lock);
	return found;
}

void swapioi_pin_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

/* Pinned memory is not inherited: a child starts with none. */
void swapioi_pin_after_fork(bool child)
{
	if (child)
		list_init(&ranges);
	pthread_mutex_unlock(&lock);
}
