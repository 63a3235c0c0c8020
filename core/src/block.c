/* SPDX-License-Identifier: MIT */
/*
 * block.c - how one block moves: directly, or through a bounce slot, where a write first reads
 * the sectors that it shares with its neighbours.
 */
#include "block.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "handle.h"

#define STALLS_MAX 3
#define TRUNCATE_TRIES 100

static bool is_write(const struct block *block)
{
	return block->request->op == SWAPIO_WRITE;
}

static bool shares_head(const struct block *block)
{
	return block->start != block->first;
}

static bool shares_tail(const struct block *block)
{
	return block->end != block->last;
}

static bool is_rmw(const struct block *block)
{
	return is_write(block) && (shares_head(block) || shares_tail(block));
}

/* A padded tail would leave the file longer than it may become. */
static bool pads_past(const struct block *block, uint64_t size_bytes)
{
	return shares_tail(block) && block->last > size_bytes && !block->file->block_device;
}

/*
 * Sectors that are read first and then written are nobody else's meanwhile; where the file is to
 * be cut back afterwards, everything behind is kept out as well.
 */
static void set_lock_range(struct block *block, bool to_infinity)
{
	block->lock.start = block->first;
	block->lock.end = to_infinity ? RANGE_TO_INFINITY : block->last;
	block->lock.exclusive = is_rmw(block);
}

void swapioi_block_begin(struct block *block, struct request *request, const struct cut *cut)
{
	uint64_t sector = request->file->align.offset;

	block->request = request;
	block->file = request->file;
	block->stage = BLOCK_NEW;
	block->bounce = cut->bounce;
	block->start = cut->start;
	block->end = cut->end;
	block->mem = request->mem + (cut->start - request->start);
	block->first = round_down(cut->start, sector);
	block->last = round_up(cut->end, sector);
	block->new_size = 0;
	block->wrote = false;
	set_lock_range(block, is_rmw(block) && pads_past(block, block->file->size_bytes));
}

/* Where a leg goes on: the last boundary at or before what it reached that direct I/O takes. */
static void aim_io(struct block *block)
{
	const struct leg *leg = &block->leg;
	const struct alignment *align = &block->file->align;
	uint64_t unit = align->mem > align->offset ? align->mem : align->offset;
	uint64_t done = round_down(leg->reached - leg->start, unit);

	block->io.fd = leg->fd;
	block->io.write = leg->write;
	block->io.mem = leg->mem + done;
	block->io.offset_bytes = leg->start + done;
	block->io.length_bytes = (size_t)(leg->end - leg->start - done);
}

static enum block_next start_leg(struct block *block, enum block_stage stage, const struct leg *leg)
{
	block->stage = stage;
	block->leg = *leg;
	block->leg.reached = leg->start;
	block->leg.stalls = 0;
	aim_io(block);
	return BLOCK_SUBMIT;
}

static enum block_next end_with(struct block *block, int error, enum swapio_cause cause,
				int64_t raw)
{
	swapioi_block_fail(block, error, cause, raw);
	return BLOCK_ENDED;
}

static enum block_next start_move(struct block *block)
{
	bool write = is_write(block);
	struct leg leg = {
		.start = block->bounce ? block->first : block->start,
		.end = block->bounce ? block->last : block->end,
		.needed = write && block->bounce ? block->last : block->end,
		.mem = block->bounce ? block->slot : block->mem,
		.fd = block->file->fd,
		.write = write,
	};
	struct accel *accel = block->queue->handle->accel;
	int ret = 0;

	if (write && block->bounce)
		ret = accel->ops->copy_to_host(accel, block->slot + (block->start - block->first),
					       block->mem, (size_t)(block->end - block->start));
	if (ret < 0)
		return end_with(block, ret, SWAPIO_CAUSE_DEVICE, ret);
	return start_leg(block, BLOCK_MOVE, &leg);
}

/* Read the shared sector at @at into its place in the slot, as far as the file goes. */
static enum block_next start_sector_read(struct block *block, enum block_stage stage, uint64_t at)
{
	uint64_t sector_end = at + block->file->align.offset;
	struct leg leg = {
		.start = at,
		.end = sector_end,
		.needed = sector_end < block->old_size ? sector_end : block->old_size,
		.mem = block->slot + (at - block->first),
		.fd = block->file->read_fd,
	};

	if (leg.fd < 0)
		return end_with(block, -EBADF, SWAPIO_CAUSE_FILE, 0);
	return start_leg(block, stage, &leg);
}

/* The tail's sector needs reading, unless it is new or was read as the head. */
static enum block_next start_tail_read(struct block *block)
{
	uint64_t at = block->last - block->file->align.offset;

	if (!shares_tail(block) || at >= block->old_size ||
	    (shares_head(block) && at == block->first))
		return start_move(block);
	return start_sector_read(block, BLOCK_RMW_TAIL, at);
}

static enum block_next start_rmw(struct block *block)
{
	uint64_t sector = block->file->align.offset;

	queue_count(&block->queue->stats.rmws, 1);
	memset(block->slot, 0, sector);
	memset(block->slot + (block->last - sector - block->first), 0, sector);
	if (pads_past(block, block->old_size))
		block->new_size = block->old_size > block->end ? block->old_size : block->end;
	if (shares_head(block) && block->first < block->old_size)
		return start_sector_read(block, BLOCK_RMW_HEAD, block->first);
	return start_tail_read(block);
}

/*
 * The lock was taken by the size the file had when the request was submitted. If it is shorter
 * now, take the wider lock instead; nothing is held meanwhile.
 */
static bool lock_is_wide_enough(struct block *block)
{
	if (!pads_past(block, block->old_size) || block->lock.end == RANGE_TO_INFINITY)
		return true;
	swapioi_range_release(block->file->inode, &block->lock);
	set_lock_range(block, true);
	return false;
}

static bool take_slot(struct block *block)
{
	struct queue *queue = block->queue;

	if (block->slot)
		return true;
	if (!queue->slots_free)
		return false;
	block->slot = queue->slots[--queue->slots_free];
	queue_count(&queue->stats.bounces, 1);
	return true;
}

/* The lock is held: see what the file's end makes of the shared sectors. */
static enum block_next prepare_rmw(struct block *block)
{
	struct file *file = block->file;
	int ret = swapioi_file_size(file->fd, file->block_device, &block->old_size);

	if (ret < 0)
		return end_with(block, ret, SWAPIO_CAUSE_FILE, ret);
	file->size_bytes = block->old_size; /* so that the next lock is no wider than need be */
	if (!lock_is_wide_enough(block))
		return swapioi_block_go(block); /* once: it is wide then */
	if (!take_slot(block))
		return BLOCK_PARK;
	return start_rmw(block);
}

/*
 * A slot is waited for with the lock held, and a lock never with a slot held: who has a slot has
 * its lock, so that waiting for either ends.
 */
enum block_next swapioi_block_go(struct block *block)
{
	if (!swapioi_request_wants(block->request, block->start))
		return end_with(block, -ECANCELED, SWAPIO_CAUSE_NONE, 0);
	if (!swapioi_range_try(block->file->inode, &block->lock))
		return BLOCK_PARK;
	if (is_rmw(block))
		return prepare_rmw(block);
	if (block->bounce && !take_slot(block))
		return BLOCK_PARK;
	return start_move(block);
}

/* Bytes of the caller that moved, as a position in the file. */
static uint64_t moved_to(const struct block *block)
{
	uint64_t reached = block->leg.reached;

	if (block->stage != BLOCK_MOVE || reached < block->start)
		return block->start;
	return reached < block->end ? reached : block->end;
}

/* Copy what a bounced read brought, all of it or up to where it failed. */
static int deliver(struct block *block)
{
	struct accel *accel = block->queue->handle->accel;
	uint64_t to = moved_to(block);

	if (!block->bounce || is_write(block) || to == block->start)
		return 0;
	return accel->ops->copy_from_host(accel, block->mem,
					  block->slot + (block->start - block->first),
					  (size_t)(to - block->start));
}

static int set_size(int fd, uint64_t size_bytes)
{
	int ret, tries = 0;

	do
		ret = ftruncate(fd, (off_t)size_bytes);
	while (ret < 0 && errno == EINTR && ++tries < TRUNCATE_TRIES);
	return ret < 0 ? -errno : 0;
}

/*
 * A padded write failed: cut off what it may have left behind its last good byte. Blocks below may
 * have made the file longer meanwhile, up to the first sector of this one, so the size is asked.
 */
static void cut_failed_padding(struct block *block, uint64_t to)
{
	uint64_t keep = to > block->start ? to : block->first, size;
	const struct file *file = block->file;

	if (!block->new_size || !block->wrote)
		return;
	if (keep < block->old_size)
		keep = block->old_size;
	if (swapioi_file_size(file->fd, false, &size) == 0 && size > keep)
		set_size(file->fd, keep);
}

static void set_end(struct block *block, uint64_t to, int error, enum swapio_cause cause,
		    int64_t raw)
{
	block->end_state = (struct block_end){
		.start = block->start,
		.moved_to = to,
		.end = block->end,
		.error = error,
		.cause = cause,
		.raw_status = raw,
	};
	block->stage = BLOCK_OVER;
}

void swapioi_block_fail(struct block *block, int error, enum swapio_cause cause, int64_t raw_status)
{
	uint64_t to = moved_to(block);

	/* The failure at hand tells more than a second one would. */
	if (deliver(block) < 0)
		to = block->start;
	cut_failed_padding(block, to);
	set_end(block, to, error, cause, raw_status);
}

static enum block_next succeed(struct block *block)
{
	int ret = deliver(block);

	if (ret < 0) {
		set_end(block, block->start, ret, SWAPIO_CAUSE_DEVICE, ret);
		return BLOCK_ENDED;
	}
	ret = block->new_size ? set_size(block->file->fd, block->new_size) : 0;
	if (ret < 0)
		set_end(block, block->start, ret, SWAPIO_CAUSE_FILE, ret);
	else
		set_end(block, block->end, 0, SWAPIO_CAUSE_NONE, 0);
	return BLOCK_ENDED;
}

static enum block_next after_leg(struct block *block)
{
	switch (block->stage) {
	case BLOCK_RMW_HEAD:
		return start_tail_read(block);
	case BLOCK_RMW_TAIL:
		return start_move(block);
	case BLOCK_MOVE:
		return succeed(block);
	case BLOCK_NEW:
	case BLOCK_OVER:
		break;
	}
	return BLOCK_ENDED;
}

static enum block_next resume(struct block *block)
{
	if (!swapioi_request_wants(block->request, block->start))
		return end_with(block, -ECANCELED, SWAPIO_CAUSE_NONE, 0);
	queue_count(&block->queue->stats.resumes, 1);
	aim_io(block);
	return BLOCK_SUBMIT;
}

/* Nothing new arrived: the end of the file, or something that will not move. */
static enum block_next stalled(struct block *block, int64_t result)
{
	struct leg *leg = &block->leg;
	uint64_t size;
	int ret;

	if (!leg->write) {
		ret = swapioi_file_size(block->file->fd, block->file->block_device, &size);
		if (ret < 0)
			return end_with(block, ret, SWAPIO_CAUSE_FILE, ret);
		if (leg->reached >= size && block->stage == BLOCK_MOVE)
			return end_with(block, -ENODATA, SWAPIO_CAUSE_EOF, result);
		if (leg->reached >= size)
			return after_leg(block); /* the file became shorter: zeros */
	}
	if (++leg->stalls >= STALLS_MAX)
		return end_with(block, -EIO, SWAPIO_CAUSE_NO_PROGRESS, result);
	return resume(block);
}

void swapioi_block_lose(struct block *block, int error)
{
	block->wrote = block->leg.write;
	swapioi_block_fail(block, error, SWAPIO_CAUSE_WAIT, error);
}

enum block_next swapioi_block_complete(struct block *block, int64_t result)
{
	struct leg *leg = &block->leg;
	uint64_t to;

	block->wrote = leg->write;
	if (result < 0)
		return end_with(block, (int)result, SWAPIO_CAUSE_DEVICE, result);
	if ((uint64_t)result > block->io.length_bytes)
		return end_with(block, -EPROTO, SWAPIO_CAUSE_PROTOCOL, result);
	to = block->io.offset_bytes + (uint64_t)result;
	if (to <= leg->reached)
		return stalled(block, result);
	leg->reached = to;
	leg->stalls = 0;
	if (leg->reached >= leg->needed)
		return after_leg(block);
	return resume(block);
}

void swapioi_block_release(struct block *block)
{
	struct queue *queue = block->queue;

	if (block->slot) {
		queue->slots[queue->slots_free++] = block->slot;
		block->slot = NULL;
		queue->kicked = true; /* somebody may be parked for it */
	}
	swapioi_range_release(block->file->inode, &block->lock);
}
