/* SPDX-License-Identifier: MIT */
/*
 * worker.c - who drives the queues: threads of the handle, or callers one at a time.
 *
 * Nobody waits in vain: a block that becomes ready wakes an owner that has room for it, a request
 * that ends wakes all callers that wait, and a caller that stops driving wakes one to take over.
 */
#include <errno.h>
#include <signal.h>

#include "deadline.h"
#include "handle.h"

void swapioi_sleep_locked(struct swapio *handle, pthread_cond_t *cond, int64_t deadline_ns)
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
			swapioi_queue_sleep_locked(queue, INT64_MAX);
			continue;
		}
		pthread_mutex_unlock(&handle->lock);
		swapioi_queue_turn(queue, INT64_MAX);
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
	swapioi_wake_owners_locked(handle);
	pthread_mutex_unlock(&handle->lock);
	for (unsigned i = 0; i < handle->queues_count; i++) {
		if (handle->queues[i].has_thread)
			pthread_join(handle->queues[i].thread, NULL);
		handle->queues[i].has_thread = false;
	}
}

void swapioi_wake_owners_locked(struct swapio *handle)
{
	for (unsigned i = 0; i < handle->queues_count; i++)
		swapioi_queue_wake_locked(&handle->queues[i]);
}

/* A driving caller sleeps as the owner of its queue, and waits for requests all the same. */
void swapioi_wake_callers_locked(struct swapio *handle)
{
	if (handle->waiters)
		pthread_cond_broadcast(&handle->done);
	if (!handle->options.workers)
		swapioi_queue_wake_locked(handle->queues);
}

/* The caller owns the queue for one step: a turn, or a sleep until there is something to do. */
static void drive(struct swapio *handle, int64_t deadline_ns)
{
	struct queue *queue = handle->queues;

	handle->driven = true;
	if (swapioi_queue_has_work(queue) || !deadline_ns) {
		pthread_mutex_unlock(&handle->lock);
		swapioi_queue_turn(queue, deadline_ns);
		pthread_mutex_lock(&handle->lock);
	} else {
		swapioi_queue_sleep_locked(queue, deadline_ns);
	}
	handle->driven = false;
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
	swapioi_sleep_locked(handle, &handle->done, deadline_ns);
	handle->waiters--;
}

/* The one that is woken drives, or leaves as well and wakes the next. */
void swapioi_drive_leave_locked(struct swapio *handle)
{
	if (!handle->options.workers && !handle->driven && handle->waiters)
		pthread_cond_signal(&handle->done);
}

static void wake_for_blocks(struct swapio *handle, bool many)
{
	for (unsigned i = 0; i < handle->queues_count; i++) {
		struct queue *queue = &handle->queues[i];

		if (!queue->asleep || !queue->free_count)
			continue;
		swapioi_queue_wake_locked(queue);
		if (!many)
			return;
	}
}

void swapioi_poke_locked(struct swapio *handle, bool many)
{
	wake_for_blocks(handle, many);
	if (handle->options.workers || handle->driven)
		return;
	handle->driven = true;
	pthread_mutex_unlock(&handle->lock);
	swapioi_queue_start(handle->queues);
	pthread_mutex_lock(&handle->lock);
	handle->driven = false;
	swapioi_drive_leave_locked(handle);
}
