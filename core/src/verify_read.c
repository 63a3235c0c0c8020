/* SPDX-License-Identifier: MIT */
/*
 * verify_read.c - a window of requests that runs ahead over the pieces of chunks, while their sums
 * are made in order.
 */
#include "verify_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"
#include "error.h"

#define WINDOW 8u
#define PIECE_BYTES ((size_t)1 << 20)

/* What one request reads: never more than a chunk. */
struct piece {
	unsigned tensor;
	uint64_t offset_bytes; /* within the tensor */
	size_t length_bytes;
	unsigned char *buf;
	swapio_id request;
};

struct verify_reader {
	struct swapio_store *store;
	struct checksum *sum;
	unsigned char *mem; /* [WINDOW][PIECE_BYTES] */

	/* Of one generation. */
	const struct volume *volume;
	const struct manifest *manifest;
	struct damages *damages;
	unsigned next_tensor; /* of the next piece to be submitted */
	uint64_t next_offset;
	struct piece window[WINDOW]; /* a ring */
	unsigned first, count;
	struct swapio_error chunk; /* what reading the current chunk said */
};

struct verify_reader *swapioi_verify_reader_create(struct swapio_store *store)
{
	struct verify_reader *reader = calloc(1, sizeof(*reader));
	void *mem = NULL;

	if (!reader)
		return NULL;
	reader->store = store;
	reader->sum = swapioi_checksum_create();
	if (reader->sum && swapio_buffer_alloc(store->handle, WINDOW * PIECE_BYTES, 0, &mem) == 0) {
		reader->mem = mem;
		return reader;
	}
	swapioi_verify_reader_destroy(reader);
	return NULL;
}

void swapioi_verify_reader_destroy(struct verify_reader *reader)
{
	if (!reader)
		return;
	swapio_buffer_free(reader->store->handle, reader->mem);
	swapioi_checksum_destroy(reader->sum);
	free(reader);
}

void swapioi_damages_fini(struct damages *damages)
{
	for (size_t i = 0; i < damages->count; i++)
		free(damages->items[i].text);
	free(damages->items);
	*damages = (struct damages){.count = 0};
}

static bool joins(const struct damage *last, const struct damage *next)
{
	return last->tensor == next->tensor && last->error == next->error &&
	       last->offset_bytes + last->length_bytes == next->offset_bytes;
}

static int add_damage(struct damages *damages, const struct damage *damage, const char *text)
{
	struct damage *items = damages->items;

	if (damages->count && joins(&items[damages->count - 1], damage)) {
		items[damages->count - 1].length_bytes += damage->length_bytes;
		return 0;
	}
	if (damages->count == damages->room) {
		size_t room = damages->room ? 2 * damages->room : 16;

		items = realloc(items, room * sizeof(*items));
		if (!items)
			return -ENOMEM;
		damages->items = items;
		damages->room = room;
	}
	items[damages->count] = *damage;
	items[damages->count].text = text ? strdup(text) : NULL;
	if (text && !items[damages->count].text)
		return -ENOMEM;
	damages->count++;
	return 0;
}

static uint64_t chunk_end(const struct manifest *manifest, unsigned tensor, uint64_t offset)
{
	uint64_t bytes = manifest_tensor_bytes(&manifest->tensors[tensor]);
	uint64_t end = (offset / manifest->chunk_bytes + 1) * manifest->chunk_bytes;

	return end < bytes ? end : bytes;
}

/* False at the end. */
static bool next_piece(struct verify_reader *reader, struct piece *piece)
{
	const struct manifest *manifest = reader->manifest;

	while (reader->next_tensor < manifest->count &&
	       reader->next_offset ==
		       manifest_tensor_bytes(&manifest->tensors[reader->next_tensor])) {
		reader->next_tensor++;
		reader->next_offset = 0;
	}
	if (reader->next_tensor == manifest->count)
		return false;
	piece->tensor = reader->next_tensor;
	piece->offset_bytes = reader->next_offset;
	piece->length_bytes = (size_t)(chunk_end(manifest, piece->tensor, piece->offset_bytes) -
				       piece->offset_bytes);
	if (piece->length_bytes > PIECE_BYTES)
		piece->length_bytes = PIECE_BYTES;
	return true;
}

/* Whole units: what is behind the last byte is padding. */
static int submit_piece(struct verify_reader *reader, struct piece *piece,
			struct swapio_error *error)
{
	const struct manifest_tensor *tensor = &reader->manifest->tensors[piece->tensor];
	struct store_io io = {
		.op = SWAPIO_READ,
		.fd = reader->volume->fd,
		.offset_bytes =
			swapioi_volume_tensor_offset(reader->volume, tensor) + piece->offset_bytes,
		.buf = piece->buf,
		.length_bytes = (size_t)round_up(piece->length_bytes, STORE_UNIT),
		.what = "verify",
	};

	return swapioi_store_io_start(reader->store, &io, &piece->request, error);
}

/* Until the window is full, or the handle is: others use it, too. */
static int fill_window(struct verify_reader *reader, struct swapio_error *error)
{
	while (reader->count < WINDOW) {
		unsigned at = (reader->first + reader->count) % WINDOW;
		struct piece *piece = &reader->window[at];
		int ret;

		piece->buf = reader->mem + at * PIECE_BYTES;
		if (!next_piece(reader, piece))
			return 0;
		ret = submit_piece(reader, piece, error);
		if (ret == -EAGAIN && reader->count)
			return 0;
		if (ret < 0)
			return ret;
		reader->next_offset += piece->length_bytes;
		reader->count++;
	}
	return 0;
}

static int end_chunk(struct verify_reader *reader, const struct piece *piece)
{
	const struct manifest *manifest = reader->manifest;
	const struct manifest_tensor *tensor = &manifest->tensors[piece->tensor];
	uint64_t index = piece->offset_bytes / manifest->chunk_bytes;
	uint64_t sum = swapioi_checksum_end(reader->sum);
	struct damage damage = {.tensor = piece->tensor,
				.offset_bytes = index * manifest->chunk_bytes,
				.error = reader->chunk.code};

	damage.length_bytes = piece->offset_bytes + piece->length_bytes - damage.offset_bytes;
	if (!damage.error && tensor->sums && sum != tensor->sums[index])
		damage.error = -EBADMSG;
	if (!damage.error)
		return 0;
	return add_damage(reader->damages, &damage, reader->chunk.code ? reader->chunk.text : NULL);
}

/* Padding that is missing is nothing that was stored. */
static bool is_whole(const struct piece *piece, const struct swapio_result *result)
{
	return !result->error ||
	       (result->cause == SWAPIO_CAUSE_EOF && result->bytes >= piece->length_bytes);
}

static int take_piece(struct verify_reader *reader, struct swapio_error *error)
{
	struct piece *piece = &reader->window[reader->first];
	const struct manifest *manifest = reader->manifest;
	struct swapio_result result;
	int ret = swapio_wait(reader->store->handle, piece->request, SWAPIO_FOREVER, &result);

	reader->first = (reader->first + 1) % WINDOW;
	reader->count--;
	if (ret < 0)
		return swapioi_error(error, ret, "verify: a transfer is gone");
	if (piece->offset_bytes % manifest->chunk_bytes == 0) {
		swapioi_checksum_begin(reader->sum, manifest->checksum);
		reader->chunk.code = 0;
	}
	if (is_whole(piece, &result)) {
		swapioi_checksum_add(reader->sum, piece->buf, piece->length_bytes);
	} else if (!reader->chunk.code) {
		reader->chunk.code = result.error;
		swapio_result_text(&result, reader->chunk.text, sizeof(reader->chunk.text));
	}
	if (piece->offset_bytes + piece->length_bytes ==
	    chunk_end(manifest, piece->tensor, piece->offset_bytes))
		return end_chunk(reader, piece);
	return 0;
}

/* Nothing may be in flight into memory that goes. */
static void drain(struct verify_reader *reader)
{
	struct swapio_result result;

	for (; reader->count; reader->count--) {
		swapio_wait(reader->store->handle, reader->window[reader->first].request,
			    SWAPIO_FOREVER, &result);
		reader->first = (reader->first + 1) % WINDOW;
	}
}

int swapioi_verify_read(struct verify_reader *reader, const struct volume *volume,
			const struct manifest *manifest, struct damages *damages,
			struct swapio_error *error)
{
	int ret;

	reader->volume = volume;
	reader->manifest = manifest;
	reader->damages = damages;
	reader->next_tensor = 0;
	reader->next_offset = 0;
	reader->chunk.code = 0;
	do {
		ret = fill_window(reader, error);
		if (ret == 0 && reader->count)
			ret = take_piece(reader, error);
	} while (ret == 0 && reader->count);
	drain(reader);
	return ret;
}
