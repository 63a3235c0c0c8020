/* SPDX-License-Identifier: MIT */
/*
 * work_owner.h - whose work directory is this, and does he live? A run marks the directories it
 * makes; the next run removes what one that was killed left behind.
 *
 * Threads: one thread.
 */
#ifndef WORK_OWNER_H
#define WORK_OWNER_H

/* Mark @directory as ours as long as we live. A descriptor for work_owner_leave(); -errno. */
int work_owner_mark(const char *directory);
/* Take the mark away: whatever stays in @directory is there to stay. @mark may be -1. */
void work_owner_leave(const char *directory, int mark);
/* Below @parent: remove what dead owners left, but what they kept for people to look at. */
void work_owner_remove_dead(const char *parent);

#endif /* WORK_OWNER_H */
