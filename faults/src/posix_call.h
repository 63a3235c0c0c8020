/* SPDX-License-Identifier: MIT */
/*
 * posix_call.h - one intercepted posix call, from the question whether it is ours to the log.
 *
 *   if (!posix_call_on_fd(&call, POINT_fsync, fd))
 *           return real_fsync()(fd);
 *   if (posix_call_fails(&call))
 *           return -1;
 *   return posix_call_end(&call, real_fsync()(fd));
 *
 * Threads: any; safe in signal handlers. errno is kept.
 */
#ifndef SWAPFAULT_POSIX_CALL_H
#define SWAPFAULT_POSIX_CALL_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "durable.h"
#include "runtime.h"

struct posix_call {
	struct fault_call call;
	struct firing firing;
	uint32_t number;
};

/* A call that names a file. */
struct path_call {
	struct posix_call posix;
	char path[PATH_MAX];
};

/* What a later process does before it is armed is no call to count, and may be lost all the same.
 */
static inline bool posix_call_counts(void)
{
	return runtime_armed() || durable_is_active();
}

/* False: not armed, the preload itself, or not below the work directory. */
bool posix_call_start_fd(struct posix_call *call, enum point_id point, int fd);
bool posix_call_start_path(struct path_call *call, enum point_id point, int dirfd,
			   const char *path);
bool posix_call_start_plain(struct posix_call *call, enum point_id point, uint64_t length);

static inline bool posix_call_on_fd(struct posix_call *call, enum point_id point, int fd)
{
	return posix_call_counts() && posix_call_start_fd(call, point, fd);
}

static inline bool posix_call_on_path(struct path_call *call, enum point_id point, int dirfd,
				      const char *path)
{
	return posix_call_counts() && posix_call_start_path(call, point, dirfd, path);
}

/* Memory and threads: no file. */
static inline bool posix_call_on_nothing(struct posix_call *call, enum point_id point,
					 uint64_t length)
{
	return runtime_armed() && posix_call_start_plain(call, point, length);
}

/* Does the call mean the descriptor itself? (libc's headers say that a path is never NULL; programs
 * pass it all the same, and the kernel answers.) */
static inline bool posix_call_is_about_fd(int dirfd, const char *path, int flags)
{
	__asm__("" : "+r"(path));
	return (flags & AT_EMPTY_PATH) && dirfd >= 0 && path && !*path;
}

/* Conditions are filled in after start and before this: draw the faults. */
void posix_call_decide(struct posix_call *call);

/* The fault of that kind that fires, or NULL. */
struct fault *posix_call_fault(const struct posix_call *call, enum kind_id kind);

/* The errno that the call is to fail with, logged as injected; 0 when it is not to fail. */
int posix_call_error(struct posix_call *call);
/* The same through errno: true when the call is to return -1. */
bool posix_call_fails(struct posix_call *call);

/* Log the call: its return value, where -1 means errno. Returns @result. */
int64_t posix_call_end(struct posix_call *call, int64_t result);
/* Log the call that answers without errno: @result is a value or -errno. */
void posix_call_end_plain(struct posix_call *call, int64_t result);
/* For results that a fault changed, a value or -errno. */
int64_t posix_call_end_injected(struct posix_call *call, const struct fault *fault, int64_t result);

#endif /* SWAPFAULT_POSIX_CALL_H */
