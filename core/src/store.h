/* SPDX-License-Identifier: MIT */
/*
 * store.h - struct swapio_store, and what its modules do for each other.
 *
 * Lock order: the store's lock is the innermost but for the pool's; no handle call is made with it
 * held, and no system call other than futex. What takes system calls and may not overlap (changes
 * of the medium's index) takes turns instead.
 */
#ifndef SWAPIOI_STORE_H
#define SWAPIOI_STORE_H

#include <pthread.h>

#include "fork.h"
#include "list.h"
#include "manifest.h"
#include "medium.h"
#include "swapio/swapio.h"
#include "swaps.h"

struct swapio_store {
	/* Constant after open. */
	struct swapio *handle;
	struct swapio_store_options options;
	char *path;	/* owned; for sentences */
	uint64_t epoch; /* see fork.h */
	unsigned char id[SWAPIO_STORE_ID_BYTES];
	const struct medium_ops *medium_ops;
	struct swapio_pool *pool;
	size_t slot_bytes;	/* of the pool, rounded */
	unsigned staging_slots; /* of the pool's, never lent */
	bool pool_locked;
	struct fork_member fork;

	pthread_mutex_t lock;
	pthread_cond_t changed; /* monotonic; broadcast after changes below */

	/* Under the lock. */
	struct medium medium; /* its index; the rest is constant, or the turn's */
	bool turn_taken;
	struct list names; /* of struct store_name */
	uint64_t seals; /* that were begun: a reader of slots sees by it that one changed meanwhile
			 */
	bool closing;	/* no further swaps */

	struct swaps swaps; /* jobs, groups, threads: swaps.h says under which lock */
};

/* A group's name while it is open, or being removed. */
struct store_name {
	struct list link;
	const char *name; /* borrowed */
};

/* False if it is taken already. */
bool swapioi_store_name_take(struct swapio_store *store, struct store_name *name,
			     const char *group);
void swapioi_store_name_give(struct swapio_store *store, struct store_name *name);

/* Changes of the medium's index happen one at a time. */
void swapioi_store_turn_take(struct swapio_store *store);
void swapioi_store_turn_give(struct swapio_store *store);

/* -ECHILD with a sentence in a child of the process that opened the store, else 0. */
int swapioi_store_check_process(const struct swapio_store *store, struct swapio_error *error);

/* A transfer beside the tensors: manifests and other records. */
struct store_io {
	enum swapio_op op;
	int fd;
	uint64_t offset_bytes;
	void *buf;
	size_t length_bytes;
	const char *what; /* begins the sentence of a failure: "group x: write its manifest" */
};

/* Start it; it is borrowed during the call only, its memory until the transfer was waited for. */
int swapioi_store_io_start(struct swapio_store *store, const struct store_io *io,
			   swapio_id *ret_request, struct swapio_error *error);
/*
 * 0, STORE_IO_PENDING at @deadline_ns: wait again; or how the transfer failed, with a sentence.
 * (-ETIMEDOUT is what a device may say.)
 */
#define STORE_IO_PENDING 1
int swapioi_store_io_wait(struct swapio_store *store, const struct store_io *io, swapio_id request,
			  int64_t deadline_ns, struct swapio_error *error);
/* Both, without deadline. */
int swapioi_store_io(struct swapio_store *store, const struct store_io *io,
		     struct swapio_error *error);

/* fdatasync(2), unless the store was opened without durable. -errno with a sentence. */
int swapioi_store_sync(struct swapio_store *store, int fd, const char *what,
		       struct swapio_error *error);

/* Open with a medium that need not be looked for; options were not checked. */
int swapioi_store_open_with(struct swapio *handle, const char *path,
			    const struct swapio_store_options *options,
			    const struct medium_ops *medium_ops, struct swapio_error *error,
			    struct swapio_store **ret_store);

#endif /* SWAPIOI_STORE_H */
