/* SPDX-License-Identifier: MIT */
/*
 * nbd_buffer.c - bytes on their way in or out of a connection.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nbd_internal.h"

size_t nbd_buffer_used(const struct nbd_buffer *buffer)
{
	return buffer->end - buffer->begin;
}

int nbd_buffer_reserve(struct nbd_buffer *buffer, size_t bytes)
{
	size_t used = nbd_buffer_used(buffer), room = buffer->room ? buffer->room : 4096;
	uint8_t *grown;

	if (buffer->begin) {
		memmove(buffer->bytes, buffer->bytes + buffer->begin, used);
		buffer->begin = 0;
		buffer->end = used;
	}
	while (room - used < bytes)
		room *= 2;
	if (room == buffer->room)
		return 0;
	grown = realloc(buffer->bytes, room);
	if (!grown)
		return -ENOMEM;
	buffer->bytes = grown;
	buffer->room = room;
	return 0;
}

int nbd_buffer_put(struct nbd_buffer *buffer, const void *bytes, size_t count)
{
	if (buffer->room - buffer->end < count && nbd_buffer_reserve(buffer, count) < 0)
		return -ENOMEM;
	memcpy(buffer->bytes + buffer->end, bytes, count);
	buffer->end += count;
	return 0;
}

void nbd_buffer_take(struct nbd_buffer *buffer, size_t bytes)
{
	assert(bytes <= nbd_buffer_used(buffer));
	buffer->begin += bytes;
	if (buffer->begin == buffer->end)
		buffer->begin = buffer->end = 0;
}
