/* SPDX-License-Identifier: MIT */
/*
 * nbd_client.h - the client's half of NBD for tests, byte by byte, so that it can also say what no
 * client should. Whatever does not come within 20 s fails the test.
 *
 * Threads: caller storage.
 */
#ifndef NBD_CLIENT_H
#define NBD_CLIENT_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENT_DEADLINE_MS 20000
#define CLIENT_QUIET_MS 30 /* how long nothing has to come for it to be nothing */

enum client_command {
	CLIENT_READ = 0,
	CLIENT_WRITE = 1,
	CLIENT_DISCONNECT = 2,
	CLIENT_FLUSH = 3,
	CLIENT_TRIM = 4
};
enum { CLIENT_FUA = 1 };
enum { CLIENT_EXPORT_NAME = 1, CLIENT_ABORT = 2, CLIENT_INFO = 6, CLIENT_GO = 7 };

struct client_request {
	enum client_command command;
	uint16_t flags;
	uint64_t cookie, offset;
	uint32_t length;
};

struct client_reply {
	uint32_t error;
	uint64_t cookie;
};

static inline uint8_t *client_put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return at + bytes;
}

static inline uint64_t client_get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static inline void client_send(int fd, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (bytes) {
		struct pollfd polled = {.fd = fd, .events = POLLOUT};
		ssize_t count = send(fd, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (count < 0) {
			assert_int_equal(errno, EAGAIN);
			assert_int_equal(poll(&polled, 1, CLIENT_DEADLINE_MS), 1);
			continue;
		}
		at += count;
		bytes -= (size_t)count;
	}
}

/* How many came before the server hung up. */
static inline size_t client_receive_some(int fd, void *data, size_t bytes)
{
	size_t have = 0;

	while (have < bytes) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};
		ssize_t count;

		assert_int_equal(poll(&polled, 1, CLIENT_DEADLINE_MS), 1);
		count = recv(fd, (uint8_t *)data + have, bytes - have, 0);
		if (count <= 0)
			break;
		have += (size_t)count;
	}
	return have;
}

static inline void client_receive(int fd, void *data, size_t bytes)
{
	assert_int_equal(client_receive_some(fd, data, bytes), bytes);
}

/* Nothing is there, and nothing comes. */
static inline bool client_is_quiet(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	return poll(&polled, 1, CLIENT_QUIET_MS) == 0;
}

static inline bool client_is_hung_up(int fd)
{
	uint8_t byte;

	return client_receive_some(fd, &byte, 1) == 0;
}

/* ---- negotiation ---- */

/* The greeting is right; @flags is the answer to it. */
static inline void client_greet(int fd, uint32_t flags)
{
	uint8_t greeting[18], answer[4];

	client_receive(fd, greeting, sizeof(greeting));
	assert_memory_equal(greeting, "NBDMAGICIHAVEOPT", 16);
	assert_int_equal(client_get(greeting + 16, 2), 3); /* fixed newstyle, no zeroes */
	client_put(answer, 4, flags);
	client_send(fd, answer, sizeof(answer));
}

static inline void client_send_option(int fd, uint32_t option, const void *data, uint32_t bytes)
{
	uint8_t header[16], *at = header;

	memcpy(at, "IHAVEOPT", 8);
	at = client_put(at + 8, 4, option);
	client_put(at, 4, bytes);
	client_send(fd, header, sizeof(header));
	client_send(fd, data, bytes);
}

/* One reply to @option: its type; what it carries goes to @data. */
static inline uint32_t client_option_reply(int fd, uint32_t option, uint8_t *data, size_t room)
{
	uint8_t header[20];
	size_t bytes;

	client_receive(fd, header, sizeof(header));
	assert_int_equal(client_get(header, 8), 0x3e889045565a9u);
	assert_int_equal(client_get(header + 8, 4), option);
	bytes = (size_t)client_get(header + 16, 4);
	assert_in_range(bytes, 0, room);
	client_receive(fd, data, bytes);
	return (uint32_t)client_get(header + 12, 4);
}

struct client_export {
	uint64_t size_bytes;
	uint16_t flags;
	uint32_t block_min, block_max;
};

/* Ask for the export that has no name, as option INFO or GO. */
static inline void client_ask(int fd, uint32_t option, struct client_export *ret_export)
{
	static const uint8_t nameless[6] = {0};
	uint8_t data[64];
	uint32_t type;

	memset(ret_export, 0, sizeof(*ret_export));
	client_send_option(fd, option, nameless, sizeof(nameless));
	while ((type = client_option_reply(fd, option, data, sizeof(data))) == 3) {
		if (client_get(data, 2) == 0) {
			ret_export->size_bytes = client_get(data + 2, 8);
			ret_export->flags = (uint16_t)client_get(data + 10, 2);
		} else {
			assert_int_equal(client_get(data, 2), 3);
			ret_export->block_min = (uint32_t)client_get(data + 2, 4);
			ret_export->block_max = (uint32_t)client_get(data + 10, 4);
		}
	}
	assert_int_equal(type, 1);
}

static inline void client_connect(int fd)
{
	struct client_export served;

	client_greet(fd, 3);
	client_ask(fd, CLIENT_GO, &served);
	assert_true(served.size_bytes > 0);
}

/* ---- requests ---- */

static inline void client_submit(int fd, const struct client_request *request, const void *data)
{
	uint8_t header[28], *at = client_put(header, 4, 0x25609513u);

	at = client_put(at, 2, request->flags);
	at = client_put(at, 2, request->command);
	at = client_put(at, 8, request->cookie);
	at = client_put(at, 8, request->offset);
	client_put(at, 4, request->length);
	client_send(fd, header, sizeof(header));
	if (request->command == CLIENT_WRITE && data)
		client_send(fd, data, request->length);
}

/* The next reply, whoever's it is. With @bytes a read's, which brings them unless it failed. */
static inline struct client_reply client_reply(int fd, void *data, size_t bytes)
{
	struct client_reply reply;
	uint8_t header[16];

	client_receive(fd, header, sizeof(header));
	assert_int_equal(client_get(header, 4), 0x67446698u);
	reply.error = (uint32_t)client_get(header + 4, 4);
	reply.cookie = client_get(header + 8, 8);
	if (!reply.error)
		client_receive(fd, data, bytes);
	return reply;
}

/* Request and reply: what it was answered with. */
static inline uint32_t client_do(int fd, enum client_command command, uint16_t flags,
				 uint64_t offset, void *data, uint32_t length)
{
	static uint64_t cookie = 0x1122334455667788u;
	struct client_request request = {command, flags, ++cookie, offset, length};
	struct client_reply reply;

	client_submit(fd, &request, data);
	reply = client_reply(fd, data, command == CLIENT_READ ? length : 0);
	assert_int_equal(reply.cookie, request.cookie);
	return reply.error;
}

#endif /* NBD_CLIENT_H */
