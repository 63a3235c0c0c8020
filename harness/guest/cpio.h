/* SPDX-License-Identifier: MIT */
/*
 * cpio.h - writes an archive in the kernel's "newc" format, which an initramfs is.
 *
 * Threads: caller storage.
 */
#ifndef CPIO_H
#define CPIO_H

#include <stdint.h>
#include <sys/types.h>

struct cpio {
	int fd;
	uint64_t bytes; /* written so far */
	unsigned inode;
	int error; /* the first one; what follows it does nothing */
};

/* Write to @fd from where it stands; it stays the caller's. */
void cpio_init(struct cpio *cpio, int fd);
/* Paths are relative to the guest's root, without a slash in front. A later entry of the same path
 * replaces the earlier one. */
void cpio_directory(struct cpio *cpio, const char *path, mode_t mode);
void cpio_symlink(struct cpio *cpio, const char *path, const char *to);
void cpio_device(struct cpio *cpio, const char *path, mode_t mode, unsigned major, unsigned minor);
void cpio_text(struct cpio *cpio, const char *path, const char *text);
/* Copy a file of this machine. 0 or -errno; only a failure to write ends the archive. */
int cpio_file(struct cpio *cpio, const char *path, mode_t mode, const char *source);
/* The trailer. 0, or the first error in writing. */
int cpio_finish(struct cpio *cpio);

#endif /* CPIO_H */
