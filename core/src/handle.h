/* SPDX-License-Identifier: MIT */
/*
 * handle.h - struct swapio, and what its modules do for each other.
 *
 * Lock order: an inode's lock (range.c), then the handle's. Neither is held across a system call
 * other than futex. fork() takes the locks of all handles and stores (fork.h).
 */
#ifndef SWAPIOI_HANDLE_H
#define SWAPIOI_HANDLE_H

#include "fork.h"
#include "log.h"
#include "queue.h"
#include "slab.h"
#include "swapio/swapio.h"

#define FD_BUCKETS 64

struct swapio {
	/* Constant after open. */
	struct swapio_options options; /* strings are not kept */
	size_t alignment_bytes;
	struct cut_sizes cut_sizes;
	size_t sector_bytes_max; /* what slots are aligned to; files that need more are refused */
	size_t slot_bytes;
	struct accel *accel;
	const struct engine_ops *engine_ops;
	struct log log;
	uint64_t epoch; /* see fork.h */
	unsigned queues_count;
	struct queue *queues;
	struct slab slots_slab;
	struct fork_member fork;

	pthread_mutex_t lock;
	pthread_cond_t done; /* for callers: a request ended, or nobody drives */

	/* Under the lock. */
	struct request *requests; /* [requests_max], those below requests_used ever touched */
	struct file *files;	  /* likewise */
	unsigned requests_used, files_used;
	struct list free_requests, free_files;
	struct list ready;	     /* requests with blocks to cut, first come first served */
	struct list done_requests;   /* in order of completion */
	struct list fds[FD_BUCKETS]; /* borrowed descriptors in use, so that each is asked once */
	unsigned pending, active, done_count;
	uint64_t requests_accepted;
	struct list buffers; /* of struct buffer, see buffer.c */
	bool driven;	     /* workers == 0: a caller owns the queue */
	bool closing, stop;
	unsigned waiters; /* callers sleeping on done */
};

/* Open with an engine and an accelerator that need no name; the options were checked. */
int swapioi_open_with(const struct swapio_options *options, struct accel *accel,
		      const struct engine_ops *engine_ops, struct swapio_error *error,
		      struct swapio **ret_handle);

/* Parts of opening, undone by whoever ends a handle (open.c). */
void swapioi_queues_fini(struct swapio *handle, unsigned count);
void swapioi_locks_fini(struct swapio *handle);
void swapioi_handle_free(struct swapio *handle);

/* request pool and descriptors, all with the handle locked (table.c) */
struct request *swapioi_request_reserve(struct swapio *handle);
void swapioi_request_free(struct swapio *handle, struct request *request);
struct request *swapioi_request_find(struct swapio *handle, swapio_id id);
swapio_id swapioi_request_id(const struct swapio *handle, const struct request *request);
struct file *swapioi_file_take(struct swapio *handle);
void swapioi_file_free(struct swapio *handle, struct file *file);
struct file *swapioi_file_find(struct swapio *handle, int fd);
void swapioi_file_share(struct swapio *handle, struct file *file);

/*
 * swapio_submit() for the library's own requests, on a handle that its owner uses as well: only
 * swapio_wait() with its id ends it, so that no swapio_wait_some() takes its result away.
 */
int swapioi_submit_unlisted(struct swapio *handle, const struct swapio_io *io,
			    struct swapio_error *error, swapio_id *ret_id);

/* End the requests in @over, whose last blocks ended. The handle is not locked. */
void swapioi_requests_finish(struct swapio *handle, struct list *over);

/* The handle is locked: move @request to @over if nothing of it is left to do. */
void swapioi_request_check_over(struct request *request, struct list *over);

/* Submit nothing more of @request; the handle is locked (wait.c). */
void swapioi_cancel_locked(struct swapio *handle, struct request *request, struct list *over);

/* worker.c */
int swapioi_workers_start(struct swapio *handle);
void swapioi_workers_stop(struct swapio *handle);

/* Sleep until @cond or @deadline_ns; not at all if that is 0. */
void swapioi_sleep_locked(struct swapio *handle, pthread_cond_t *cond, int64_t deadline_ns);
void swapioi_wake_owners_locked(struct swapio *handle);

/* Requests ended. */
void swapioi_wake_callers_locked(struct swapio *handle);

/* There are new blocks. Without workers the caller starts what fits, unless somebody drives. */
void swapioi_poke_locked(struct swapio *handle, bool many);

/*
 * A caller waits one step, driving the queue itself if nobody else does. Called in a loop with the
 * handle locked throughout; swapioi_drive_leave_locked() ends the loop.
 */
void swapioi_drive_locked(struct swapio *handle, int64_t deadline_ns);
void swapioi_drive_leave_locked(struct swapio *handle);

/* Index of the slot of @pool that starts at @slot, or -EINVAL (pool.c). */
int swapioi_pool_index(const struct swapio_pool *pool, const void *slot);

/* buffer.c */
void swapioi_buffers_free(struct swapio *handle, bool child);

#endif /* SWAPIOI_HANDLE_H */
