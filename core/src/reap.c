/* SPDX-License-Identifier: MIT */
/*
 * reap.c - from the kernel to requests: wait for events, match them with blocks, account for
 * blocks that ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "deadline.h"
#include "error.h"
#include "handle.h"

#define WAIT_FAILURES_MAX 100
#define WAIT_FAILURE_PAUSE_NS NS_PER_MS

/* From here on no event finds the block, be it the second of its kind. */
static void leave_flight(struct queue *queue, struct block *block)
{
	block->in_flight = false;
	block->io.cookie += COOKIE_GENERATION;
	queue->in_flight--;
}

static struct block *block_of(const struct queue *queue, uintptr_t cookie)
{
	uintptr_t index = cookie & (COOKIE_GENERATION - 1);
	struct block *block = index < queue->blocks_count ? &queue->blocks[index] : NULL;

	return block && block->in_flight && block->io.cookie == cookie ? block : NULL;
}

static void handle_event(struct queue *queue, const struct engine_event *event)
{
	struct block *block = block_of(queue, event->cookie);

	if (block) {
		leave_flight(queue, block);
		swapioi_queue_place(queue, block, swapioi_block_complete(block, event->result));
		return;
	}
	queue_count(&queue->stats.spurious_events, 1);
	swapioi_log(&queue->handle->log, SWAPIO_LOG_ERROR,
		    "queue: event of no block in flight, cookie %#" PRIxPTR ", result %" PRId64,
		    event->cookie, event->result);
}

static const char *call_name(enum swapio_wait_call call)
{
	switch (call) {
	case SWAPIO_WAIT_IO_PGETEVENTS:
		return "io_pgetevents";
	case SWAPIO_WAIT_IO_GETEVENTS:
		return "io_getevents";
	case SWAPIO_WAIT_RAW_GETEVENTS:
		return "the raw io_getevents call";
	}
	return "an unknown call";
}

/* The engine finds out in the wait itself which calls this kernel and its filters allow. */
static void note_fallback(struct queue *queue)
{
	int before = queue->wait_call, after;

	after = (int)queue->handle->engine_ops->wait_call(queue->engine);
	if (after == before)
		return;
	queue->wait_call = after;
	queue_count(&queue->stats.wait_fallbacks, (uint64_t)(after - before));
	swapioi_log(&queue->handle->log, SWAPIO_LOG_WARNING,
		    "queue: the kernel or a filter refuses %s, waiting with %s",
		    call_name((enum swapio_wait_call)before),
		    call_name((enum swapio_wait_call)after));
}

static int wait_once(struct queue *queue, unsigned min, int64_t timeout_ns)
{
	int ret = queue->handle->engine_ops->wait(queue->engine, min, queue->in_flight, timeout_ns,
						  queue->events);

	queue_count(&queue->stats.waits, 1);
	note_fallback(queue);
	if (ret == -EINTR)
		queue_count(&queue->stats.interrupts, 1);
	return ret;
}

/*
 * Nothing says any more how the blocks in flight end. Destroying the context waits until the kernel
 * is done with them, so that their memory is the callers' again; what became of them is not known.
 */
static void lose_context(struct queue *queue, int error)
{
	struct engine *engine = queue->engine;

	pthread_mutex_lock(&queue->handle->lock);
	queue->engine = NULL;
	pthread_mutex_unlock(&queue->handle->lock);
	queue->handle->engine_ops->destroy(engine);
	for (unsigned i = 0; i < queue->blocks_count; i++) {
		struct block *block = &queue->blocks[i];

		if (!block->in_flight)
			continue;
		leave_flight(queue, block);
		swapioi_block_lose(block, error);
		swapioi_queue_place(queue, block, BLOCK_ENDED);
	}
	queue->wait_failures = 0;
}

/* A wait that fails for good must become neither a busy loop nor an endless one. */
static void wait_failed(struct queue *queue, int error)
{
	struct timespec pause = timespec_of(WAIT_FAILURE_PAUSE_NS);
	char text[ERRNO_TEXT_BYTES];

	queue->wait_failures++;
	if (queue->wait_failures < WAIT_FAILURES_MAX) {
		nanosleep(&pause, NULL);
		return;
	}
	swapioi_log(&queue->handle->log, SWAPIO_LOG_ERROR,
		    "queue: waiting for events failed %u times in a row (%s): %u blocks fail",
		    queue->wait_failures, swapioi_errno_text(-error, text), queue->in_flight);
	lose_context(queue, error);
}

/* All in flight when batch by batch, or what there is when events overlap. */
static unsigned events_wanted(const struct queue *queue, int64_t deadline_ns)
{
	if (!deadline_ns)
		return 0;
	return queue->handle->options.overlap_events ? 1 : queue->in_flight;
}

void swapioi_queue_reap(struct queue *queue, int64_t deadline_ns)
{
	unsigned min = events_wanted(queue, deadline_ns);
	int64_t timeout_ns;
	int count;

	do {
		timeout_ns = left_until(deadline_ns);
		count = wait_once(queue, min, timeout_ns);
	} while (count == -EINTR && timeout_ns);
	if (count < 0 && count != -EINTR) {
		wait_failed(queue, count);
		return;
	}
	queue->wait_failures = 0;
	for (int i = 0; i < count; i++)
		handle_event(queue, &queue->events[i]);
	if (count >= 0 && (unsigned)count < min && left_until(deadline_ns))
		queue_count(&queue->stats.short_waits, 1);
}

void swapioi_queue_retire(struct queue *queue)
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
