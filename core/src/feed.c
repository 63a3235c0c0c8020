/* SPDX-License-Identifier: MIT */
/*
 * feed.c - from requests to the kernel: cut blocks, get them ready, submit them in batches.
 */
#include <errno.h>
#include <time.h>

#include "deadline.h"
#include "handle.h"

/* Together about a second, the last tries 10 ms apart. */
#define REFUSALS_MAX 100
#define BACKOFF_FIRST_NS 100000
#define BACKOFF_DOUBLINGS 7

static unsigned room(const struct queue *queue)
{
	unsigned used = queue->in_flight + queue->to_submit_count;

	return used >= queue->depth ? 0 : queue->depth - used;
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

		swapioi_queue_place(queue, block, swapioi_block_go(block));
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

		swapioi_queue_place(queue, block, swapioi_block_go(block));
	}
}

static void end_block(struct queue *queue, struct block *block, int error, enum swapio_cause cause,
		      int64_t raw_status)
{
	swapioi_block_fail(block, error, cause, raw_status);
	swapioi_queue_place(queue, block, BLOCK_ENDED);
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

		if (swapioi_request_wants(block->request, block->start))
			swapioi_queue_place(queue, block, BLOCK_SUBMIT);
		else
			end_block(queue, block, -ECANCELED, SWAPIO_CAUSE_NONE, 0);
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

/* The kernel takes nothing now. True: try again later, false: the batch failed. */
static bool may_come_again(struct queue *queue, unsigned count)
{
	queue_count(&queue->stats.retries, 1);
	if (queue->in_flight)
		return true; /* completions will make room */
	if (++queue->refusals <= REFUSALS_MAX)
		return true;
	fail_batch(queue, count, -EAGAIN);
	return false;
}

/* False when the kernel takes no more: events have to be reaped, or time has to pass. */
static bool submit_batch(struct queue *queue, unsigned count)
{
	int ret = queue->handle->engine_ops->submit(queue->engine, queue->batch, count);

	queue_count(&queue->stats.submits, 1);
	if (ret > 0) {
		mark_submitted(queue, (unsigned)ret < count ? (unsigned)ret : count);
		if ((unsigned)ret < count)
			queue_count(&queue->stats.retries, 1);
		return true;
	}
	if (ret == 0 || ret == -EAGAIN || ret == -EINTR)
		return !may_come_again(queue, count);
	fail_batch(queue, 1, ret);
	return true;
}

/* A context that was lost is made anew when it is needed. */
static bool have_engine(struct queue *queue)
{
	int ret = queue->engine ? 0 : swapioi_queue_make_engine(queue, queue->depth);

	if (ret < 0)
		fail_batch(queue, queue->to_submit_count, ret);
	return ret == 0;
}

static void submit_batches(struct queue *queue)
{
	unsigned count;

	sort_out_dropped(queue);
	if (!queue->to_submit_count || !have_engine(queue))
		return;
	while (queue->in_flight < queue->depth && (count = fill_batch(queue)))
		if (!submit_batch(queue, count))
			return;
}

/* While the device is busy a few blocks may wait for more to come: fewer system calls. */
static bool better_wait_for_more(const struct queue *queue)
{
	return !queue->handle->options.single_submit &&
	       queue->in_flight >= (queue->depth + 1) / 2 &&
	       queue->to_submit_count < queue->depth / 4;
}

/* Refusals are counted, so only those who wait between their tries may try again. */
void swapioi_queue_feed(struct queue *queue, bool keep_back)
{
	retry_parked(queue);
	start_fresh(queue);
	if (!keep_back || !(queue->refusals || better_wait_for_more(queue)))
		submit_batches(queue);
}

void swapioi_queue_back_off(const struct queue *queue, int64_t deadline_ns)
{
	unsigned doublings =
		queue->refusals < BACKOFF_DOUBLINGS ? queue->refusals : BACKOFF_DOUBLINGS;
	int64_t pause_ns = BACKOFF_FIRST_NS << doublings, left_ns = left_until(deadline_ns);
	struct timespec pause = timespec_of(pause_ns < left_ns ? pause_ns : left_ns);

	nanosleep(&pause, NULL);
}
