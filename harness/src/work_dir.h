/* SPDX-License-Identifier: MIT */
/*
 * work_dir.h - the directories that cases work in: on a real disk for host, in memory for sim; one
 * for each job, emptied between cases, moved aside and kept when a case did not pass.
 *
 * Threads: one thread.
 */
#ifndef WORK_DIR_H
#define WORK_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "diag.h"

#define WORK_DIR_BYTES 512
#define WORK_DIR_PREFIX "swaptorture-"

struct work_root {
	char disk[WORK_DIR_BYTES];   /* ours, below what the user named */
	char memory[WORK_DIR_BYTES]; /* ours, in /dev/shm; "" where there is none: the disk, then */
	int disk_mark, memory_mark;  /* say that we live, -1 none */
	bool kept;		     /* something in disk must stay */
};

/* Make both. With @direct the directory has to be one for real direct I/O: it is tried out. Without
 * room for @memory_bytes in memory there is only the disk.
 * 0; -errno with @diag naming the directory; nothing is left behind then. */
int work_root_open(struct work_root *root, const char *below, bool direct, uint64_t memory_bytes,
		   struct diag *diag);
/* Remove what is not to be kept. */
void work_root_close(struct work_root *root);

/* An empty directory for job @number; @path has WORK_DIR_BYTES. 0, -errno. */
int work_dir_make(const struct work_root *root, bool in_memory, unsigned number, char *path);
/* Empty it again; -errno. */
int work_dir_clean(const char *path);
void work_dir_remove(const char *path);
/* All that its file system holds is durable. 0, -errno. */
int work_dir_sync(const char *path);
/* Set its files aside as DISK/@name, whose path comes back; @path is empty afterwards. 0, -errno.
 */
int work_dir_keep(struct work_root *root, const char *path, const char *name, char *ret_path);

#endif /* WORK_DIR_H */
