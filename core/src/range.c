/* SPDX-License-Identifier: MIT */
/*
 * range.c - the process-wide table of files in use and the range locks on them.
 */
#include "range.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 64

struct inode {
	struct list link; /* in its bucket */
	struct inode_key key;
	unsigned users; /* under the table's lock */
	pthread_mutex_t lock;
	struct list shared, exclusive, waiting; /* of struct range_lock */
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list buckets[BUCKETS]; /* all zero: not yet a ring */

static struct list *bucket_of(const struct inode_key *key)
{
	struct list *bucket = &buckets[(key->number ^ key->device) % BUCKETS];

	if (!bucket->next)
		list_init(bucket);
	return bucket;
}

static bool same_key(const struct inode_key *a, const struct inode_key *b)
{
	return a->device == b->device && a->number == b->number &&
	       a->block_device == b->block_device;
}

static struct inode *inode_find(struct list *bucket, const struct inode_key *key)
{
	for (struct list *link = bucket->next; link != bucket; link = link->next) {
		struct inode *inode = list_entry(link, struct inode, link);

		if (same_key(&inode->key, key))
			return inode;
	}
	return NULL;
}

static struct inode *inode_create(const struct inode_key *key)
{
	struct inode *inode = calloc(1, sizeof(*inode));

	if (!inode)
		return NULL;
	inode->key = *key;
	pthread_mutex_init(&inode->lock, NULL);
	list_init(&inode->shared);
	list_init(&inode->exclusive);
	list_init(&inode->waiting);
	return inode;
}

int swapioi_inode_get(const struct inode_key *key, struct inode **ret_inode)
{
	struct list *bucket;
	struct inode *inode;

	pthread_mutex_lock(&table_lock);
	bucket = bucket_of(key);
	inode = inode_find(bucket, key);
	if (!inode) {
		inode = inode_create(key);
		if (inode)
			list_append(bucket, &inode->link);
	}
	if (inode)
		inode->users++;
	pthread_mutex_unlock(&table_lock);
	if (!inode)
		return -ENOMEM;
	*ret_inode = inode;
	return 0;
}

void swapioi_inode_put(struct inode *inode)
{
	bool last;

	pthread_mutex_lock(&table_lock);
	last = --inode->users == 0;
	if (last)
		list_remove(&inode->link);
	pthread_mutex_unlock(&table_lock);
	if (!last)
		return;
	pthread_mutex_destroy(&inode->lock);
	free(inode);
}

static bool conflict(const struct range_lock *a, const struct range_lock *b)
{
	return (a->exclusive || b->exclusive) && a->start < b->end && b->start < a->end;
}

/* A conflict with a lock in @head, up to @lock itself where it stands in that list. */
static bool conflict_in(const struct list *head, const struct range_lock *lock)
{
	for (const struct list *link = head->next; link != head; link = link->next) {
		const struct range_lock *other =
			(const void *)((const char *)link - offsetof(struct range_lock, link));

		if (other == lock)
			return false;
		if (conflict(other, lock))
			return true;
	}
	return false;
}

/* Plain transfers look only at exclusive locks and waiters, of which there are rarely any. */
static bool is_blocked(const struct inode *inode, const struct range_lock *lock)
{
	return conflict_in(&inode->exclusive, lock) ||
	       (lock->exclusive && conflict_in(&inode->shared, lock)) ||
	       conflict_in(&inode->waiting, lock);
}

bool swapioi_range_try(struct inode *inode, struct range_lock *lock)
{
	if (lock->state == RANGE_HELD)
		return true;
	pthread_mutex_lock(&inode->lock);
	if (!is_blocked(inode, lock)) {
		if (lock->state == RANGE_WAITING)
			list_remove(&lock->link);
		list_append(lock->exclusive ? &inode->exclusive : &inode->shared, &lock->link);
		lock->state = RANGE_HELD;
	} else if (lock->state == RANGE_IDLE) {
		list_append(&inode->waiting, &lock->link);
		lock->state = RANGE_WAITING;
	}
	pthread_mutex_unlock(&inode->lock);
	return lock->state == RANGE_HELD;
}

static void wake_waiters(struct inode *inode, const struct range_lock *gone)
{
	for (struct list *link = inode->waiting.next; link != &inode->waiting; link = link->next) {
		struct range_lock *waiter = list_entry(link, struct range_lock, link);

		if (conflict(waiter, gone))
			waiter->wake(waiter->wake_arg);
	}
}

void swapioi_range_release(struct inode *inode, struct range_lock *lock)
{
	if (lock->state == RANGE_IDLE)
		return;
	pthread_mutex_lock(&inode->lock);
	list_remove(&lock->link);
	lock->state = RANGE_IDLE;
	wake_waiters(inode, lock);
	pthread_mutex_unlock(&inode->lock);
}

void swapioi_range_before_fork(void)
{
	pthread_mutex_lock(&table_lock);
}

/*
 * What the parent's blocks hold means nothing in a child: it starts with an empty table. Handles
 * that it inherited never look at their files again.
 */
static void empty_table(void)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct list *link;

		while (buckets[i].next && (link = list_pop(&buckets[i])))
			free(list_entry(link, struct inode, link));
	}
}

void swapioi_range_after_fork(bool child)
{
	if (child)
		empty_table();
	pthread_mutex_unlock(&table_lock);
}
