/* SPDX-License-Identifier: MIT */
/*
 * request.c - cuts requests into blocks and adds up how the blocks ended.
 */
#include "request.h"

#include <errno.h>

void swapioi_request_start(struct request *request, const struct swapio_io *io, struct file *file,
			   uint64_t block_bytes, uint64_t bounce_bytes)
{
	uint64_t sector = file->align.offset;

	request->file = file;
	request->op = io->op;
	request->start = request->cursor = io->offset_bytes;
	request->end = io->offset_bytes + io->length_bytes;
	request->mem = io->buf;
	request->tag = io->tag;
	request->block_bytes = block_bytes < sector ? sector : round_down(block_bytes, sector);
	request->bounce_bytes = bounce_bytes < sector ? sector : round_down(bounce_bytes, sector);
	request->blocks_out = 0;
	request->dropped = request->cancelled = false;
	request->bytes_moved = 0;
	request->error = 0;
	request->cause = SWAPIO_CAUSE_NONE;
	request->raw_status = 0;
	request->buffered = !file->direct;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The next multiple of @unit above @at; @unit need not be a power of two. */
static uint64_t next_multiple(uint64_t at, uint64_t unit)
{
	return at - at % unit + unit;
}

/* The kernel takes the memory of file position @at as it is. */
static bool fits_memory(const struct request *request, uint64_t at)
{
	return is_multiple((uintptr_t)(request->mem + (at - request->start)), request->file->align.mem);
}

/*
 * Odd heads and tails are cut off as blocks of at most a sector, so that all between them moves
 * without a copy. Where memory does not fit anyway they stay with their neighbours.
 */
static struct cut cut_at(const struct request *request, uint64_t at)
{
	uint64_t sector = request->file->align.offset;
	uint64_t aligned = round_up(at, sector), tail = round_down(request->end, sector);
	struct cut cut = {.start = at, .bounce = true};

	if (at == aligned && tail > at && fits_memory(request, at)) {
		cut.bounce = false;
		cut.end = smaller(next_multiple(at, request->block_bytes), tail);
		return cut;
	}
	if (at != aligned && tail > aligned && fits_memory(request, aligned))
		cut.end = aligned;
	else
		cut.end = smaller(next_multiple(at, request->bounce_bytes), request->end);
	return cut;
}

struct cut swapioi_request_cut(struct request *request)
{
	struct cut cut = cut_at(request, request->cursor);

	request->cursor = cut.end;
	request->blocks_out++;
	return cut;
}

static void extend_failure(struct request *request, uint64_t first, uint64_t last)
{
	if (first < request->fail_first)
		request->fail_first = first;
	if (last > request->fail_last)
		request->fail_last = last;
}

/* Blocks that were never started say nothing about why the request failed. */
static bool is_drop(enum swapio_cause cause)
{
	return cause == SWAPIO_CAUSE_NONE || cause == SWAPIO_CAUSE_CANCELLED;
}

/* The true failure nearest to the start speaks for the request; a drop only widens the range. */
static bool speaks_louder(const struct request *request, const struct block_end *end)
{
	if (!request->error)
		return true;
	if (is_drop(end->cause))
		return false;
	return is_drop(request->cause) || end->start < request->error_at;
}

static void note_failure(struct request *request, const struct block_end *end)
{
	if (!request->error) {
		request->fail_first = end->moved_to;
		request->fail_last = end->end;
	}
	extend_failure(request, end->moved_to, end->end);
	if (!speaks_louder(request, end))
		return;
	request->error = end->error;
	request->cause = end->cause == SWAPIO_CAUSE_NONE ? SWAPIO_CAUSE_CANCELLED : end->cause;
	request->raw_status = end->raw_status;
	request->error_at = end->start;
}

void swapioi_request_account(struct request *request, const struct block_end *end)
{
	request->bytes_moved += end->moved_to - end->start;
	if (!end->error)
		return;
	note_failure(request, end);
	swapioi_request_drop_rest(request, false);
}

void swapioi_request_drop_rest(struct request *request, bool cancelled)
{
	struct block_end rest = {
		.start = request->cursor,
		.moved_to = request->cursor,
		.end = request->end,
		.error = -ECANCELED,
		.cause = cancelled ? SWAPIO_CAUSE_CANCELLED : SWAPIO_CAUSE_NONE,
	};

	request->dropped = true;
	request->cancelled |= cancelled;
	if (!swapioi_request_has_more(request))
		return;
	request->cursor = request->end;
	note_failure(request, &rest);
}

void swapioi_request_result(const struct request *request, swapio_id id,
			    struct swapio_result *ret_result)
{
	*ret_result = (struct swapio_result){
		.id = id,
		.tag = request->tag,
		.error = request->error,
		.cause = request->cause,
		.raw_status = request->raw_status,
		.bytes = request->bytes_moved,
		.buffered = request->buffered,
	};
	if (!request->error)
		return;
	ret_result->fail_offset_bytes = request->fail_first;
	ret_result->fail_length_bytes = request->fail_last - request->fail_first;
}
