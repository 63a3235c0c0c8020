/* SPDX-License-Identifier: MIT */
/*
 * guest_channel.c - lines of JSON to and from the guest's second serial port.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "guest_internal.h"
#include "guest_wait.h"

#define READ_BYTES (16u * 1024)
#define RECEIVED_BYTES_MAX (64u * 1024 * 1024)
#define SEND_DEADLINE_MS 20000u

static int make_room(struct guest *guest)
{
	size_t room = guest->received_room ? 2 * guest->received_room : 4 * READ_BYTES;
	char *grown;

	if (guest->received_room - guest->received_bytes >= READ_BYTES)
		return 0;
	grown = room > RECEIVED_BYTES_MAX ? NULL : realloc(guest->received, room);
	if (!grown)
		return -ENOMEM;
	guest->received = grown;
	guest->received_room = room;
	return 0;
}

int guest_channel_read(struct guest *guest)
{
	ssize_t got;

	while (!guest->ended && make_room(guest) == 0) {
		got = recv(guest->channel, guest->received + guest->received_bytes, READ_BYTES,
			   MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return 0;
		guest->ended = got <= 0;
		if (got > 0)
			guest->received_bytes += (size_t)got;
	}
	return guest->ended ? -EPIPE : 0;
}

/* The line that ends at @end. Serial ports may see stray bytes while they are set up: empty lines
 * and carriage returns are nothing. */
static int take_line(struct guest *guest, const char *end, json_t **ret_line)
{
	size_t length = (size_t)(end - guest->received);
	size_t blank = strspn(guest->received, " \r\n");
	json_t *line = NULL;
	int result = 0;

	if (blank < length) {
		line = json_loadb(guest->received, length, 0, NULL);
		result = line ? 1 : -EBADMSG;
	}
	guest->received_bytes -= length + 1;
	memmove(guest->received, end + 1, guest->received_bytes);
	if (line)
		*ret_line = line;
	return result;
}

int guest_receive(struct guest *guest, json_t **ret_line)
{
	const char *end;
	int result = 0;

	guest_service(guest);
	while (result == 0 && guest->received_bytes > 0) {
		end = memchr(guest->received, '\n', guest->received_bytes);
		if (!end)
			break;
		result = take_line(guest, end, ret_line);
	}
	return result == 0 && guest->ended ? -EPIPE : result;
}

/* What QEMU writes meanwhile is read, so that neither side waits for the other. */
static int send_all(struct guest *guest, const char *text, size_t bytes)
{
	uint64_t deadline = guest_deadline(SEND_DEADLINE_MS);
	struct pollfd polled[] = {{.fd = guest->channel, .events = POLLOUT},
				  {.fd = guest->epoll, .events = POLLIN}};
	int error = 0;

	while (bytes > 0 && error == 0) {
		ssize_t sent = send(guest->channel, text, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent > 0) {
			text += sent;
			bytes -= (size_t)sent;
		} else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
			error = -EPIPE;
		} else {
			error = guest_wait(polled, 2, deadline, &guest->interrupt);
			guest_service(guest);
			if (guest->ended)
				error = -EPIPE;
		}
	}
	return error;
}

int guest_send(struct guest *guest, const json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT);
	size_t bytes = text ? strlen(text) : 0;
	int error;

	if (!text)
		return -ENOMEM;
	if (bytes + 1 > GUEST_SEND_BYTES_MAX) {
		error = -EMSGSIZE;
	} else {
		text[bytes] = '\n'; /* in place of the NUL */
		error = send_all(guest, text, bytes + 1);
	}
	free(text);
	return error;
}
