/* SPDX-License-Identifier: MIT */
/*
 * guest_program.h - the programs of a case as they go into a guest: which files of this machine,
 * and where they lie there.
 *
 * Threads: caller storage.
 */
#ifndef GUEST_PROGRAM_H
#define GUEST_PROGRAM_H

#include <limits.h>

#include "scenario.h"

#define GUEST_PROGRAM_FILES_MAX 24u
#define GUEST_PROGRAM_REASON_BYTES 128u

struct guest_program_files {
	unsigned count;
	struct {
		char path[PATH_MAX]; /* in the guest */
		char source[PATH_MAX];
	} files[GUEST_PROGRAM_FILES_MAX];
};

/*
 * The program of @program, those that @scenario needs, and the shells of those that are scripts.
 * 0; -ENOENT, -ENOTSUP, -E2BIG with a sentence in @reason why the case cannot run in a guest.
 */
int guest_program_find(const struct scenario *scenario, const struct program *program,
		       struct guest_program_files *ret_files,
		       char reason[GUEST_PROGRAM_REASON_BYTES]);
/* As that, of which only the answer is wanted; also whether all of their libraries are there. */
int guest_program_check(const struct scenario *scenario, const struct program *program,
			char reason[GUEST_PROGRAM_REASON_BYTES]);
/* Where a file of this machine lies in the guest, below a directory of its own, because a guest has
 * its own /tmp; to be freed. NULL: there is none here, or no memory. */
char *guest_program_given(const char *path);
/* Where a program that is named by a path lies in the guest (to be freed); NULL: it is searched for
 * there as here, or there is no memory. */
char *guest_program_path(const struct program *program);

#endif /* GUEST_PROGRAM_H */
