/* SPDX-License-Identifier: MIT */
/*
 * run_paths.h - where the programs and libraries of this build (or installation) are.
 *
 * Threads: caller storage.
 */
#ifndef RUN_PATHS_H
#define RUN_PATHS_H

#include <limits.h>
#include <stdbool.h>

#include "diag.h"

struct run_paths {
	char worker[PATH_MAX];
	char preload[PATH_MAX];
	char meta[PATH_MAX];	     /* directory of the faulty cores */
	char suppressions[PATH_MAX]; /* what valgrind must not hold against preload and core */
};

/* Is @tool (of --under) a sanitizer, to be found in a worker of a build of its own? */
bool run_paths_sanitized(const char *tool);
/*
 * From where this program lies; for a sanitizer the worker and the faulty cores of the build beside
 * it that bears the sanitizer's name. @under: NULL or a tool. 0; -ENOENT with @diag naming what is
 * missing.
 */
int run_paths_find(struct run_paths *ret_paths, const char *under, struct diag *diag);

/* Another program of this build, by its name. 0 or -errno. */
int run_paths_program(const char *name, char found[PATH_MAX]);

#endif /* RUN_PATHS_H */
