/* SPDX-License-Identifier: MIT */
/*
 * file.h - a file that requests use: descriptors, access, alignment, lock table entry.
 */
#ifndef SWAPIOI_FILE_H
#define SWAPIOI_FILE_H

#include <stdatomic.h>

#include "align.h"
#include "swapio/io.h"

struct file {
	struct list link; /* free, or by descriptor; under the handle's lock */
	unsigned users;	  /* requests; under the handle's lock */
	int fd, read_fd;  /* read_fd: for the pre-reads of writes; -1 if there is none */
	bool owned;	  /* opened here, closed here */
	bool direct;
	bool readable, writable;
	bool block_device;
	struct alignment align;
	_Atomic uint64_t size_bytes; /* when it was last asked; a hint only */
	struct inode *inode;
};

/*
 * Open @path for @op, or look at the descriptor @fd when @path is NULL. On failure nothing stays
 * open. The errors are those of swapio_submit().
 */
int swapioi_file_open(struct file *file, const struct swapio_io *io, enum swapio_direct policy,
		      struct swapio_error *error);

/* Close what was opened here; never touches a borrowed descriptor. */
void swapioi_file_close(struct file *file);

/* May the descriptor be used for @op? 0 or -EBADF. */
int swapioi_file_check_access(const struct file *file, enum swapio_op op,
			      struct swapio_error *error);

/*
 * A write of [start, end) may have to read sectors that it shares: can it? 0, or -EBADF if the
 * file is write-only and could not be opened again.
 */
int swapioi_file_check_rmw(const struct file *file, uint64_t start, uint64_t end,
			   struct swapio_error *error);

#endif /* SWAPIOI_FILE_H */
