/* SPDX-License-Identifier: MIT */
/*
 * run_story.h - what a case was doing when its time was up: from /proc and from the event log.
 *
 * Threads: one thread.
 */
#ifndef RUN_STORY_H
#define RUN_STORY_H

#include <stddef.h>
#include <sys/types.h>

#include "eventlog.h"

/* One sentence into @text. @pid 0: the process is gone, only the log can tell. */
void run_story(pid_t pid, struct eventlog *log, char *text, size_t text_bytes);
/* The event log as lines of text into the open file @fd. */
void run_story_log(struct eventlog *log, int fd);

#endif /* RUN_STORY_H */
