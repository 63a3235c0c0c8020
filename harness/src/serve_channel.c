/* SPDX-License-Identifier: MIT */
/*
 * serve_channel.c - lines of JSON over a descriptor that blocks.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve_channel.h"

/* 1: something came; 0: the end; -errno. */
static int read_more(struct serve_channel *channel)
{
	ssize_t got;

	do
		got = read(channel->fd, channel->received + channel->used,
			   sizeof(channel->received) - channel->used);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 ? -errno : 0;
	channel->used += (size_t)got;
	return 1;
}

static void forget(struct serve_channel *channel, size_t bytes)
{
	channel->used -= bytes;
	memmove(channel->received, channel->received + bytes, channel->used);
}

static int take_line(struct serve_channel *channel, size_t bytes, json_t **ret_line)
{
	json_t *line = json_loadb(channel->received, bytes, 0, NULL);

	forget(channel, bytes + 1);
	if (json_is_object(line)) {
		*ret_line = line;
		return 1;
	}
	json_decref(line);
	return -EBADMSG;
}

int serve_channel_receive(struct serve_channel *channel, json_t **ret_line)
{
	bool too_long = false;

	for (;;) {
		char *end = memchr(channel->received, '\n', channel->used);
		int result;

		if (end && !too_long)
			return take_line(channel, (size_t)(end - channel->received), ret_line);
		if (end) {
			forget(channel, (size_t)(end - channel->received) + 1);
			return -EBADMSG;
		}
		if (channel->used == sizeof(channel->received)) {
			too_long = true;
			channel->used = 0;
		}
		result = read_more(channel);
		if (result <= 0)
			return result;
	}
}

bool serve_channel_is_readable(const struct serve_channel *channel)
{
	struct pollfd polled = {.fd = channel->fd, .events = POLLIN};

	return memchr(channel->received, '\n', channel->used) || poll(&polled, 1, 0) > 0;
}

static int write_all(int fd, const char *bytes, size_t count)
{
	while (count) {
		ssize_t put = write(fd, bytes, count);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		bytes += put;
		count -= (size_t)put;
	}
	return 0;
}

int serve_channel_send(struct serve_channel *channel, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	int error;

	json_decref(line);
	if (!text)
		return -ENOMEM;
	text[length] = '\n';
	error = write_all(channel->fd, text, length + 1);
	free(text);
	return error;
}
