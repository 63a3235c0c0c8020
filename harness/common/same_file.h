/* SPDX-License-Identifier: MIT */
/*
 * same_file.h - do two paths lead to one file?
 *
 * Threads: as the calls.
 */
#ifndef SAME_FILE_H
#define SAME_FILE_H

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static inline bool same_file(const char *a, const char *b)
{
	struct stat first, second;

	if (strcmp(a, b) == 0)
		return true;
	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

#endif /* SAME_FILE_H */
