/* SPDX-License-Identifier: MIT */
/*
 * range.h - byte-range locks on files, shared by all handles of the process.
 *
 * A block takes exactly one lock and waits for none while it holds one, so there is no deadlock.
 * Lock order: table, then inode, then a handle's lock (inside wake).
 */
#ifndef SWAPIOI_RANGE_H
#define SWAPIOI_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"

#define RANGE_TO_INFINITY UINT64_MAX

/* Names a file: device and inode, or the device itself for a block device. */
struct inode_key {
	uint64_t device, number;
	bool block_device;
};

struct inode;

enum range_state {
	RANGE_IDLE,
	RANGE_WAITING,
	RANGE_HELD,
};

struct range_lock {
	struct list link;
	uint64_t start, end; /* [start, end) */
	bool exclusive;
	enum range_state state;
	void (*wake)(void *arg); /* called with the inode locked when a retry is worthwhile */
	void *wake_arg;
};

/* The lock table's entry for a file, shared by all who use the file. 0 or -ENOMEM. */
int swapioi_inode_get(const struct inode_key *key, struct inode **ret_inode);
void swapioi_inode_put(struct inode *inode);

/*
 * Take @lock, or queue it: false, and wake is called when it should be tried again. Locks that
 * conflict with an earlier waiter wait too, so that nobody starves. A held lock stays held.
 */
bool swapioi_range_try(struct inode *inode, struct range_lock *lock);

/* Give up @lock, held, waiting or idle. */
void swapioi_range_release(struct inode *inode, struct range_lock *lock);

void swapioi_range_before_fork(void);
void swapioi_range_after_fork(bool child);

#endif /* SWAPIOI_RANGE_H */
