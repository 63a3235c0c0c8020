/* SPDX-License-Identifier: MIT */
/*
 * wait.c - fetching results, cancelling, and the synchronous calls.
 */
#include <errno.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "fork.h"
#include "handle.h"

static void fetch(struct swapio *handle, struct request *request, struct swapio_result *ret_result)
{
	swapioi_request_result(request, swapioi_request_id(handle, request), ret_result);
	list_remove(&request->link);
	if (!request->unlisted) {
		handle->done_count--;
		handle->pending--;
	}
	swapioi_request_free(handle, request);
}

static int wait_locked(struct swapio *handle, swapio_id id, int64_t deadline_ns,
		       struct swapio_result *ret_result)
{
	for (bool looked = false;; looked = true) {
		struct request *request = swapioi_request_find(handle, id);

		if (!request)
			return -ENOENT;
		if (request->state == REQUEST_DONE) {
			fetch(handle, request, ret_result);
			return 0;
		}
		if (looked && deadline_passed(deadline_ns))
			return -ETIMEDOUT;
		swapioi_drive_locked(handle, deadline_ns);
	}
}

int swapio_wait(struct swapio *handle, swapio_id id, int64_t timeout_ns,
		struct swapio_result *ret_result)
{
	int64_t deadline_ns = deadline_of(timeout_ns);
	int ret;

	if (swapioi_fork_passed(handle->epoch))
		return -ECHILD;
	pthread_mutex_lock(&handle->lock);
	ret = wait_locked(handle, id, deadline_ns, ret_result);
	swapioi_drive_leave_locked(handle);
	pthread_mutex_unlock(&handle->lock);
	return ret;
}

static int fetch_some(struct swapio *handle, unsigned max, struct swapio_result *ret_results)
{
	unsigned count = 0;

	while (count < max && !list_empty(&handle->done_requests))
		fetch(handle, list_entry(handle->done_requests.next, struct request, link),
		      &ret_results[count++]);
	return (int)count;
}

/* With @min 0 too there is one look, or nothing would ever move without workers. */
static int wait_some_locked(struct swapio *handle, unsigned min, unsigned max, int64_t deadline_ns,
			    struct swapio_result *ret_results)
{
	for (bool looked = false;; looked = true) {
		unsigned need = min < handle->pending ? min : handle->pending;

		if (handle->done_count >= need && (need || looked || !handle->active))
			return fetch_some(handle, max, ret_results);
		if (looked && deadline_passed(deadline_ns))
			return -ETIMEDOUT;
		swapioi_drive_locked(handle, need ? deadline_ns : 0);
	}
}

int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
		     struct swapio_result *ret_results)
{
	int64_t deadline_ns = deadline_of(timeout_ns);
	int ret;

	if (swapioi_fork_passed(handle->epoch))
		return -ECHILD;
	if (min > max || !max)
		return -EINVAL;
	pthread_mutex_lock(&handle->lock);
	ret = wait_some_locked(handle, min, max, deadline_ns, ret_results);
	swapioi_drive_leave_locked(handle);
	pthread_mutex_unlock(&handle->lock);
	return ret;
}

unsigned swapio_pending(struct swapio *handle)
{
	unsigned pending;

	if (swapioi_fork_passed(handle->epoch))
		return 0;
	pthread_mutex_lock(&handle->lock);
	pending = handle->pending;
	pthread_mutex_unlock(&handle->lock);
	return pending;
}

void swapioi_cancel_locked(struct swapio *handle, struct request *request, struct list *over)
{
	if (request->state != REQUEST_ACTIVE)
		return;
	/* Over already, and on its way to the done list. */
	if (!swapioi_request_has_more(request) && !request->blocks_out)
		return;
	list_remove(&request->link);
	swapioi_request_cancel(request);
	swapioi_request_check_over(request, over);
	for (unsigned i = 0; i < handle->queues_count; i++)
		handle->queues[i].kicked = true;
	swapioi_wake_owners_locked(handle);
}

int swapio_cancel(struct swapio *handle, swapio_id id)
{
	struct request *request;
	struct list over;

	if (swapioi_fork_passed(handle->epoch))
		return -ECHILD;
	list_init(&over);
	pthread_mutex_lock(&handle->lock);
	request = swapioi_request_find(handle, id);
	if (request)
		swapioi_cancel_locked(handle, request, &over);
	pthread_mutex_unlock(&handle->lock);
	swapioi_requests_finish(handle, &over);
	return request ? 0 : -ENOENT;
}

static int transfer(struct swapio *handle, const struct swapio_io *io, struct swapio_error *error)
{
	char text[SWAPIO_ERROR_TEXT_BYTES];
	struct swapio_result result;
	swapio_id id;
	int ret = swapio_submit(handle, io, error, &id);

	if (ret < 0)
		return ret;
	ret = swapio_wait(handle, id, SWAPIO_FOREVER, &result);
	if (ret < 0)
		return swapioi_error(error, ret, "%s: the request was fetched by another thread",
				     io->path);
	if (!result.error)
		return 0;
	swapio_result_text(&result, text, sizeof(text));
	return swapioi_error(error, result.error, "%.200s: %.300s", io->path, text);
}

int swapio_read(struct swapio *handle, const char *path, uint64_t offset_bytes, void *buf,
		uint64_t length_bytes, struct swapio_error *error)
{
	const struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = SWAPIO_READ,
		.path = path,
		.offset_bytes = offset_bytes,
		.length_bytes = length_bytes,
		.buf = buf,
	};

	if (!path)
		return swapioi_error(error, -EINVAL, "path is NULL");
	return transfer(handle, &io, error);
}

int swapio_write(struct swapio *handle, const char *path, uint64_t offset_bytes, const void *buf,
		 uint64_t length_bytes, struct swapio_error *error)
{
	struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = SWAPIO_WRITE,
		.path = path,
		.offset_bytes = offset_bytes,
		.length_bytes = length_bytes,
	};

	if (!path)
		return swapioi_error(error, -EINVAL, "path is NULL");
	/* A write does not change the memory; struct swapio_io serves both directions. */
	memcpy(&io.buf, &buf, sizeof(io.buf));
	return transfer(handle, &io, error);
}
