/* SPDX-License-Identifier: MIT */
/*
 * queue.h - keeps one engine full with blocks of many requests.
 *
 * Threads: one owner at a time, a worker or the caller that drives. What others touch is marked.
 */
#ifndef SWAPIOI_QUEUE_H
#define SWAPIOI_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "block.h"

struct swapio;

/* Written by the owner, read by anyone. */
struct queue_stats {
	_Atomic uint64_t blocks, submits, waits, interrupts, short_waits, resumes, retries, bounces,
		rmws, spurious_events, wait_fallbacks;
};

struct queue {
	struct swapio *handle;
	struct engine *engine; /* NULL: lost, to be made anew (reap.c); changes under the
				  handle's lock, because a child of fork() frees it */
	unsigned depth;	       /* blocks in flight at most */
	unsigned blocks_count; /* more than depth: parked blocks do not keep others out */
	struct block *blocks;
	struct list free, to_submit, parked, ended;
	unsigned free_count, to_submit_count, in_flight;
	unsigned refusals;	/* io_submit calls in a row that took nothing */
	unsigned wait_failures; /* wait calls in a row that failed */
	char *slots_mem;	/* this queue's part of the slab */
	char **slots;		/* stack of free slots */
	unsigned slots_free;
	struct engine_event *events; /* [depth] */
	struct engine_io **batch;    /* [depth] */
	struct queue_stats stats;
	_Atomic int wait_call; /* enum swapio_wait_call; written by the owner, read by anyone */
	_Atomic bool kicked;   /* by anyone: look at the parked blocks again */
	pthread_cond_t wake;   /* for the owner, with the handle's lock */
	bool asleep;	       /* the owner waits for wake; under the handle's lock */
	bool has_thread;
	pthread_t thread;
};

/* queue.c: life, and who wakes whom */

int swapioi_queue_init(struct queue *queue, struct swapio *handle, unsigned depth, char *slots_mem);

/* The engine is destroyed first, so that nothing is in flight when memory goes. */
void swapioi_queue_fini(struct queue *queue);

/* In a child after fork. */
void swapioi_queue_forget(struct queue *queue);

/* Make an engine of exactly @depth; 0 or -errno. */
int swapioi_queue_make_engine(struct queue *queue, unsigned depth);

/* Would a turn do anything? By the owner, with the handle locked. */
bool swapioi_queue_has_work(const struct queue *queue);

/* Sleep until somebody wakes the owner or @deadline_ns. By the owner, with the handle locked. */
void swapioi_queue_sleep_locked(struct queue *queue, int64_t deadline_ns);
void swapioi_queue_wake_locked(struct queue *queue);

/* A parked block may go on. Any thread; the handle is not locked. */
void swapioi_queue_kick(void *queue);

/* One round: start, submit, wait until @deadline_ns for completions, deal with them. */
void swapioi_queue_turn(struct queue *queue, int64_t deadline_ns);

/* Start what can be started without waiting; a few blocks may be kept back for a larger batch. */
void swapioi_queue_start(struct queue *queue);

/* Put a block where what it needs next will find it. */
void swapioi_queue_place(struct queue *queue, struct block *block, enum block_next next);

/* feed.c: from requests to the kernel. @keep_back: a few blocks may wait for more to come. */
void swapioi_queue_feed(struct queue *queue, bool keep_back);

/* Nothing is in flight, and the kernel refused what there is: give it time, once. */
void swapioi_queue_back_off(const struct queue *queue, int64_t deadline_ns);

/* reap.c: from the kernel to requests. Wait until @deadline_ns, at once if it is 0. */
void swapioi_queue_reap(struct queue *queue, int64_t deadline_ns);

/* Account for blocks that ended, and end the requests that are over with them. */
void swapioi_queue_retire(struct queue *queue);

static inline void queue_count(_Atomic uint64_t *counter, uint64_t more)
{
	uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, old + more, memory_order_relaxed);
}

#endif /* SWAPIOI_QUEUE_H */
