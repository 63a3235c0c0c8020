/* SPDX-License-Identifier: MIT */
/*
 * kernel_log.h - what the kernel says while a case runs, read from /dev/kmsg. On a machine where
 * nothing else happens, a guest, it is the case's.
 *
 * Threads: one thread.
 */
#ifndef KERNEL_LOG_H
#define KERNEL_LOG_H

#include <stdbool.h>

struct kernel_log;

/* 0, -errno: it may not be read here. */
int kernel_log_open(struct kernel_log **ret_log);
void kernel_log_close(struct kernel_log *log);
/* What was said before is of no interest. */
void kernel_log_begin(struct kernel_log *log);
/* What was said since, in lines, the oldest of it if it is much; valid until the next call. With
 * NULL nothing was. */
const char *kernel_log_read(struct kernel_log *log);
/* Say a line there ourselves, so that what comes later can be told from what came before. */
void kernel_log_mark(const char *line);
/* A device that had been pulled out is about to be back. */
#define KERNEL_LOG_RETURN "swaptorture: the device returns"
/* There was more than could be kept. */
bool kernel_log_lost(const struct kernel_log *log);

#endif /* KERNEL_LOG_H */
