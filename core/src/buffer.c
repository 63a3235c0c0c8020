/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - buffers of a handle: each a mapping of its own.
 */
#include <errno.h>
#include <stdlib.h>

#include "fork.h"
#include "handle.h"

struct buffer {
	struct list link;
	struct slab slab;
	bool pinned;
};

int swapio_buffer_alloc(struct swapio *handle, size_t length_bytes, unsigned flags, void **ret_buf)
{
	bool pinned = flags & SWAPIO_BUFFER_PINNED;
	struct buffer *buffer;
	int ret;

	if (swapioi_fork_passed(handle->epoch))
		return -ECHILD;
	if (flags & ~SWAPIO_BUFFER_PINNED)
		return -EINVAL;
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return -ENOMEM;
	buffer->pinned = pinned;
	ret = swapioi_slab_create(&buffer->slab, length_bytes, handle->alignment_bytes, pinned);
	if (ret < 0) {
		free(buffer);
		return ret;
	}
	if (pinned && !buffer->slab.locked)
		swapioi_log(&handle->log, SWAPIO_LOG_WARNING,
			    "buffer: %zu bytes are not locked in memory (RLIMIT_MEMLOCK)",
			    length_bytes);
	*ret_buf = buffer->slab.mem;
	pthread_mutex_lock(&handle->lock);
	list_append(&handle->buffers, &buffer->link);
	pthread_mutex_unlock(&handle->lock);
	return 0;
}

static struct buffer *find_buffer(struct swapio *handle, const void *buf)
{
	for (struct list *link = handle->buffers.next; link != &handle->buffers;
	     link = link->next) {
		struct buffer *buffer = list_entry(link, struct buffer, link);

		if (buffer->slab.mem == buf)
			return buffer;
	}
	return NULL;
}

static bool overlaps(const struct request *request, const struct slab *slab)
{
	uintptr_t start = (uintptr_t)request->mem, mem = (uintptr_t)slab->mem;

	return start < mem + slab->length_bytes && mem < start + (request->end - request->start);
}

static bool is_busy(const struct swapio *handle, const struct buffer *buffer)
{
	for (unsigned i = 0; i < handle->requests_used; i++)
		if (handle->requests[i].state == REQUEST_ACTIVE &&
		    overlaps(&handle->requests[i], &buffer->slab))
			return true;
	return false;
}

static int unlist(struct swapio *handle, const void *buf, struct buffer **ret_buffer)
{
	struct buffer *buffer = find_buffer(handle, buf);

	if (!buffer)
		return -EINVAL;
	if (is_busy(handle, buffer))
		return -EBUSY;
	list_remove(&buffer->link);
	*ret_buffer = buffer;
	return 0;
}

int swapio_buffer_free(struct swapio *handle, void *buf)
{
	struct buffer *buffer = NULL;
	int ret;

	if (!buf)
		return 0;
	if (swapioi_fork_passed(handle->epoch))
		return -ECHILD;
	pthread_mutex_lock(&handle->lock);
	ret = unlist(handle, buf, &buffer);
	pthread_mutex_unlock(&handle->lock);
	if (ret < 0)
		return ret;
	swapioi_slab_destroy(&buffer->slab);
	free(buffer);
	return 0;
}

/* A child forgets pinned memory, which it did not inherit, and frees its copies of the rest. */
void swapioi_buffers_free(struct swapio *handle, bool child)
{
	struct list *link;

	while ((link = list_pop(&handle->buffers))) {
		struct buffer *buffer = list_entry(link, struct buffer, link);

		if (child && buffer->pinned)
			swapioi_slab_forget(&buffer->slab);
		swapioi_slab_destroy(&buffer->slab);
		free(buffer);
	}
}

bool swapio_is_pinned(struct swapio *handle, const void *ptr, size_t length_bytes)
{
	return handle->accel->ops->is_pinned(handle->accel, ptr, length_bytes);
}
