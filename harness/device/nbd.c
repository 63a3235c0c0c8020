/* SPDX-License-Identifier: MIT */
/*
 * nbd.c - the connection and its transmission: requests in, simple replies out, in any order.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nbd_internal.h"

#define REQUEST_MAGIC 0x25609513u
#define REPLY_MAGIC 0x67446698u
#define REQUEST_BYTES 28u
#define READ_BYTES (256u << 10)
/* Replies that nobody fetches: no more requests are read meanwhile. */
#define BACKLOG_MAX (2u * NBD_LENGTH_MAX)

enum { COMMAND_READ = 0, COMMAND_WRITE = 1, COMMAND_DISCONNECT = 2, COMMAND_FLUSH = 3 };
enum { COMMAND_FLAG_FUA = 1 };

/* Errors as NBD numbers them, which is not as every system does. */
static const struct {
	int number;
	uint32_t wire;
} errors[] = {{EPERM, 1}, {EIO, 5}, {ENOMEM, 12}, {EINVAL, 22}, {ENOSPC, 28}};

static uint32_t error_on_wire(int number)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == number)
			return errors[i].wire;
	assert(number == 0);
	return 0;
}

int nbd_create(struct nbd **ret_nbd, int socket, const struct nbd_export *served)
{
	struct nbd *nbd = calloc(1, sizeof(*nbd));

	if (!nbd)
		return -ENOMEM;
	nbd->socket = socket;
	nbd->served = *served;
	fcntl(socket, F_SETFL, O_NONBLOCK);
	if (nbd_greet(nbd) < 0) {
		free(nbd);
		return -ENOMEM;
	}
	*ret_nbd = nbd;
	return 0;
}

void nbd_destroy(struct nbd *nbd)
{
	if (!nbd)
		return;
	close(nbd->socket);
	free(nbd->in.bytes);
	free(nbd->out.bytes);
	free(nbd);
}

int nbd_fd(const struct nbd *nbd)
{
	return nbd->socket;
}

static bool takes_more(const struct nbd *nbd)
{
	return nbd->state != NBD_OVER && nbd->unanswered < NBD_REQUESTS_MAX &&
	       nbd_buffer_used(&nbd->out) < BACKLOG_MAX &&
	       nbd_buffer_used(&nbd->in) < REQUEST_BYTES + NBD_LENGTH_MAX;
}

short nbd_events(const struct nbd *nbd)
{
	int events = takes_more(nbd) ? POLLIN : 0;

	if (nbd_buffer_used(&nbd->out))
		events |= POLLOUT;
	return (short)events;
}

/* It ended: nothing comes any more and nothing is left to send. */
static bool is_over(const struct nbd *nbd)
{
	return nbd->state == NBD_OVER && !nbd_buffer_used(&nbd->out);
}

/* Who does not read would not notice, and be woken for it again and again. */
static bool is_hung_up(const struct nbd *nbd)
{
	struct pollfd polled = {.fd = nbd->socket};

	return poll(&polled, 1, 0) > 0;
}

static int read_some(struct nbd *nbd)
{
	ssize_t count;

	if (nbd_buffer_reserve(&nbd->in, READ_BYTES) < 0)
		return -ENOMEM;
	count = recv(nbd->socket, nbd->in.bytes + nbd->in.end, READ_BYTES, 0);
	if (count > 0)
		nbd->in.end += (size_t)count;
	if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	return -EPIPE;
}

static int write_some(struct nbd *nbd)
{
	size_t used = nbd_buffer_used(&nbd->out);
	ssize_t count;

	if (!used)
		return 0;
	count = send(nbd->socket, nbd->out.bytes + nbd->out.begin, used, MSG_NOSIGNAL);
	if (count > 0)
		nbd_buffer_take(&nbd->out, (size_t)count);
	return count < 0 && errno != EAGAIN && errno != EINTR ? -EPIPE : 0;
}

static int end_with(struct nbd *nbd, int error)
{
	nbd->state = NBD_OVER;
	nbd->out.begin = nbd->out.end = 0;
	return error;
}

int nbd_receive(struct nbd *nbd)
{
	int result = 0;

	if (takes_more(nbd))
		result = read_some(nbd);
	else if (is_hung_up(nbd))
		result = -EPIPE;
	while (result == 0 && nbd->state < NBD_TRANSMISSION) {
		result = nbd_negotiate(nbd);
		if (result == 0)
			break;
		result = result < 0 ? result : 0;
	}
	return result < 0 ? end_with(nbd, result) : 0;
}

int nbd_send(struct nbd *nbd)
{
	int result = write_some(nbd);

	if (result == 0 && is_over(nbd))
		result = -EPIPE;
	return result < 0 ? end_with(nbd, result) : 0;
}

int nbd_reply(struct nbd *nbd, const struct nbd_request *request, int error, const void *data)
{
	uint8_t header[16], *at = nbd_set(header, 4, REPLY_MAGIC);

	at = nbd_set(at, 4, error_on_wire(error));
	nbd_set(at, 8, request->cookie);
	assert(nbd->unanswered > 0);
	nbd->unanswered--;
	if (nbd_buffer_put(&nbd->out, header, sizeof(header)) < 0)
		return -ENOMEM;
	if (request->command != NBD_READ || error)
		return 0;
	return nbd_buffer_put(&nbd->out, data, request->length);
}

/* What no device would be asked: answered here, and nobody's fault. 0: it is in order. */
static int check_request(const struct nbd *nbd, unsigned command, unsigned flags,
			 const struct nbd_request *request)
{
	const struct nbd_export *served = &nbd->served;

	if (command != COMMAND_READ && command != COMMAND_WRITE && command != COMMAND_FLUSH)
		return EINVAL;
	if (flags & ~(unsigned)COMMAND_FLAG_FUA)
		return EINVAL;
	if (command == COMMAND_FLUSH)
		return request->offset || request->length ? EINVAL : 0;
	if (command == COMMAND_WRITE && served->read_only)
		return EPERM;
	if (request->length == 0 || request->length > NBD_LENGTH_MAX ||
	    request->length % served->block_bytes || request->offset % served->block_bytes)
		return EINVAL;
	if (request->offset > served->size_bytes ||
	    request->length > served->size_bytes - request->offset)
		return command == COMMAND_WRITE ? ENOSPC : EINVAL;
	return 0;
}

static int take_data(struct nbd *nbd, struct nbd_request *request)
{
	request->data = malloc(request->length);
	if (!request->data)
		return ENOMEM;
	memcpy(request->data, nbd->in.bytes + nbd->in.begin + REQUEST_BYTES, request->length);
	return 0;
}

static enum nbd_command command_of(unsigned command)
{
	return command == COMMAND_READ	  ? NBD_READ
	       : command == COMMAND_WRITE ? NBD_WRITE
					  : NBD_FLUSH;
}

/* 1: a request for the user; 0: more bytes are needed; -EAGAIN: one was dealt with here. */
static int parse_request(struct nbd *nbd, struct nbd_request *request)
{
	const uint8_t *at = nbd->in.bytes + nbd->in.begin;
	unsigned flags, command;
	size_t payload;
	int error;

	if (nbd_buffer_used(&nbd->in) < REQUEST_BYTES)
		return 0;
	flags = (unsigned)nbd_get(at + 4, 2);
	command = (unsigned)nbd_get(at + 6, 2);
	*request = (struct nbd_request){.cookie = nbd_get(at + 8, 8),
					.command = command_of(command),
					.fua = flags & COMMAND_FLAG_FUA,
					.offset = nbd_get(at + 16, 8),
					.length = (uint32_t)nbd_get(at + 24, 4)};
	payload = command == COMMAND_WRITE ? request->length : 0;
	if (nbd_get(at, 4) != REQUEST_MAGIC || payload > NBD_LENGTH_MAX)
		return end_with(nbd, -EPROTO);
	if (command == COMMAND_DISCONNECT)
		return end_with(nbd, -EPIPE);
	if (nbd_buffer_used(&nbd->in) < REQUEST_BYTES + payload)
		return 0;
	error = check_request(nbd, command, flags, request);
	if (!error && command == COMMAND_WRITE)
		error = take_data(nbd, request);
	nbd_buffer_take(&nbd->in, REQUEST_BYTES + payload);
	nbd->unanswered++;
	if (!error)
		return 1;
	return nbd_reply(nbd, request, error, NULL) < 0 ? end_with(nbd, -EPIPE) : -EAGAIN;
}

int nbd_next(struct nbd *nbd, struct nbd_request *ret_request)
{
	int result;

	do {
		if (nbd->state != NBD_TRANSMISSION || nbd->unanswered >= NBD_REQUESTS_MAX)
			return 0;
		result = parse_request(nbd, ret_request);
	} while (result == -EAGAIN);
	return result == 1;
}
