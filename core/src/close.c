/* SPDX-License-Identifier: MIT */
/*
 * close.c - the end of a handle: drained, aborted, or forgotten in a child of fork().
 */
#include <errno.h>

#include "deadline.h"
#include "fork.h"
#include "handle.h"

/* Requests that never got to the end still hold their files. */
static void close_files(struct swapio *handle)
{
	for (unsigned i = 0; i < handle->requests_used; i++) {
		struct request *request = &handle->requests[i];

		if (request->file && --request->file->users == 0)
			swapioi_file_close(request->file);
	}
}

static void destroy(struct swapio *handle)
{
	swapioi_fork_leave(&handle->fork);
	swapioi_workers_stop(handle);
	swapioi_queues_fini(handle, handle->queues_count);
	close_files(handle);
	swapioi_buffers_free(handle, false);
	swapioi_slab_destroy(&handle->slots_slab);
	swapioi_locks_fini(handle);
	swapioi_handle_free(handle);
}

/* Contexts, descriptors, threads, locks and pinned memory are the parent's. What is freed here
 * changes only under the handle's lock, and so it was whole at the moment of fork(). */
static void forget(struct swapio *handle)
{
	swapioi_fork_leave(&handle->fork);
	for (unsigned i = 0; i < handle->queues_count; i++)
		swapioi_queue_forget(&handle->queues[i]);
	swapioi_buffers_free(handle, true);
	swapioi_handle_free(handle);
}

static void cancel_all(struct swapio *handle)
{
	struct list over;

	list_init(&over);
	pthread_mutex_lock(&handle->lock);
	handle->closing = true;
	for (unsigned i = 0; i < handle->requests_used; i++)
		swapioi_cancel_locked(handle, &handle->requests[i], &over);
	pthread_mutex_unlock(&handle->lock);
	swapioi_requests_finish(handle, &over);
}

/* Wait until no request is active. Without blocks in flight that never takes long. */
static bool drain(struct swapio *handle, int64_t deadline_ns)
{
	bool drained;

	pthread_mutex_lock(&handle->lock);
	for (bool looked = false; handle->active; looked = true) {
		if (looked && deadline_passed(deadline_ns))
			break;
		swapioi_drive_locked(handle, deadline_ns);
	}
	drained = !handle->active;
	swapioi_drive_leave_locked(handle);
	pthread_mutex_unlock(&handle->lock);
	return drained;
}

int swapio_close(struct swapio *handle, int64_t timeout_ns)
{
	if (!handle)
		return 0;
	if (swapioi_fork_passed(handle->epoch)) {
		forget(handle);
		return 0;
	}
	cancel_all(handle);
	if (!drain(handle, deadline_of(timeout_ns)))
		return -EBUSY;
	destroy(handle);
	return 0;
}

void swapio_abort(struct swapio *handle)
{
	if (!handle)
		return;
	if (swapioi_fork_passed(handle->epoch))
		forget(handle);
	else
		destroy(handle);
}
