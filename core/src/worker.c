/* SPDX-License-Identifier: MIT */
/*
 * worker.c - who drives the queues: threads of the handle, or callers one at a time.
 */
#include <errno.h>
#include <signal.h>

#include "deadline.h"
#include "handle.h"

/*
 * How long an owner stays in the kernel at once. It cannot be woken there, and meanwhile others
 * may submit (while there is room) or release a lock that a parked block waits for.
 */
#define SLICE_ROOM_NS (20 * NS_PER_MS)
#define SLICE_PARKED_NS (2 * NS_PER_MS)
#define SLICE_FULL_NS (200 * NS_PER_MS)

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

static void sleep_locked(struct swapio *handle, pthread_cond_t *cond, int64_t deadline_ns)
{
	struct timespec until = timespec_of(deadline_ns);

	if (deadline_ns == INT64_MAX)
		pthread_cond_wait(cond, &handle->lock);
	else if (deadline_ns)
		pthread_cond_timedwait(cond, &handle->lock, &until);
}

static void *worker_main(void *arg)
{
	struct queue *queue = arg;
	struct swapio *handle = queue->handle;

	pthread_mutex_lock(&handle->lock);
	while (!handle->stop) {
		if (!swapioi_queue_has_work(queue)) {
			sleep_locked(handle, &handle->work, INT64_MAX);
			continue;
		}
		pthread_mutex_unlock(&handle->lock);
		swapioi_queue_turn(queue, slice_end(queue, INT64_MAX));
		pthread_mutex_lock(&handle->lock);
	}
	pthread_mutex_unlock(&handle->lock);
	return NULL;
}

/* The program's signals are none of the workers' business. */
int swapioi_workers_start(struct swapio *handle)
{
	sigset_t all, old;
	int ret = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < handle->options.workers && ret == 0; i++) {
		struct queue *queue = &handle->queues[i];

		ret = pthread_create(&queue->thread, NULL, worker_main, queue);
		queue->has_thread = ret == 0;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

void swapioi_workers_stop(struct swapio *handle)
{
	pthread_mutex_lock(&handle->lock);
	handle->stop = true;
	pthread_cond_broadcast(&handle->work);
	pthread_mutex_unlock(&handle->lock);
	for (unsigned i = 0; i < handle->queues_count; i++) {
		if (handle->queues[i].has_thread)
			pthread_join(handle->queues[i].thread, NULL);
		handle->queues[i].has_thread = false;
	}
}

/* The caller owns the queue for one step: a turn, or a sleep until there is something to do. */
static void drive(struct swapio *handle, int64_t deadline_ns)
{
	struct queue *queue = handle->queues;

	handle->driven = true;
	if (swapioi_queue_has_work(queue) || !deadline_ns) {
		pthread_mutex_unlock(&handle->lock);
		swapioi_queue_turn(queue, slice_end(queue, deadline_ns));
		pthread_mutex_lock(&handle->lock);
	} else {
		sleep_locked(handle, &handle->work, deadline_ns);
	}
	handle->driven = false;
	if (handle->waiters)
		pthread_cond_broadcast(&handle->done);
}

void swapioi_drive_locked(struct swapio *handle, int64_t deadline_ns)
{
	if (!handle->options.workers && !handle->driven) {
		drive(handle, deadline_ns);
		return;
	}
	if (!deadline_ns)
		return;
	handle->waiters++;
	sleep_locked(handle, &handle->done, deadline_ns);
	handle->waiters--;
}

/* There are new blocks. Without workers the caller starts what fits, unless somebody drives. */
void swapioi_poke_locked(struct swapio *handle, bool many)
{
	if (many || handle->driven)
		pthread_cond_broadcast(&handle->work);
	else
		pthread_cond_signal(&handle->work);
	if (handle->options.workers || handle->driven)
		return;
	handle->driven = true;
	pthread_mutex_unlock(&handle->lock);
	swapioi_queue_start(handle->queues);
	pthread_mutex_lock(&handle->lock);
	handle->driven = false;
	if (handle->waiters)
		pthread_cond_broadcast(&handle->done);
}
