/* SPDX-License-Identifier: MIT */
/*
 * guest_libraries.h - which shared libraries a set of programs and libraries needs.
 *
 * Threads: caller storage.
 */
#ifndef GUEST_LIBRARIES_H
#define GUEST_LIBRARIES_H

#include <stdbool.h>

#include "diag.h"

struct guest_libraries {
	char **wanted; /* programs first */
	unsigned wanted_count;
	char *loaded; /* what programs load: a list for LD_PRELOAD */
	char **paths; /* libraries by the names under which they are looked for */
	unsigned count;
	char triplet[64]; /* "x86_64-linux-gnu", where the C library's directory bears such a name
			   */
};

/* A program, or (@loaded) a library that one of the programs before it loads. 0 or -ENOMEM. */
int guest_libraries_want(struct guest_libraries *libraries, const char *path, bool loaded);
/* Fill in @paths, the loader itself included. 0; with @diag: -ENOENT if one is missing, -errno. */
int guest_libraries_resolve(struct guest_libraries *libraries, struct diag *diag);
void guest_libraries_fini(struct guest_libraries *libraries);

#endif /* GUEST_LIBRARIES_H */
