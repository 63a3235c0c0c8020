/* SPDX-License-Identifier: MIT */
/*
 * fork.h - tells a handle whether it lives in the process that opened it, and holds locks over
 * fork(), so that a child's copies are whole.
 */
#ifndef SWAPIOI_FORK_H
#define SWAPIOI_FORK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "list.h"

/* The epoch of this process, which is prepared when it is the first call. */
uint64_t swapioi_fork_epoch(void);

/* True in a child of the process that got @epoch. */
bool swapioi_fork_passed(uint64_t epoch);

/*
 * Embedded in what a child may close. While it is a member its lock is held over fork(): what
 * changes only under that lock is never half changed in the child. No thread may hold the locks of
 * two members, nor call fork() with one.
 */
struct fork_member {
	struct list link;
	pthread_mutex_t *lock;
};

/* From when the caller gets it, until the caller gives it back: by whoever closes it, or forgets
 * it in a child. The member's lock is not held. */
void swapioi_fork_join(struct fork_member *member, pthread_mutex_t *lock);
void swapioi_fork_leave(struct fork_member *member);

#endif /* SWAPIOI_FORK_H */
