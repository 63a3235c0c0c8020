/* SPDX-License-Identifier: MIT */
/*
 * stage_stale.c - what ranges held before their last write, so that a read can return it. Kept
 * only while the schedule asks for stale reads: every write is preceded by a read of its range.
 *
 * Pieces of 512 bytes, by file and place, in a hash table of our own that only grows; its lock is a
 * leaf.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "rawcall.h"
#include "simlock.h"
#include "stage.h"
#include "stage_internal.h"

#define PIECE_BYTES 512u
#define PIECES_MAX (1u << 18) /* 128 MiB of old content */
#define MIX 0x9e3779b97f4a7c15u

struct piece {
	uint64_t file, place; /* place counts from 1; 0: free */
	char old[PIECE_BYTES];
};

static struct simlock lock;
static struct piece *pieces; /* [PIECES_MAX], touched as they are used */
static unsigned pieces_used;

bool stage_stale_wanted(void)
{
	const struct schedule *schedule = runtime_schedule();

	for (unsigned i = 0; i < schedule->count; i++)
		if (schedule->faults[i].kind == KIND_io_event_stale)
			return true;
	return false;
}

void stage_stale_begin(void)
{
	if (stage_stale_wanted() && !pieces)
		pieces = memory_map(sizeof(*pieces) * PIECES_MAX);
}

void stage_stale_end(void)
{
	memory_unmap(pieces, sizeof(*pieces) * PIECES_MAX);
	pieces = NULL;
	pieces_used = 0;
}

static uint64_t file_of(const struct stage_req *req)
{
	struct stat status;

	if (raw_call(SYS_fstat, req->real.aio_fildes, &status))
		return 0;
	return (uint64_t)status.st_ino * MIX ^ (uint64_t)status.st_dev;
}

/* The piece, or the free place for it; NULL when the table is as full as it may be. */
static struct piece *find(uint64_t file, uint64_t place)
{
	uint64_t at = (file ^ place) * MIX >> 20;

	if (!pieces || pieces_used > PIECES_MAX / 4 * 3)
		return NULL;
	for (;; at++) {
		struct piece *piece = &pieces[at % PIECES_MAX];

		if (!piece->place || (piece->file == file && piece->place == place))
			return piece;
	}
}

static void remember_piece(uint64_t file, uint64_t place, const char *old)
{
	struct simlock_guard guard = simlock_take(&lock);
	struct piece *piece = find(file, place);

	if (piece) {
		pieces_used += !piece->place;
		piece->file = file;
		piece->place = place;
		memcpy(piece->old, old, PIECE_BYTES);
	}
	simlock_drop(&lock, &guard);
}

void stage_stale_remember(struct stage_req *req)
{
	uint64_t first = req->offset_bytes / PIECE_BYTES;
	uint64_t end = (req->offset_bytes + req->length_bytes + PIECE_BYTES - 1) / PIECE_BYTES;
	size_t bytes = (size_t)(end - first) * PIECE_BYTES;
	uint64_t file = file_of(req);
	char *old;

	if (req->op != FAULT_OP_WRITE || !req->length_bytes || !file)
		return;
	old = memory_map(bytes); /* zeroed: so is what lies behind the end of the file */
	if (old && stage_read_old(req, old, first * PIECE_BYTES, bytes) >= 0)
		for (uint64_t i = first; i < end; i++)
			remember_piece(file, i + 1, old + (i - first) * PIECE_BYTES);
	memory_unmap(old, bytes);
}

struct stale_copy {
	uint64_t file, offset, bytes;
	char *to;
	bool known;
};

static void recall_piece(struct stale_copy *copy, uint64_t place)
{
	uint64_t start = place * PIECE_BYTES, end = start + PIECE_BYTES;
	uint64_t from = start > copy->offset ? start : copy->offset;
	uint64_t until = end < copy->offset + copy->bytes ? end : copy->offset + copy->bytes;
	struct piece *piece = find(copy->file, place + 1);

	if (!piece || !piece->place)
		return;
	memcpy(copy->to + (from - copy->offset), piece->old + (from - start), until - from);
	copy->known = true;
}

static void recall(struct stale_copy *copy)
{
	struct simlock_guard guard = simlock_take(&lock);
	uint64_t end = (copy->offset + copy->bytes + PIECE_BYTES - 1) / PIECE_BYTES;

	for (uint64_t place = copy->offset / PIECE_BYTES; place < end; place++)
		recall_piece(copy, place);
	simlock_drop(&lock, &guard);
}

/* Old content over what was read, in the program's memory. */
static int apply(struct stage_req *req, struct stale_copy *copy, char *fresh)
{
	if (stage_copy_from(req, fresh, copy->bytes))
		return -EFAULT;
	memcpy(copy->to, fresh, copy->bytes);
	recall(copy);
	if (!copy->known)
		return -ENOENT;
	if (!memcmp(copy->to, fresh, copy->bytes))
		return -EALREADY;
	return stage_copy_to(req, copy->to, copy->bytes);
}

int stage_stale_apply(struct stage_req *req)
{
	struct stale_copy copy = {.offset = req->offset_bytes};
	char *fresh;
	int err;

	if (req->result <= 0)
		return -ENOENT;
	copy.bytes = (uint64_t)req->result;
	copy.file = file_of(req);
	copy.to = memory_map(2 * copy.bytes);
	if (!copy.to)
		return -ENOMEM;
	fresh = copy.to + copy.bytes;
	err = apply(req, &copy, fresh);
	memory_unmap(copy.to, 2 * copy.bytes);
	return err;
}
