/* SPDX-License-Identifier: MIT */
/*
 * table.c - the handle's pools of requests and files, ids, and the end of requests.
 *
 * Both pools are arrays that are touched only as far as they were ever used, so that a handle with
 * room for many requests opens as fast as one with few.
 */
#include <string.h>

#include "handle.h"

/* An id is the request's index with the generation of its use above. */
#define ID_INDEX_BITS 16

struct request *swapioi_request_reserve(struct swapio *handle)
{
	struct list *link = list_pop(&handle->free_requests);
	struct request *request;

	if (link) {
		request = list_entry(link, struct request, link);
	} else {
		if (handle->requests_used == handle->options.requests_max)
			return NULL;
		request = &handle->requests[handle->requests_used++];
		list_init(&request->link);
	}
	request->generation++;
	request->state = REQUEST_RESERVED;
	return request;
}

void swapioi_request_free(struct swapio *handle, struct request *request)
{
	request->state = REQUEST_FREE;
	request->file = NULL;
	list_append(&handle->free_requests, &request->link);
}

swapio_id swapioi_request_id(const struct swapio *handle, const struct request *request)
{
	uint64_t index = (uint64_t)(request - handle->requests);

	return request->generation << ID_INDEX_BITS | index;
}

struct request *swapioi_request_find(struct swapio *handle, swapio_id id)
{
	uint64_t index = id & ((1u << ID_INDEX_BITS) - 1);
	struct request *request;

	if (index >= handle->requests_used)
		return NULL;
	request = &handle->requests[index];
	if (request->generation != id >> ID_INDEX_BITS || request->state == REQUEST_FREE ||
	    request->state == REQUEST_RESERVED)
		return NULL;
	return request;
}

/* There are as many files as requests, and a request that holds one is reserved first. */
struct file *swapioi_file_take(struct swapio *handle)
{
	struct list *link = list_pop(&handle->free_files);
	struct file *file;

	file = link ? list_entry(link, struct file, link) : &handle->files[handle->files_used++];
	list_init(&file->link);
	file->users = 1;
	return file;
}

void swapioi_file_free(struct swapio *handle, struct file *file)
{
	list_remove(&file->link);
	list_append(&handle->free_files, &file->link);
}

static struct list *fd_bucket(struct swapio *handle, int fd)
{
	return &handle->fds[(unsigned)fd % FD_BUCKETS];
}

/*
 * A borrowed descriptor stays what it is until the requests on it completed, so what was found
 * out about it holds for further requests until then: no system calls for them.
 */
struct file *swapioi_file_find(struct swapio *handle, int fd)
{
	struct list *bucket = fd_bucket(handle, fd);

	for (struct list *link = bucket->next; link != bucket; link = link->next) {
		struct file *file = list_entry(link, struct file, link);

		if (file->fd == fd) {
			file->users++;
			return file;
		}
	}
	return NULL;
}

void swapioi_file_share(struct swapio *handle, struct file *file)
{
	list_append(fd_bucket(handle, file->fd), &file->link);
}

void swapioi_request_check_over(struct request *request, struct list *over)
{
	if (swapioi_request_has_more(request) || request->blocks_out)
		return;
	list_remove(&request->link);
	list_append(over, &request->link);
}

/* The file's last user is gone: take it out of sight. True if it has to be closed. */
static bool drop_file(struct request *request)
{
	struct file *file = request->file;

	if (--file->users) {
		request->file = NULL;
		return false;
	}
	list_remove(&file->link);
	return true;
}

static void finish(struct swapio *handle, struct request *request)
{
	if (request->file)
		swapioi_file_free(handle, request->file);
	request->file = NULL;
	request->state = REQUEST_DONE;
	handle->active--;
	if (request->unlisted)
		return;
	list_append(&handle->done_requests, &request->link);
	handle->done_count++;
}

/* Closing is a system call, and the caller must not see a request done while its file is open. */
void swapioi_requests_finish(struct swapio *handle, struct list *over)
{
	bool any_to_close = false;
	struct list *link;

	if (list_empty(over))
		return;
	pthread_mutex_lock(&handle->lock);
	for (link = over->next; link != over; link = link->next)
		any_to_close |= drop_file(list_entry(link, struct request, link));
	if (any_to_close) {
		pthread_mutex_unlock(&handle->lock);
		for (link = over->next; link != over; link = link->next) {
			struct request *request = list_entry(link, struct request, link);

			if (request->file)
				swapioi_file_close(request->file);
		}
		pthread_mutex_lock(&handle->lock);
	}
	while ((link = list_pop(over)))
		finish(handle, list_entry(link, struct request, link));
	swapioi_wake_callers_locked(handle);
	pthread_mutex_unlock(&handle->lock);
}
