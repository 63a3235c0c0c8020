/* SPDX-License-Identifier: MIT */
/*
 * request.h - one transfer as the caller sees it: a cursor over a range, and how it went.
 *
 * A request is cut into blocks lazily, when a queue has room for them, so a huge one costs no more
 * memory than a small one. Everything in it is under the handle's lock, except what says otherwise.
 */
#ifndef SWAPIOI_REQUEST_H
#define SWAPIOI_REQUEST_H

#include <stdatomic.h>

#include "file.h"
#include "list.h"
#include "swapio/io.h"

enum request_state {
	REQUEST_FREE,
	REQUEST_RESERVED, /* being submitted */
	REQUEST_ACTIVE,
	REQUEST_DONE, /* its result waits to be fetched */
};

struct request {
	struct list link; /* free, ready, finishing or done */
	enum request_state state;
	uint64_t generation; /* of its id; grows with each use */

	/* Constant while it is active. */
	struct file *file;
	enum swapio_op op;
	uint64_t start, end; /* in the file */
	char *mem;	     /* of start */
	bool on_host;	     /* the kernel can do I/O on mem */
	uint64_t tag;
	bool unlisted; /* for whom knows its id only: not counted as pending, not for any wait */
	uint64_t block_bytes, bounce_bytes; /* multiples of the file's sector */

	uint64_t cursor;     /* blocks before it were cut */
	unsigned blocks_out; /* cut and not ended */

	/*
	 * Blocks from here on are not submitted any more: behind a failed block, or all of a
	 * cancelled request. Those before a failure still move, so that everything before it is
	 * there and the count at the end of a file is exact. Read by queues unlocked.
	 */
	_Atomic uint64_t stop_at;

	uint64_t bytes_moved;
	int error;
	enum swapio_cause cause;
	int64_t raw_status;
	uint64_t error_at;		/* start of the failing block nearest to the start */
	uint64_t fail_first, fail_last; /* what did not move lies in [first, last) */
	bool buffered;
};

/* A piece of a request, [start, end) in the file, and whether it needs a bounce slot. */
struct cut {
	uint64_t start, end;
	bool bounce;
};

/* How a block ended; error 0 is success. Bytes from @moved_to to @end did not move. */
struct block_end {
	uint64_t start, moved_to, end;
	int error; /* 0 or -errno; with cause NONE: dropped because another block failed */
	enum swapio_cause cause;
	int64_t raw_status;
};

/* How a handle cuts requests; the file's sectors have the last word. */
struct cut_sizes {
	uint64_t block_bytes, bounce_bytes;
};

/* Fill a fresh request. @on_host: the kernel can do I/O on its memory, where that is aligned. */
void swapioi_request_start(struct request *request, const struct swapio_io *io, struct file *file,
			   const struct cut_sizes *sizes, bool on_host);

/* The next block; the cursor moves past it. The request must have bytes left. */
struct cut swapioi_request_cut(struct request *request);

static inline bool swapioi_request_has_more(const struct request *request)
{
	return request->cursor < request->end;
}

/* Account for the end of a block. */
void swapioi_request_account(struct request *request, const struct block_end *end);

/* Submit no further block, and account for those that will never be cut. */
void swapioi_request_cancel(struct request *request);

/* May a block that starts at @start still be submitted? */
static inline bool swapioi_request_wants(const struct request *request, uint64_t start)
{
	return start < atomic_load_explicit(&request->stop_at, memory_order_relaxed);
}

void swapioi_request_result(const struct request *request, swapio_id id,
			    struct swapio_result *ret_result);

#endif /* SWAPIOI_REQUEST_H */
