/* SPDX-License-Identifier: MIT */
/*
 * files.h - what the preload knows of descriptors: path below the work directory, O_DIRECT, size of
 * a sector. In sim, O_DIRECT is taken out of the real open and its rules are kept by the back end.
 *
 * Threads: any. Lookups take no lock (a table indexed by descriptor).
 */
#ifndef SWAPFAULT_FILES_H
#define SWAPFAULT_FILES_H

#include <stdbool.h>

/* Path relative to the work directory, or NULL when it is not below: then no fault and no log
 * applies to it. Found lazily through /proc/self/fd for descriptors the preload did not see being
 * opened (inherited, dup). */
const char *files_path(int fd);
/* Was the descriptor opened with O_DIRECT, as the program believes? */
bool files_direct(int fd);
/* @absolute_path NULL: the kernel is asked. @flags: as the program gave them. */
void files_opened(int fd, const char *absolute_path, int flags);
void files_set_direct(int fd, bool direct); /* F_SETFL */
void files_closed(int fd);
void files_duplicated(int from, int to);
void files_forget_all(void); /* the case is over */

#endif /* SWAPFAULT_FILES_H */
