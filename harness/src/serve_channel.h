/* SPDX-License-Identifier: MIT */
/*
 * serve_channel.h - the guest's end of the serial port: one JSON object a line, both ways.
 *
 * Threads: one thread.
 */
#ifndef SERVE_CHANNEL_H
#define SERVE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define SERVE_LINE_BYTES_MAX (64u * 1024) /* of a line that comes in */

struct serve_channel {
	int fd;
	size_t used;
	char received[SERVE_LINE_BYTES_MAX];
};

/* Wait for a line. 1 and a new reference; 0: the other side is gone; -EBADMSG: it is no JSON
 * object, or longer than that, and was thrown away; -errno. */
int serve_channel_receive(struct serve_channel *channel, json_t **ret_line);
/* Is there something to receive? */
bool serve_channel_is_readable(const struct serve_channel *channel);
/* Send a line, all of it; @line is consumed, and NULL is -ENOMEM. 0, -errno. */
int serve_channel_send(struct serve_channel *channel, json_t *line);

#endif /* SERVE_CHANNEL_H */
