/* SPDX-License-Identifier: MIT */
/*
 * durable.h - what would survive a loss of power. Only where the schedule has a crash, and only in
 * sim, every effect on files below the work directory is kept with what was there before, until the
 * program has made it durable. The crash then drops some of the rest.
 *
 *   durable_write_begin(&step, fd, offset, bytes, flags);
 *   result = pwritev2(...);
 *   durable_end(&step, result >= 0);
 *
 * Between begin and end the journal is locked and every signal blocked, so that what is kept is
 * what the call really replaced.
 *
 * Threads: any; a fork ends it, children are not covered. Safe in signal handlers.
 */
#ifndef SWAPFAULT_DURABLE_H
#define SWAPFAULT_DURABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schedule.h"
#include "simlock.h"

extern _Atomic bool durable_active;

static inline bool durable_is_active(void)
{
	return atomic_load_explicit(&durable_active, memory_order_relaxed);
}

/* One call on its way. */
struct durable_step {
	bool tracked; /* the journal is locked */
	uint8_t act;
	struct simlock_guard guard;
	int fd;
	uint64_t offset_bytes, length_bytes;
	bool synchronous; /* what it writes is durable when it returns */
};

/*
 * Arm and disarm: what the work directory holds when counting starts is durable. Where the harness
 * gave a file for the journal, a later process of the case goes on with it, from its first call on.
 */
void durable_attach(void); /* the case begins */
void durable_begin(void);
void durable_finish(void);
void durable_stop(void); /* for good: whoever is about to have an effect waits for ever */
void durable_before_fork(void);
void durable_forget(void); /* after durable_finish(): the case is over */

/* durable_data.c. @flags: RWF_*. */
void durable_write_begin(struct durable_step *step, int fd, uint64_t offset_bytes,
			 uint64_t length_bytes, int flags);
void durable_resize_begin(struct durable_step *step, int fd, uint64_t size_bytes);
void durable_resize_path_begin(struct durable_step *step, const char *path, uint64_t size_bytes);
/* @mode: of fallocate(). */
void durable_allocate_begin(struct durable_step *step, int fd, int mode, uint64_t offset_bytes,
			    uint64_t length_bytes);
void durable_sync_begin(struct durable_step *step, int fd);

/* durable_names.c */
void durable_open_begin(struct durable_step *step, int dirfd, const char *path, int flags);
void durable_rename_begin(struct durable_step *step, int from_dir, const char *from, int to_dir,
			  const char *to, unsigned flags);
void durable_unlink_begin(struct durable_step *step, int dirfd, const char *path);
void durable_mkdir_begin(struct durable_step *step, int dirfd, const char *path);

/* The call was made; errno is kept. */
void durable_end(struct durable_step *step, bool succeeded);

/*
 * The power is gone, before @call takes effect: drop, undo, end the process. Returns only when that
 * cannot be, which was logged as missed. No lock of the stage may be held.
 */
void durable_crash(const struct fault *fault, const struct fault_call *call, uint32_t number);

/* durable_inflight.c: carry out what the program has in flight, as if it were done in time. */
void durable_carry_out_inflight(void);

#endif /* SWAPFAULT_DURABLE_H */
