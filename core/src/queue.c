/* SPDX-License-Identifier: MIT */
/*
 * queue.c - one round of a queue: cut blocks, submit them in batches, reap and deal with events.
 */
#include "queue.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "deadline.h"
#include "handle.h"

/* A cookie is the block's index with its generation above; so many blocks there can be. */
#define INDEX_BITS 14
#define BLOCKS_PER_DEPTH 2

#define REFUSALS_MAX 100
#define BACKOFF_FIRST_NS 100000
#define BACKOFF_MAX_NS (10 * NS_PER_MS)
#define BROKEN_WAIT_NS NS_PER_MS

_Static_assert((4096u * BLOCKS_PER_DEPTH) <= (1u << INDEX_BITS), "every block has an index");

static void blocks_init(struct queue *queue)
{
	for (unsigned i = 0; i < queue->blocks_count; i++) {
		struct block *block = &queue->blocks[i];

		block->queue = queue;
		block->io.index = i;
		block->io.cookie = ((uintptr_t)1 << INDEX_BITS) | i;
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

/* The kernel may grant less than was asked for: halve until it does. */
static int engine_create(struct queue *queue, unsigned depth)
{
	const struct engine_ops *ops = queue->handle->engine_ops;
	int ret;

	for (;;) {
		ret = ops->create(depth, queue->blocks_count, &queue->engine);
		if (ret != -EAGAIN || depth == 1)
			break;
		depth /= 2;
	}
	queue->depth = depth;
	return ret;
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
	ret = engine_create(queue, depth);
	if (ret < 0)
		goto fail;
	if (handle->engine_ops->wait_call(queue->engine) != SWAPIO_WAIT_IO_PGETEVENTS)
		queue_count(&queue->stats.wait_fallbacks, 1);
	blocks_init(queue);
	slots_init(queue);
	return 0;
fail:
	free_arrays(queue);
	return ret;
}

void swapioi_queue_fini(struct queue *queue)
{
	queue->handle->engine_ops->destroy(queue->engine);
	/* What was in flight will not come any more; its locks must not outlive it. */
	for (unsigned i = 0; i < queue->blocks_count; i++)
		if (queue->blocks[i].lock.state != RANGE_IDLE)
			swapioi_range_release(queue->blocks[i].file->inode, &queue->blocks[i].lock);
	free_arrays(queue);
}

void swapioi_queue_forget(struct queue *queue)
{
	queue->handle->engine_ops->forget(queue->engine);
	free_arrays(queue);
}

void swapioi_queue_kick(void *arg)
{
	struct queue *queue = arg;
	struct swapio *handle = queue->handle;

	pthread_mutex_lock(&handle->lock);
	queue->kicked = true;
	pthread_cond_broadcast(&handle->work);
	pthread_mutex_unlock(&handle->lock);
}

static unsigned room(const struct queue *queue)
{
	unsigned used = queue->in_flight + queue->to_submit_count;

	return used >= queue->depth ? 0 : queue->depth - used;
}

bool swapioi_queue_has_work(const struct queue *queue)
{
	return queue->in_flight || queue->to_submit_count ||
	       (queue->kicked && !list_empty(&queue->parked)) ||
	       (!list_empty(&queue->handle->ready) && queue->free_count);
}

/* Put a block where what it needs next will find it. */
static void place(struct queue *queue, struct block *block, enum block_next next)
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

static void retry_parked(struct queue *queue)
{
	struct list parked;
	struct list *link;

	if (list_empty(&queue->parked))
		return;
	queue->kicked = false;
	list_init(&parked);
	list_splice(&parked, &queue->parked);
	while ((link = list_pop(&parked))) {
		struct block *block = list_entry(link, struct block, link);

		place(queue, block, swapioi_block_go(block));
	}
}

/* Cut as many blocks as fit, first come first served, into @fresh. */
static void take_blocks(struct queue *queue, struct list *fresh)
{
	struct swapio *handle = queue->handle;
	unsigned count = room(queue);

	pthread_mutex_lock(&handle->lock);
	while (count && queue->free_count && !list_empty(&handle->ready)) {
		struct request *request = list_entry(handle->ready.next, struct request, link);
		struct cut cut = swapioi_request_cut(request);
		struct list *link = list_pop(&queue->free);

		queue->free_count--;
		count--;
		swapioi_block_begin(list_entry(link, struct block, link), request, &cut);
		list_append(fresh, link);
		if (!swapioi_request_has_more(request))
			list_remove(&request->link);
	}
	pthread_mutex_unlock(&handle->lock);
}

static void start_fresh(struct queue *queue)
{
	struct list fresh;
	struct list *link;

	list_init(&fresh);
	take_blocks(queue, &fresh);
	while ((link = list_pop(&fresh))) {
		struct block *block = list_entry(link, struct block, link);

		place(queue, block, swapioi_block_go(block));
	}
}

static void end_block(struct queue *queue, struct block *block, int error, enum swapio_cause cause,
		      int64_t raw_status)
{
	swapioi_block_fail(block, error, cause, raw_status);
	place(queue, block, BLOCK_ENDED);
}

static struct block *pop_to_submit(struct queue *queue)
{
	struct list *link = list_pop(&queue->to_submit);

	if (!link)
		return NULL;
	queue->to_submit_count--;
	return list_entry(link, struct block, link);
}

/* Blocks of cancelled and failed requests end here instead of being submitted. */
static void sort_out_dropped(struct queue *queue)
{
	for (unsigned left = queue->to_submit_count; left; left--) {
		struct block *block = pop_to_submit(queue);

		if (atomic_load_explicit(&block->request->dropped, memory_order_relaxed))
			end_block(queue, block, -ECANCELED, SWAPIO_CAUSE_NONE, 0);
		else
			place(queue, block, BLOCK_SUBMIT);
	}
}

static unsigned fill_batch(struct queue *queue)
{
	unsigned max = queue->handle->options.single_submit ? 1 : queue->depth - queue->in_flight;
	unsigned count = 0;

	for (struct list *link = queue->to_submit.next; link != &queue->to_submit && count < max;
	     link = link->next)
		queue->batch[count++] = &list_entry(link, struct block, link)->io;
	return count;
}

static void mark_submitted(struct queue *queue, unsigned count)
{
	while (count--) {
		pop_to_submit(queue)->in_flight = true;
		queue->in_flight++;
	}
	queue->refusals = 0;
}

static void fail_batch(struct queue *queue, unsigned count, int error)
{
	while (count--)
		end_block(queue, pop_to_submit(queue), error, SWAPIO_CAUSE_SUBMIT, error);
	queue->refusals = 0;
}

/*
 * Submit what is there, until the kernel takes no more: then events have to be reaped first, or,
 * with none in flight, time has to pass. Bounded: after REFUSALS_MAX refusals in a row with
 * nothing in flight the batch fails.
 */
static void submit_batches(struct queue *queue)
{
	unsigned count;
	int ret;

	sort_out_dropped(queue);
	while (queue->in_flight < queue->depth && (count = fill_batch(queue))) {
		queue_count(&queue->stats.submits, 1);
		ret = queue->handle->engine_ops->submit(queue->engine, queue->batch, count);
		if (ret > (int)count)
			ret = (int)count;
		if (ret > 0)
			mark_submitted(queue, (unsigned)ret);
		if (ret == (int)count)
			continue;
		if (ret > 0 || ret == 0 || ret == -EAGAIN || ret == -EINTR)
			queue_count(&queue->stats.retries, 1);
		if (ret > 0)
			continue;
		if (ret < 0 && ret != -EAGAIN && ret != -EINTR) {
			fail_batch(queue, 1, ret);
			continue;
		}
		if (queue->in_flight)
			return;
		if (++queue->refusals > REFUSALS_MAX)
			fail_batch(queue, count, -EAGAIN);
		else
			return;
	}
}

/* With the whole batch to be waited for, nothing is submitted before it is over. */
static bool may_submit(const struct queue *queue)
{
	return queue->handle->options.overlap_events || !queue->in_flight;
}

/* While the device is busy a few blocks may wait for more to come: fewer system calls. */
static bool better_wait_for_more(const struct queue *queue)
{
	return !queue->handle->options.single_submit && queue->in_flight >= (queue->depth + 1) / 2 &&
	       queue->to_submit_count < queue->depth / 4;
}

static void handle_event(struct queue *queue, const struct engine_event *event)
{
	unsigned index = event->cookie & ((1u << INDEX_BITS) - 1);
	struct block *block = index < queue->blocks_count ? &queue->blocks[index] : NULL;

	if (!block || !block->in_flight || block->io.cookie != event->cookie) {
		queue_count(&queue->stats.spurious_events, 1);
		swapioi_log(&queue->handle->log, SWAPIO_LOG_ERROR,
			    "queue: event of no block in flight, cookie %#" PRIxPTR ", result %" PRId64,
			    event->cookie, event->result);
		return;
	}
	block->in_flight = false;
	block->io.cookie += (uintptr_t)1 << INDEX_BITS; /* a second event finds nobody */
	queue->in_flight--;
	place(queue, block, swapioi_block_complete(block, event->result));
}

/* One wait call; -EINTR and what the engine found out about its calls are counted. */
static int wait_once(struct queue *queue, unsigned min, int64_t timeout_ns)
{
	const struct engine_ops *ops = queue->handle->engine_ops;
	enum swapio_wait_call before = ops->wait_call(queue->engine), after;
	int ret = ops->wait(queue->engine, min, queue->in_flight, timeout_ns, queue->events);

	queue_count(&queue->stats.waits, 1);
	after = ops->wait_call(queue->engine);
	if (after != before) {
		queue_count(&queue->stats.wait_fallbacks, (uint64_t)(after - before));
		swapioi_log(&queue->handle->log, SWAPIO_LOG_WARNING,
			    "queue: the kernel or a filter refuses %s, waiting with %s",
			    before == SWAPIO_WAIT_IO_PGETEVENTS ? "io_pgetevents" : "io_getevents",
			    after == SWAPIO_WAIT_IO_GETEVENTS ? "io_getevents"
							      : "the raw io_getevents call");
	}
	if (ret == -EINTR)
		queue_count(&queue->stats.interrupts, 1);
	return ret;
}

static int64_t left_until(int64_t deadline_ns)
{
	int64_t now;

	if (deadline_ns == INT64_MAX || !deadline_ns)
		return deadline_ns;
	now = now_ns();
	return deadline_ns > now ? deadline_ns - now : 0;
}

/* A wait that fails for good must not become a busy loop. */
static void broken_wait(struct queue *queue, int error)
{
	struct timespec pause = timespec_of(BROKEN_WAIT_NS);

	swapioi_log(&queue->handle->log, SWAPIO_LOG_ERROR, "queue: waiting for events: errno %d", -error);
	nanosleep(&pause, NULL);
}

/* Reap until @deadline_ns, at once if it is 0: all in flight, or with overlap what there is. */
static void reap(struct queue *queue, int64_t deadline_ns)
{
	bool overlap = queue->handle->options.overlap_events;
	int64_t timeout_ns;
	unsigned min;
	int count;

	do {
		min = !deadline_ns ? 0 : overlap ? 1 : queue->in_flight;
		timeout_ns = left_until(deadline_ns);
		count = wait_once(queue, min, timeout_ns);
		for (int i = 0; i < count; i++)
			handle_event(queue, &queue->events[i]);
		if (count >= 0 && (unsigned)count < min && left_until(deadline_ns))
			queue_count(&queue->stats.short_waits, 1);
	} while (count == -EINTR && timeout_ns);
	if (count < 0 && count != -EINTR)
		broken_wait(queue, count);
}

/* Account for blocks that ended, and end the requests that are over with them. */
static void retire(struct queue *queue)
{
	struct swapio *handle = queue->handle;
	struct list over, *link;

	if (list_empty(&queue->ended))
		return;
	for (link = queue->ended.next; link != &queue->ended; link = link->next)
		swapioi_block_release(list_entry(link, struct block, link));
	list_init(&over);
	pthread_mutex_lock(&handle->lock);
	while ((link = list_pop(&queue->ended))) {
		struct block *block = list_entry(link, struct block, link);

		block->request->blocks_out--;
		swapioi_request_account(block->request, &block->end_state);
		swapioi_request_check_over(block->request, &over);
		list_append(&queue->free, link);
		queue->free_count++;
		queue_count(&queue->stats.blocks, 1);
	}
	pthread_mutex_unlock(&handle->lock);
	swapioi_requests_finish(handle, &over);
}

/* Start and retire until neither leads to the other. */
static void advance(struct queue *queue, bool keep_back)
{
	do {
		retire(queue);
		if (!may_submit(queue))
			return;
		retry_parked(queue);
		start_fresh(queue);
		if (!keep_back || !better_wait_for_more(queue))
			submit_batches(queue);
	} while (!list_empty(&queue->ended));
}

void swapioi_queue_start(struct queue *queue)
{
	advance(queue, true);
}

/* Nothing is in flight, and the kernel refused what there is: give it time. */
static void back_off(const struct queue *queue, int64_t deadline_ns)
{
	int64_t pause_ns = BACKOFF_MAX_NS, left_ns = left_until(deadline_ns);
	struct timespec pause;

	if (queue->refusals < 7)
		pause_ns = BACKOFF_FIRST_NS << queue->refusals;
	pause = timespec_of(pause_ns < left_ns ? pause_ns : left_ns);
	nanosleep(&pause, NULL);
}

void swapioi_queue_turn(struct queue *queue, int64_t deadline_ns)
{
	advance(queue, false);
	if (queue->in_flight)
		reap(queue, deadline_ns);
	else if (queue->to_submit_count)
		back_off(queue, deadline_ns);
	retire(queue);
}
