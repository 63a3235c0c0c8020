/* SPDX-License-Identifier: MIT */
/*
 * window.c - a ring of pieces in flight. Pieces leave it in the order in which they were cut.
 */
#include "window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "deadline.h"
#include "error.h"
#include "handle.h"
#include "slots.h"
#include "store.h"

struct flight {
	struct piece piece;
	swapio_id id;
	char *slot; /* staged pieces: what the request moves to or from */
};

struct window {
	struct swapio_store *store;
	struct checksum *sum; /* of the chunk that the oldest piece belongs to */
	unsigned size;
	struct flight *flights; /* [size], a ring */
	unsigned oldest, count;
	unsigned slots_held;
	struct transfer transfer;
	struct piece next; /* cut, and not yet started */
	bool has_next;
	bool stopping; /* failed or cancelled: nothing more is started */
};

int swapioi_window_create(struct swapio_store *store, unsigned size, struct window **ret_window)
{
	struct window *window = calloc(1, sizeof(*window));

	if (!window)
		return -ENOMEM;
	window->store = store;
	window->size = size;
	window->flights = calloc(size, sizeof(*window->flights));
	window->sum = swapioi_checksum_create();
	if (!window->flights || !window->sum) {
		swapioi_window_destroy(window);
		return -ENOMEM;
	}
	*ret_window = window;
	return 0;
}

void swapioi_window_destroy(struct window *window)
{
	if (!window)
		return;
	swapioi_checksum_destroy(window->sum);
	free(window->flights);
	free(window);
}

/*
 * Twice what the queues take, so that they stay full while the oldest piece is waited for; and
 * together never more than three quarters of what the handle allows: the others are its owner's.
 */
unsigned swapioi_window_size(const struct swapio_store *store, unsigned runners)
{
	unsigned share = store->handle->options.requests_max / 4 * 3 / runners, depth;
	struct swapio_info info = {.size_bytes = sizeof(info)};

	swapio_info_get(store->handle, &info);
	depth = info.queue_depth * info.queues;
	if (depth * 2 < share)
		share = depth * 2;
	return share ? share : 1;
}

void swapioi_window_begin(struct window *window, const struct transfer *transfer)
{
	window->transfer = *transfer;
	window->has_next = false;
	window->stopping = false;
	swapioi_cutter_begin(&window->transfer.cutter);
}

static struct flight *oldest(struct window *window)
{
	return &window->flights[window->oldest];
}

static struct flight *newest_free(struct window *window)
{
	return &window->flights[(window->oldest + window->count) % window->size];
}

static bool is_out(const struct window *window)
{
	return window->transfer.op == SWAPIO_SWAP_OUT;
}

/*
 * The first failure in order is the swap's: what comes behind it is dropped where that is still
 * possible, and drained.
 */
static void stop(struct window *window, int error, enum swapio_swap_cause cause)
{
	window->stopping = true;
	window->transfer.result->error = error;
	window->transfer.result->cause = cause;
	for (unsigned i = 0; i < window->count; i++) {
		unsigned index = (window->oldest + i) % window->size;

		swapio_cancel(window->store->handle, window->flights[index].id);
	}
}

/* @first and @count: bytes within @piece. @what: the end of the sentence about them. */
static void fail_piece(struct window *window, const struct piece *piece, uint64_t first,
		       uint64_t count, int error, enum swapio_swap_cause cause, const char *what)
{
	const struct manifest *manifest = window->transfer.manifest;
	struct swapio_swap_result *result = window->transfer.result;

	result->tensor = piece->tensor;
	result->fail_offset_bytes = piece->offset + first;
	result->fail_length_bytes = count;
	snprintf(result->text, sizeof(result->text),
		 "group %.100s, tensor %u (%.100s): bytes %" PRIu64 " to %" PRIu64 " %.150s",
		 manifest->group, piece->tensor, manifest->tensors[piece->tensor].name,
		 piece->offset + first, piece->offset + first + count - 1, what);
	stop(window, error, cause);
}

static uint64_t file_offset(const struct window *window, const struct piece *piece)
{
	const struct transfer *transfer = &window->transfer;

	return swapioi_volume_tensor_offset(transfer->volume,
					    &transfer->manifest->tensors[piece->tensor]) +
	       piece->offset;
}

static enum swapio_swap_cause cause_of(const struct window *window, int error)
{
	return is_out(window) && error_is_space(error) ? SWAPIO_SWAP_SPACE : SWAPIO_SWAP_IO;
}

/* A request failed: say which of the tensor's bytes, the padding left out. */
static void fail_request(struct window *window, const struct piece *piece,
			 const struct swapio_result *result)
{
	uint64_t first = result->fail_offset_bytes - file_offset(window, piece);
	uint64_t count = result->fail_length_bytes;
	char errno_text[ERRNO_TEXT_BYTES], what[160];

	if (first >= piece->bytes) {
		first = 0;
		count = piece->bytes;
	}
	if (count > piece->bytes - first)
		count = piece->bytes - first;
	if (result->error == -ENODATA)
		snprintf(what, sizeof(what), "are missing: the volume ends before");
	else
		snprintf(what, sizeof(what), "cannot be %s: %s (%s)",
			 is_out(window) ? "written" : "read",
			 swapioi_errno_text(-result->error, errno_text),
			 swapio_cause_name(result->cause));
	fail_piece(window, piece, first, count, result->error, cause_of(window, result->error),
		   what);
}

static void fail_copy(struct window *window, const struct piece *piece, int error)
{
	char errno_text[ERRNO_TEXT_BYTES], what[160];

	snprintf(what, sizeof(what), "cannot be copied %s a slot: %s",
		 is_out(window) ? "to" : "from", swapioi_errno_text(-error, errno_text));
	fail_piece(window, piece, 0, piece->bytes, error, SWAPIO_SWAP_COPY, what);
}

static void give_slot(struct window *window, void *slot)
{
	if (!slot)
		return;
	swapioi_slot_unstage(window->store, window->slots_held, slot);
	window->slots_held--;
}

/* What a swap-out stages is copied before, with zeros behind an odd tail. */
static int fill_slot(const struct window *window, const struct piece *piece, char *slot)
{
	struct accel *accel = window->transfer.cutter.accel;

	if (!is_out(window))
		return 0;
	memset(slot + piece->bytes, 0, piece->padded_bytes - piece->bytes);
	return accel->ops->copy_to_host(accel, slot, piece->mem, piece->bytes);
}

static void fail_submit(struct window *window, const struct piece *piece, int error,
			const char *why)
{
	char what[160];

	snprintf(what, sizeof(what), "cannot be %s: %.120s", is_out(window) ? "written" : "read",
		 why);
	fail_piece(window, piece, 0, piece->bytes, error, cause_of(window, error), what);
}

enum started { STARTED, NOT_NOW, FAILED };

static enum started submit(struct window *window, struct flight *flight)
{
	const struct piece *piece = &flight->piece;
	struct swapio_error error;
	struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = is_out(window) ? SWAPIO_WRITE : SWAPIO_READ,
		.fd = window->transfer.volume->fd,
		.offset_bytes = file_offset(window, piece),
		.length_bytes = piece->padded_bytes,
		.buf = flight->slot ? flight->slot : piece->mem,
	};
	int ret = swapioi_submit_unlisted(window->store->handle, &io, &error, &flight->id);

	if (ret == 0)
		return STARTED;
	/* Others use the handle, too; ours will end. */
	if (ret == -EAGAIN && window->count)
		return NOT_NOW;
	fail_submit(window, piece, ret, error.text);
	return FAILED;
}

/* A staged piece that finds no slot waits until older ones give theirs back. */
static enum started start(struct window *window)
{
	struct flight *flight = newest_free(window);
	enum started started;
	int ret;

	*flight = (struct flight){.piece = window->next};
	if (flight->piece.staged) {
		flight->slot = swapioi_slot_stage(window->store, window->slots_held);
		if (!flight->slot)
			return NOT_NOW;
		window->slots_held++;
		ret = fill_slot(window, &flight->piece, flight->slot);
		if (ret < 0) {
			give_slot(window, flight->slot);
			fail_copy(window, &flight->piece, ret);
			return FAILED;
		}
	}
	started = submit(window, flight);
	if (started != STARTED)
		give_slot(window, flight->slot);
	return started;
}

static void fill(struct window *window)
{
	while (!window->stopping && window->count < window->size) {
		if (!window->has_next)
			window->has_next =
				swapioi_cutter_next(&window->transfer.cutter, &window->next);
		if (!window->has_next || start(window) != STARTED)
			return;
		window->has_next = false;
		window->count++;
	}
}

static void fail_checksum(struct window *window, const struct piece *piece, uint64_t chunk,
			  uint64_t is, uint64_t stored)
{
	const struct manifest *manifest = window->transfer.manifest;
	uint64_t start = chunk * manifest->chunk_bytes;
	struct piece whole = *piece;
	char what[160];

	whole.offset = start;
	snprintf(what, sizeof(what),
		 "are not what generation %" PRIu64 " stored: their %s is %016" PRIx64
		 ", and was %016" PRIx64,
		 manifest->generation, swapioi_checksum_name(manifest->checksum), is, stored);
	fail_piece(window, &whole, 0, piece->offset + piece->bytes - start, -EBADMSG,
		   SWAPIO_SWAP_CHECKSUM, what);
}

/* Add a piece to the checksum of its chunk; at the chunk's end keep it, or compare. */
static void sum_piece(struct window *window, const struct piece *piece, const char *bytes)
{
	struct manifest *manifest = window->transfer.manifest;
	uint64_t *sums = manifest->tensors[piece->tensor].sums;
	uint64_t chunk = piece->offset / manifest->chunk_bytes, sum;

	if (!sums)
		return;
	if (piece->begins_chunk)
		swapioi_checksum_begin(window->sum, manifest->checksum);
	swapioi_checksum_add(window->sum, bytes, piece->bytes);
	if (!piece->ends_chunk)
		return;
	sum = swapioi_checksum_end(window->sum);
	if (is_out(window))
		sums[chunk] = sum;
	else if (sum != sums[chunk])
		fail_checksum(window, piece, chunk, sum, sums[chunk]);
}

static void settle(struct window *window, const struct flight *flight)
{
	const struct piece *piece = &flight->piece;
	struct swapio_swap_result *result = window->transfer.result;
	struct accel *accel = window->transfer.cutter.accel;
	int ret;

	if (flight->slot && !is_out(window)) {
		ret = accel->ops->copy_from_host(accel, piece->mem, flight->slot, piece->bytes);
		if (ret < 0) {
			fail_copy(window, piece, ret);
			return;
		}
	}
	sum_piece(window, piece, flight->slot ? flight->slot : piece->mem);
	result->bytes += piece->bytes;
	if (flight->slot)
		result->staged_bytes += piece->bytes;
}

/* Wait for the oldest piece. False when the deadline passed. */
static bool end_oldest(struct window *window, int64_t deadline_ns)
{
	struct flight flight = *oldest(window);
	struct swapio_result result;
	int ret = swapio_wait(window->store->handle, flight.id, left_until(deadline_ns), &result);

	if (ret == -ETIMEDOUT)
		return false;
	if (ret < 0)
		result = (struct swapio_result){.error = ret, .cause = SWAPIO_CAUSE_WAIT};
	window->oldest = (window->oldest + 1) % window->size;
	window->count--;
	if (!window->stopping) {
		if (result.error)
			fail_request(window, &flight.piece, &result);
		else
			settle(window, &flight);
	}
	give_slot(window, flight.slot);
	return true;
}

bool swapioi_window_turn(struct window *window, int64_t deadline_ns)
{
	for (;;) {
		if (!window->stopping && atomic_load(window->transfer.cancelled))
			stop(window, -ECANCELED, SWAPIO_SWAP_CANCELLED);
		fill(window);
		if (!window->count)
			return true;
		if (!end_oldest(window, deadline_ns))
			return false;
	}
}
