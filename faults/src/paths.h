/* SPDX-License-Identifier: MIT */
/*
 * paths.h - paths as fault points see them: relative to the work directory.
 *
 * Threads: any; no locks, safe in signal handlers.
 */
#ifndef SWAPFAULT_PATHS_H
#define SWAPFAULT_PATHS_H

#include <limits.h>

/*
 * Make @path, relative to @dirfd (or AT_FDCWD), absolute and free of `.`, `..` and double slashes,
 * by its letters alone: nothing is looked up but the directory. 0, -ENAMETOOLONG, -errno.
 */
int paths_absolute(int dirfd, const char *path, char ret_path[PATH_MAX]);

/* The part of an absolute path below the work directory ("." for itself), or NULL. */
const char *paths_below(const char *absolute);

/* A copy of @path that lives as long as the case, the same for the same path, aligned to 8
 * bytes; NULL when there is no room for one more. */
const char *paths_keep(const char *path);
void paths_forget_all(void); /* the case is over */

#endif /* SWAPFAULT_PATHS_H */
