/* SPDX-License-Identifier: MIT */
/*
 * nbd.h - the server's half of the NBD protocol on one connection: fixed newstyle negotiation,
 * then requests and simple replies. It knows bytes and no faults: what a request is answered with,
 * and when, is its user's.
 *
 * Threads: caller storage. Nothing blocks: nbd_receive() and nbd_send() move what is there.
 */
#ifndef NBD_H
#define NBD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NBD_LENGTH_MAX (32u << 20) /* of one request */
#define NBD_REQUESTS_MAX 128	   /* unanswered; more are left in the socket */

struct nbd_export {
	uint64_t size_bytes;
	uint32_t block_bytes; /* requests are multiples of it */
	bool read_only;
};

enum nbd_command { NBD_READ, NBD_WRITE, NBD_FLUSH };

struct nbd_request {
	uint64_t cookie; /* the client's, repeated in the reply */
	enum nbd_command command;
	bool fua;
	uint64_t offset;
	uint32_t length;
	uint8_t *data; /* of a write: @length bytes, free() them */
};

struct nbd;

/* Takes @socket over. 0, -ENOMEM. */
int nbd_create(struct nbd **ret_nbd, int socket, const struct nbd_export *served);
void nbd_destroy(struct nbd *nbd);

int nbd_fd(const struct nbd *nbd);
/* What to poll the descriptor for; 0: nothing but its end, too much is unanswered. */
short nbd_events(const struct nbd *nbd);
/* Take what has come in; requests are to be fetched behind it, since nobody is woken for them
 * again. 0; -EPIPE: the client is gone; -EPROTO: it does not speak NBD, and is cut off; -ENOMEM. */
int nbd_receive(struct nbd *nbd);
/* Send what can be sent. 0; -EPIPE: the client is gone, or was told that it is over. */
int nbd_send(struct nbd *nbd);
/* 1 and a request that is valid for the export; 0: none is there. Invalid ones were answered. */
int nbd_next(struct nbd *nbd, struct nbd_request *ret_request);
/* Answer: @error 0 or an errno; @data of a read that succeeded, copied. 0, -ENOMEM. */
int nbd_reply(struct nbd *nbd, const struct nbd_request *request, int error, const void *data);

#endif /* NBD_H */
