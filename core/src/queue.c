/* SPDX-License-Identifier: MIT */
/*
 * queue.c - life of a queue, its rounds, and how its owner sleeps and is woken.
 */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>

#include "deadline.h"
#include "handle.h"
#include "options.h"

#define BLOCKS_PER_DEPTH 2u

/*
 * How long an owner stays in the kernel at once. It cannot be woken there, and meanwhile others
 * may submit (while there is room) or release a lock that a parked block waits for.
 */
#define SLICE_ROOM_NS (20 * NS_PER_MS)
#define SLICE_PARKED_NS (2 * NS_PER_MS)
#define SLICE_FULL_NS (200 * NS_PER_MS)

_Static_assert(QUEUE_DEPTH_MAX *BLOCKS_PER_DEPTH <= 1u << COOKIE_INDEX_BITS,
	       "a cookie can name every block");

static void blocks_init(struct queue *queue)
{
	for (unsigned i = 0; i < queue->blocks_count; i++) {
		struct block *block = &queue->blocks[i];

		block->queue = queue;
		block->io.index = i;
		block->io.cookie = COOKIE_GENERATION | i;
		block->lock.wake = swapioi_queue_kick;
		block->lock.wake_arg = queue;
		list_append(&queue->free, &block->link);
	}
	queue->free_count = queue->blocks_count;
}

static void slots_init(struct queue *queue)
{
	const struct swapio *handle = queue->handle;

	for (unsigned i = 0; i < handle->options.bounce_slots; i++)
		queue->slots[i] = queue->slots_mem + i * handle->slot_bytes;
	queue->slots_free = handle->options.bounce_slots;
}

int swapioi_queue_make_engine(struct queue *queue, unsigned depth)
{
	struct engine *engine;
	int ret = queue->handle->engine_ops->create(depth, queue->blocks_count, &engine);

	if (ret < 0)
		return ret;
	pthread_mutex_lock(&queue->handle->lock);
	queue->engine = engine;
	pthread_mutex_unlock(&queue->handle->lock);
	queue->wait_call = (int)queue->handle->engine_ops->wait_call(queue->engine);
	return 0;
}

/* The kernel may grant less than was asked for: halve until it does. */
static int make_first_engine(struct queue *queue, unsigned depth)
{
	int ret = swapioi_queue_make_engine(queue, depth);

	while (ret == -EAGAIN && depth > 1) {
		depth /= 2;
		ret = swapioi_queue_make_engine(queue, depth);
	}
	queue->depth = depth;
	return ret;
}

static void init_wake(struct queue *queue)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void free_arrays(struct queue *queue)
{
	free(queue->batch);
	free(queue->events);
	free(queue->slots);
	free(queue->blocks);
}

int swapioi_queue_init(struct queue *queue, struct swapio *handle, unsigned depth, char *slots_mem)
{
	int ret;

	queue->handle = handle;
	queue->slots_mem = slots_mem;
	queue->blocks_count = depth * BLOCKS_PER_DEPTH;
	list_init(&queue->free);
	list_init(&queue->to_submit);
	list_init(&queue->parked);
	list_init(&queue->ended);
	queue->blocks = calloc(queue->blocks_count, sizeof(*queue->blocks));
	queue->slots = calloc(handle->options.bounce_slots, sizeof(*queue->slots));
	queue->events = calloc(depth, sizeof(*queue->events));
	queue->batch = calloc(depth, sizeof(*queue->batch));
	ret = -ENOMEM;
	if (!queue->blocks || !queue->slots || !queue->events || !queue->batch)
		goto fail;
	ret = make_first_engine(queue, depth);
	if (ret < 0)
		goto fail;
	if (queue->wait_call != SWAPIO_WAIT_IO_PGETEVENTS)
		queue_count(&queue->stats.wait_fallbacks, 1);
	init_wake(queue);
	blocks_init(queue);
	slots_init(queue);
	return 0;
fail:
	free_arrays(queue);
	return ret;
}

void swapioi_queue_fini(struct queue *queue)
{
	if (queue->engine)
		queue->handle->engine_ops->destroy(queue->engine);
	/* What was in flight will not come any more; its locks must not outlive it. */
	for (unsigned i = 0; i < queue->blocks_count; i++)
		if (queue->blocks[i].lock.state != RANGE_IDLE)
			swapioi_range_release(queue->blocks[i].file->inode, &queue->blocks[i].lock);
	pthread_cond_destroy(&queue->wake);
	free_arrays(queue);
}

void swapioi_queue_forget(struct queue *queue)
{
	if (queue->engine)
		queue->handle->engine_ops->forget(queue->engine);
	free_arrays(queue);
}

bool swapioi_queue_has_work(const struct queue *queue)
{
	return queue->in_flight || queue->to_submit_count ||
	       (queue->kicked && !list_empty(&queue->parked)) ||
	       (!list_empty(&queue->handle->ready) && queue->free_count);
}

void swapioi_queue_sleep_locked(struct queue *queue, int64_t deadline_ns)
{
	queue->asleep = true;
	swapioi_sleep_locked(queue->handle, &queue->wake, deadline_ns);
	queue->asleep = false;
}

void swapioi_queue_wake_locked(struct queue *queue)
{
	if (!queue->asleep)
		return;
	queue->asleep = false; /* so that the next block wakes somebody else */
	pthread_cond_signal(&queue->wake);
}

void swapioi_queue_kick(void *arg)
{
	struct queue *queue = arg;

	pthread_mutex_lock(&queue->handle->lock);
	queue->kicked = true;
	swapioi_queue_wake_locked(queue);
	pthread_mutex_unlock(&queue->handle->lock);
}

void swapioi_queue_place(struct queue *queue, struct block *block, enum block_next next)
{
	switch (next) {
	case BLOCK_SUBMIT:
		list_append(&queue->to_submit, &block->link);
		queue->to_submit_count++;
		break;
	case BLOCK_PARK:
		list_append(&queue->parked, &block->link);
		break;
	case BLOCK_ENDED:
		list_append(&queue->ended, &block->link);
		break;
	}
}

/* With the whole batch to be waited for, nothing is submitted before it is over. */
static bool may_feed(const struct queue *queue)
{
	return queue->handle->options.overlap_events || !queue->in_flight;
}

/* Feed and retire until neither leads to the other. */
static void advance(struct queue *queue, bool keep_back)
{
	do {
		swapioi_queue_retire(queue);
		if (!may_feed(queue))
			return;
		swapioi_queue_feed(queue, keep_back);
	} while (!list_empty(&queue->ended));
}

void swapioi_queue_start(struct queue *queue)
{
	advance(queue, true);
}

static int64_t slice_end(const struct queue *queue, int64_t deadline_ns)
{
	int64_t slice_ns = queue->in_flight < queue->depth ? SLICE_ROOM_NS : SLICE_FULL_NS, end;

	if (!deadline_ns)
		return 0;
	if (!list_empty(&queue->parked))
		slice_ns = SLICE_PARKED_NS;
	end = now_ns() + slice_ns;
	return end < deadline_ns ? end : deadline_ns;
}

void swapioi_queue_turn(struct queue *queue, int64_t deadline_ns)
{
	advance(queue, false);
	if (queue->in_flight)
		swapioi_queue_reap(queue, slice_end(queue, deadline_ns));
	else if (queue->to_submit_count)
		swapioi_queue_back_off(queue, deadline_ns);
	swapioi_queue_retire(queue);
}
