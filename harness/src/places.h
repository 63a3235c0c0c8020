/* SPDX-License-Identifier: MIT */
/*
 * places.h - where the parts of swaptorture lie, as seen from the running program: in a build
 * directory or installed.
 *
 * Threads: caller storage.
 */
#ifndef PLACES_H
#define PLACES_H

#include <stddef.h>

/* Absolute path of a library that is built or installed beside us; 0, -ENOENT with the first place
 * that was tried in @path, -ENAMETOOLONG. */
int places_library(const char *name, char *path, size_t path_bytes);
/* The scenarios that come with us, or those of the directory we are called in; 0, -ENOENT. */
int places_scenarios(char *path, size_t path_bytes);
/* The directory for temporary files: $TMPDIR or /var/tmp. Borrowed. */
const char *places_temporary(void);

#endif /* PLACES_H */
