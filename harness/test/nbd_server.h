/* SPDX-License-Identifier: MIT */
/*
 * nbd_server.h - the smallest NBD server that QEMU talks to, for tests of who plugs it in: one
 * export without a name, in a memfd, served by a thread until its client hangs up. A test looks at
 * what it counted, and tells it how to misbehave.
 *
 * Threads: the test's, and one of its own; the fields are for both, where they say so.
 */
#ifndef NBD_SERVER_H
#define NBD_SERVER_H

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NBD_READ, NBD_WRITE, NBD_DISCONNECT, NBD_FLUSH };
enum { NBD_OPTION_GO = 7 };

#define NBD_GREETING_MAGIC 0x4e42444d41474943ull
#define NBD_OPTION_MAGIC 0x49484156454f5054ull
#define NBD_OPTION_REPLY_MAGIC 0x3e889045565a9ull
#define NBD_REQUEST_MAGIC 0x25609513u
#define NBD_REPLY_MAGIC 0x67446698u
#define NBD_FUA 1u /* of a request */
#define NBD_UNSUPPORTED 0x80000001u
#define NBD_BYTES_MAX (32u << 20)

struct nbd_server {
	int socket, image_fd; /* both the server's */
	uint64_t bytes;
	/* before it starts */
	bool hangs_up; /* instead of a greeting */
	/* at any time, by the test */
	atomic_uint fails; /* so many of the next requests that move bytes end in EIO */
	atomic_bool dies;  /* at the next request */
	/* by the server */
	atomic_uint reads, writes, flushes; /* well or not */
	atomic_uint durable;		    /* of the writes */
	atomic_bool parted;		    /* the client said that it goes */
	pthread_t thread;
};

struct __attribute__((packed)) nbd_option {
	uint64_t magic;
	uint32_t option, bytes;
};

struct __attribute__((packed)) nbd_option_reply {
	uint64_t magic;
	uint32_t option, type, bytes;
};

struct __attribute__((packed)) nbd_export {
	uint16_t type;
	uint64_t bytes;
	uint16_t flags;
};

struct __attribute__((packed)) nbd_request {
	uint32_t magic;
	uint16_t flags, type;
	uint64_t handle, offset;
	uint32_t length;
};

struct __attribute__((packed)) nbd_reply {
	uint32_t magic, error;
	uint64_t handle;
};

static inline bool nbd_take(const struct nbd_server *server, void *data, size_t bytes)
{
	return bytes == 0 || recv(server->socket, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static inline bool nbd_give(const struct nbd_server *server, const void *data, size_t bytes)
{
	return bytes == 0 || send(server->socket, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static inline bool nbd_answer_option(const struct nbd_server *server, uint32_t option,
				     uint32_t type, const void *data, uint32_t bytes)
{
	struct nbd_option_reply reply = {htobe64(NBD_OPTION_REPLY_MAGIC), htobe32(option),
					 htobe32(type), htobe32(bytes)};

	return nbd_give(server, &reply, sizeof(reply)) && nbd_give(server, data, bytes);
}

/* Options until one begins the transmission. */
static inline bool nbd_negotiate(const struct nbd_server *server)
{
	struct __attribute__((packed)) {
		uint64_t greeting, options;
		uint16_t flags;
	} hello = {htobe64(NBD_GREETING_MAGIC), htobe64(NBD_OPTION_MAGIC), htobe16(3)};
	struct nbd_export export = {0, htobe64(server->bytes), htobe16(1 | 4 | 8)};
	struct nbd_option option;
	char data[4096];
	uint32_t flags;

	if (!nbd_give(server, &hello, sizeof(hello)) || !nbd_take(server, &flags, sizeof(flags)))
		return false;
	while (nbd_take(server, &option, sizeof(option)) && be32toh(option.bytes) < sizeof(data) &&
	       nbd_take(server, data, be32toh(option.bytes))) {
		uint32_t asked = be32toh(option.option);

		if (asked == NBD_OPTION_GO)
			return nbd_answer_option(server, asked, 3, &export, sizeof(export)) &&
			       nbd_answer_option(server, asked, 1, NULL, 0);
		if (!nbd_answer_option(server, asked, NBD_UNSUPPORTED, NULL, 0))
			return false;
	}
	return false;
}

static inline bool nbd_fails(struct nbd_server *server)
{
	unsigned left = atomic_load(&server->fails);

	while (left > 0 && !atomic_compare_exchange_weak(&server->fails, &left, left - 1))
		;
	return left > 0;
}

/* The error to answer with; @data holds what was read, or is to be written. */
static inline uint32_t nbd_carry_out(struct nbd_server *server, uint16_t type, uint64_t offset,
				     char *data, uint32_t length)
{
	ssize_t moved = 0;

	if (type == NBD_FLUSH) {
		atomic_fetch_add(&server->flushes, 1);
		return 0;
	}
	if (type != NBD_READ && type != NBD_WRITE)
		return EINVAL;
	atomic_fetch_add(type == NBD_READ ? &server->reads : &server->writes, 1);
	if (nbd_fails(server))
		return EIO;
	moved = type == NBD_READ ? pread(server->image_fd, data, length, (off_t)offset)
				 : pwrite(server->image_fd, data, length, (off_t)offset);
	return moved == (ssize_t)length ? 0 : EIO;
}

static inline bool nbd_serve_one(struct nbd_server *server, char *data)
{
	struct nbd_request request;
	struct nbd_reply reply = {.magic = htobe32(NBD_REPLY_MAGIC)};
	uint32_t length, error;
	uint16_t type;

	if (!nbd_take(server, &request, sizeof(request)) ||
	    request.magic != htobe32(NBD_REQUEST_MAGIC) || atomic_load(&server->dies))
		return false;
	type = be16toh(request.type);
	length = be32toh(request.length);
	atomic_store(&server->parted, type == NBD_DISCONNECT);
	if (type == NBD_DISCONNECT || length > NBD_BYTES_MAX ||
	    (type == NBD_WRITE && !nbd_take(server, data, length)))
		return false;
	if (type == NBD_WRITE && (be16toh(request.flags) & NBD_FUA))
		atomic_fetch_add(&server->durable, 1);
	error = nbd_carry_out(server, type, be64toh(request.offset), data, length);
	reply.error = htobe32(error);
	reply.handle = request.handle;
	return nbd_give(server, &reply, sizeof(reply)) &&
	       (type != NBD_READ || error || nbd_give(server, data, length));
}

static inline void *nbd_serve(void *argument)
{
	struct nbd_server *server = argument;
	char *data = malloc(NBD_BYTES_MAX);

	if (data && !server->hangs_up && nbd_negotiate(server))
		while (nbd_serve_one(server, data))
			;
	free(data);
	shutdown(server->socket, SHUT_RDWR);
	return NULL;
}

/* Takes @image_fd. The client's end of the socket, or -1. */
static inline int nbd_start(struct nbd_server *server, int image_fd, uint64_t bytes)
{
	int ends[2];

	server->image_fd = image_fd;
	server->bytes = bytes;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	server->socket = ends[0];
	if (pthread_create(&server->thread, NULL, nbd_serve, server) == 0)
		return ends[1];
	close(ends[0]);
	close(ends[1]);
	return -1;
}

/* Its client must be gone, or going. */
static inline void nbd_stop(struct nbd_server *server)
{
	pthread_join(server->thread, NULL);
	close(server->socket);
	close(server->image_fd);
}

#endif /* NBD_SERVER_H */
