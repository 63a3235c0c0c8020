/* SPDX-License-Identifier: MIT */
/*
 * store.c - what the modules of a store share: turns, names in use, the process it lives in.
 */
#include "store.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "fork.h"

int swapioi_store_check_process(const struct swapio_store *store, struct swapio_error *error)
{
	if (!swapioi_fork_passed(store->epoch))
		return 0;
	return swapioi_error(error, -ECHILD,
			     "the store was opened before fork(), in the parent: open it again");
}

void swapioi_store_turn_take(struct swapio_store *store)
{
	pthread_mutex_lock(&store->lock);
	while (store->turn_taken)
		pthread_cond_wait(&store->changed, &store->lock);
	store->turn_taken = true;
	pthread_mutex_unlock(&store->lock);
}

void swapioi_store_turn_give(struct swapio_store *store)
{
	pthread_mutex_lock(&store->lock);
	store->turn_taken = false;
	pthread_cond_broadcast(&store->changed);
	pthread_mutex_unlock(&store->lock);
}

static bool is_taken(const struct swapio_store *store, const char *group)
{
	for (struct list *link = store->names.next; link != &store->names; link = link->next)
		if (strcmp(list_entry(link, struct store_name, link)->name, group) == 0)
			return true;
	return false;
}

bool swapioi_store_name_take(struct swapio_store *store, struct store_name *name, const char *group)
{
	bool taken;

	name->name = group;
	pthread_mutex_lock(&store->lock);
	taken = is_taken(store, group);
	if (!taken)
		list_append(&store->names, &name->link);
	pthread_mutex_unlock(&store->lock);
	return !taken;
}

void swapioi_store_name_give(struct swapio_store *store, struct store_name *name)
{
	pthread_mutex_lock(&store->lock);
	list_remove(&name->link);
	pthread_mutex_unlock(&store->lock);
}
