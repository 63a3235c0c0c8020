/* SPDX-License-Identifier: MIT */
/*
 * rw_calls.h - one synchronous transfer, whichever of the many calls asked for it.
 *
 * Threads: any; safe in signal handlers.
 */
#ifndef SWAPFAULT_RW_CALLS_H
#define SWAPFAULT_RW_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "files.h"
#include "runtime.h"

struct rw {
	enum point_id point; /* POINT_pread or POINT_pwrite */
	int fd;
	const struct iovec *iov;
	int iov_count;
	bool positioned; /* offset_bytes is given, else the file's own position */
	int64_t offset_bytes;
	int flags; /* RWF_* */
};

/* Is it a transfer from or to a file below the work directory, that faults or sim have to do with?
 * All others go straight on. */
static inline bool rw_is_ours(int fd)
{
	return (runtime_armed() || runtime_sim()) && !runtime_inside() && files_path(fd);
}

/* What the call answers, -1 with errno; faults applied, logged. */
ssize_t rw_staged(const struct rw *rw);

#endif /* SWAPFAULT_RW_CALLS_H */
