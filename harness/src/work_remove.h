/* SPDX-License-Identifier: MIT */
/*
 * work_remove.h - removes files and directories of ours; never follows a link.
 *
 * Threads: any.
 */
#ifndef WORK_REMOVE_H
#define WORK_REMOVE_H

/* Everything in the directory @fd, which is closed. 0, -errno. */
int work_remove_inside(int fd);
/* @name in @directory, with all that is in it. 0, -errno. */
int work_remove_entry(int directory, const char *name);

#endif /* WORK_REMOVE_H */
