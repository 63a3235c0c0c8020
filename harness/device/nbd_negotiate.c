/* SPDX-License-Identifier: MIT */
/*
 * nbd_negotiate.c - fixed newstyle negotiation: the greeting, the client's flags, and options until
 * one of them begins the transmission. One export, which has no name; what is not known is refused
 * as unsupported, so that clients can go on without it.
 */
#include <errno.h>
#include <string.h>

#include "nbd_internal.h"

#define GREETING_MAGIC 0x4e42444d41474943u /* "NBDMAGIC" */
#define OPTION_MAGIC 0x49484156454f5054u   /* "IHAVEOPT" */
#define REPLY_MAGIC 0x3e889045565a9u
#define OPTION_BYTES 16u
#define OPTION_DATA_MAX 65536u

enum { FLAG_FIXED_NEWSTYLE = 1, FLAG_NO_ZEROES = 2 };
enum { OPTION_EXPORT_NAME = 1, OPTION_ABORT = 2, OPTION_INFO = 6, OPTION_GO = 7 };
enum { REPLY_ACK = 1, REPLY_INFO = 3 };

#define REPLY_UNSUPPORTED 0x80000001u
#define REPLY_INVALID 0x80000003u
#define REPLY_UNKNOWN 0x80000006u

enum { INFO_EXPORT = 0, INFO_BLOCK_SIZE = 3 };
enum { HAS_FLAGS = 1, READ_ONLY = 2, SEND_FLUSH = 4, SEND_FUA = 8 };

/* Writes of zeroes and trims are not offered: then all that changes bytes is a write. */
static unsigned transmission_flags(const struct nbd *nbd)
{
	return HAS_FLAGS | SEND_FLUSH | SEND_FUA | (nbd->served.read_only ? READ_ONLY : 0u);
}

int nbd_greet(struct nbd *nbd)
{
	uint8_t bytes[18], *at = bytes;

	at = nbd_set(at, 8, GREETING_MAGIC);
	at = nbd_set(at, 8, OPTION_MAGIC);
	nbd_set(at, 2, FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES);
	return nbd_buffer_put(&nbd->out, bytes, sizeof(bytes));
}

static int take_flags(struct nbd *nbd)
{
	uint64_t flags;

	if (nbd_buffer_used(&nbd->in) < 4)
		return 0;
	flags = nbd_get(nbd->in.bytes + nbd->in.begin, 4);
	nbd_buffer_take(&nbd->in, 4);
	if (flags & ~(uint64_t)(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES))
		return -EPROTO;
	nbd->fixed = flags & FLAG_FIXED_NEWSTYLE;
	nbd->no_zeroes = flags & FLAG_NO_ZEROES;
	nbd->state = NBD_OPTIONS;
	return 1;
}

static int reply(struct nbd *nbd, uint32_t option, uint32_t type, const void *data, size_t bytes)
{
	uint8_t header[20], *at = header;

	at = nbd_set(at, 8, REPLY_MAGIC);
	at = nbd_set(at, 4, option);
	at = nbd_set(at, 4, type);
	nbd_set(at, 4, bytes);
	if (nbd_buffer_put(&nbd->out, header, sizeof(header)) < 0)
		return -ENOMEM;
	return bytes ? nbd_buffer_put(&nbd->out, data, bytes) : 0;
}

static int reply_infos(struct nbd *nbd, uint32_t option)
{
	uint8_t info[12], block[14], *at = nbd_set(info, 2, INFO_EXPORT);

	at = nbd_set(at, 8, nbd->served.size_bytes);
	nbd_set(at, 2, transmission_flags(nbd));
	at = nbd_set(block, 2, INFO_BLOCK_SIZE);
	at = nbd_set(at, 4, nbd->served.block_bytes);
	at = nbd_set(at, 4, nbd->served.block_bytes > 4096 ? nbd->served.block_bytes : 4096);
	nbd_set(at, 4, NBD_LENGTH_MAX);
	if (reply(nbd, option, REPLY_INFO, info, sizeof(info)) < 0 ||
	    reply(nbd, option, REPLY_INFO, block, sizeof(block)) < 0)
		return -ENOMEM;
	return reply(nbd, option, REPLY_ACK, NULL, 0);
}

/* Name of the export with its length before it, then how many informations are wanted, and which:
 * they are given whatever is asked for. */
static int answer_info(struct nbd *nbd, uint32_t option, const uint8_t *data, size_t bytes)
{
	uint64_t name, wanted;

	name = bytes >= 6 ? nbd_get(data, 4) : UINT64_MAX;
	if (name > bytes || name + 6 > bytes)
		return reply(nbd, option, REPLY_INVALID, NULL, 0);
	wanted = nbd_get(data + 4 + name, 2);
	if (bytes != 6 + name + 2 * wanted)
		return reply(nbd, option, REPLY_INVALID, NULL, 0);
	if (name)
		return reply(nbd, option, REPLY_UNKNOWN, NULL, 0);
	if (option == OPTION_GO)
		nbd->state = NBD_TRANSMISSION;
	return reply_infos(nbd, option);
}

/* The old way to begin has no way to refuse but to hang up. */
static int answer_export_name(struct nbd *nbd, size_t name_bytes)
{
	uint8_t bytes[10 + 124] = {0}, *at = nbd_set(bytes, 8, nbd->served.size_bytes);

	nbd_set(at, 2, transmission_flags(nbd));
	if (name_bytes)
		return -EPROTO;
	nbd->state = NBD_TRANSMISSION;
	return nbd_buffer_put(&nbd->out, bytes, nbd->no_zeroes ? 10 : sizeof(bytes));
}

static int answer_option(struct nbd *nbd, uint32_t option, const uint8_t *data, size_t bytes)
{
	if (option == OPTION_EXPORT_NAME)
		return answer_export_name(nbd, bytes);
	if (!nbd->fixed)
		return -EPROTO; /* it does not understand a refusal */
	switch (option) {
	case OPTION_ABORT:
		nbd->state = NBD_OVER;
		return reply(nbd, option, REPLY_ACK, NULL, 0);
	case OPTION_INFO:
	case OPTION_GO:
		return answer_info(nbd, option, data, bytes);
	}
	return reply(nbd, option, REPLY_UNSUPPORTED, NULL, 0);
}

static int take_option(struct nbd *nbd)
{
	const uint8_t *at = nbd->in.bytes + nbd->in.begin;
	uint64_t bytes;
	int result;

	if (nbd_buffer_used(&nbd->in) < OPTION_BYTES)
		return 0;
	bytes = nbd_get(at + 12, 4);
	if (nbd_get(at, 8) != OPTION_MAGIC || bytes > OPTION_DATA_MAX)
		return -EPROTO;
	if (nbd_buffer_used(&nbd->in) < OPTION_BYTES + bytes)
		return 0;
	result = answer_option(nbd, (uint32_t)nbd_get(at + 8, 4), at + OPTION_BYTES, bytes);
	nbd_buffer_take(&nbd->in, OPTION_BYTES + bytes);
	return result < 0 ? result : 1;
}

int nbd_negotiate(struct nbd *nbd)
{
	return nbd->state == NBD_CLIENT_FLAGS ? take_flags(nbd) : take_option(nbd);
}
