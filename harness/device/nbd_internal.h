/* SPDX-License-Identifier: MIT */
/*
 * nbd_internal.h - what negotiation and transmission share: the connection, its two buffers, and
 * numbers in network order.
 *
 * Threads: as nbd.h.
 */
#ifndef NBD_INTERNAL_H
#define NBD_INTERNAL_H

#include "nbd.h"

/* Bytes, of which those from @begin to @end are not used up. */
struct nbd_buffer {
	uint8_t *bytes;
	size_t begin, end, room;
};

enum nbd_state { NBD_CLIENT_FLAGS, NBD_OPTIONS, NBD_TRANSMISSION, NBD_OVER };

struct nbd {
	int socket;
	enum nbd_state state;
	struct nbd_export served;
	bool no_zeroes, fixed; /* what the client understands */
	unsigned unanswered;
	struct nbd_buffer in, out;
};

/* nbd_buffer.c. 0, -ENOMEM. */
int nbd_buffer_reserve(struct nbd_buffer *buffer, size_t bytes);
int nbd_buffer_put(struct nbd_buffer *buffer, const void *bytes, size_t count);
void nbd_buffer_take(struct nbd_buffer *buffer, size_t bytes);
size_t nbd_buffer_used(const struct nbd_buffer *buffer);

static inline uint64_t nbd_get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static inline uint8_t *nbd_set(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return at + bytes;
}

/* nbd_negotiate.c: the greeting; one step with what has come in. 1: a step was made, 0: more bytes
 * are needed, -EPROTO, -ENOMEM. */
int nbd_greet(struct nbd *nbd);
int nbd_negotiate(struct nbd *nbd);

#endif /* NBD_INTERNAL_H */
