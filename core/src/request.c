/* SPDX-License-Identifier: MIT */
/*
 * request.c - cuts requests into blocks and adds up how the blocks ended.
 */
#include "request.h"

#include <errno.h>

static uint64_t whole_sectors(uint64_t bytes, uint64_t sector)
{
	return bytes < sector ? sector : round_down(bytes, sector);
}

void swapioi_request_start(struct request *request, const struct swapio_io *io, struct file *file,
			   const struct cut_sizes *sizes, bool on_host)
{
	uint64_t sector = file->align.offset;

	request->file = file;
	request->op = io->op;
	request->start = request->cursor = io->offset_bytes;
	request->end = io->offset_bytes + io->length_bytes;
	request->mem = io->buf;
	request->on_host = on_host;
	request->tag = io->tag;
	request->block_bytes = whole_sectors(sizes->block_bytes, sector);
	request->bounce_bytes = whole_sectors(sizes->bounce_bytes, sector);
	request->blocks_out = 0;
	request->stop_at = UINT64_MAX;
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
	uintptr_t mem = (uintptr_t)(request->mem + (at - request->start));

	return request->on_host && is_multiple(mem, request->file->align.mem);
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

/* Blocks before @at were cut already, those behind it will never be. */
static void stop_at(struct request *request, uint64_t at, enum swapio_cause cause)
{
	struct block_end rest = {
		.start = request->cursor,
		.moved_to = request->cursor,
		.end = request->end,
		.error = -ECANCELED,
		.cause = cause,
	};

	if (swapioi_request_wants(request, at))
		request->stop_at = at;
	if (!swapioi_request_has_more(request))
		return;
	request->cursor = request->end;
	note_failure(request, &rest);
}

void swapioi_request_account(struct request *request, const struct block_end *end)
{
	request->bytes_moved += end->moved_to - end->start;
	if (!end->error)
		return;
	note_failure(request, end);
	stop_at(request, end->start, SWAPIO_CAUSE_NONE);
}

void swapioi_request_cancel(struct request *request)
{
	stop_at(request, 0, SWAPIO_CAUSE_CANCELLED);
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
