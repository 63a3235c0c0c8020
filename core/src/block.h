/* SPDX-License-Identifier: MIT */
/*
 * block.h - one block of a request: a small state machine between request and engine.
 *
 * Threads: a block belongs to the owner of its queue; only its range lock is seen by others.
 */
#ifndef SWAPIOI_BLOCK_H
#define SWAPIOI_BLOCK_H

#include "accel.h"
#include "engine.h"
#include "request.h"

struct queue;

/* An engine's cookie is a block's index with the generation of its transfer above. */
#define COOKIE_INDEX_BITS 14
#define COOKIE_GENERATION ((uintptr_t)1 << COOKIE_INDEX_BITS)

/* What the transfer at the kernel is for. */
enum block_stage {
	BLOCK_NEW,	/* nothing done yet */
	BLOCK_MOVE,	/* the block itself, from or to the caller's memory or its slot */
	BLOCK_RMW_HEAD, /* reading the sector that it starts in */
	BLOCK_RMW_TAIL, /* reading the sector that it ends in */
	BLOCK_OVER,
};

/* What the queue has to do with a block next. */
enum block_next {
	BLOCK_SUBMIT, /* hand block->io to the engine */
	BLOCK_PARK,   /* try swapioi_block_go() again when a lock or a slot came free */
	BLOCK_ENDED,  /* block->end says how */
};

/* A stretch of the file that moves to or from contiguous memory. */
struct leg {
	uint64_t start, end;
	uint64_t needed;  /* the leg is over when this was reached */
	uint64_t reached; /* bytes before it moved */
	char *mem;	  /* of start */
	int fd;
	bool write;
	unsigned stalls; /* completions without progress in a row */
};

struct block {
	struct list link; /* free, to submit, parked or ended */
	struct queue *queue;
	struct request *request;
	struct file *file; /* the request's */
	enum block_stage stage;
	bool bounce;
	bool in_flight;

	uint64_t start, end;  /* the caller's bytes in the file */
	char *mem;	      /* the caller's memory of start */
	uint64_t first, last; /* the same in whole sectors */
	uint64_t new_size; /* the file's, after a tail that had to be padded; 0: leave it alone */
	uint64_t old_size; /* the file's, before that */
	bool wrote;	   /* a padded write was started */
	char *slot;	   /* NULL: none */
	struct range_lock lock;
	struct leg leg;
	struct engine_io io;
	struct block_end end_state;
};

/* Begin a block for @cut of @request. Its index and queue were set when it was made. */
void swapioi_block_begin(struct block *block, struct request *request, const struct cut *cut);

/* Take the block as far as it gets without the kernel. */
enum block_next swapioi_block_go(struct block *block);

/* A completion came. */
enum block_next swapioi_block_complete(struct block *block, int64_t result);

/* The kernel did not take it, or nobody wants it any more (-ECANCELED, cause NONE). */
void swapioi_block_fail(struct block *block, int error, enum swapio_cause cause,
			int64_t raw_status);

/* The kernel is done with it and will never say how it went. */
void swapioi_block_lose(struct block *block, int error);

/* Give back lock and slot. */
void swapioi_block_release(struct block *block);

#endif /* SWAPIOI_BLOCK_H */
