/* SPDX-License-Identifier: MIT */
/*
 * store_reader.h - a store, read without the library: docs/STORE.md made into code a second time.
 * It finds what is stored, tells where its bytes lie, and whether they are what was stored. The
 * harness judges with it what the library wrote; the worker finds with it the bytes to damage.
 *
 * Threads: one owner. It makes system calls past the preload.
 */
#ifndef STORE_READER_H
#define STORE_READER_H

#include <stdbool.h>

#include "store_manifest.h"

#define STORE_PATH_BYTES 4352

/* Where a store is: a directory, or a range of a block device or of a file that stands for one. */
struct store_place {
	const char *path;
	uint64_t range_offset, range_length; /* 0 and 0: the whole of it */
};

/* The newest generation of a group, and the volume that holds it. */
struct store_group {
	struct store_manifest *manifest;
	char path[STORE_PATH_BYTES]; /* of the file or device that holds the volume */
	int fd;			     /* of that, for reading */
	uint64_t base;		     /* of the volume in it */
	uint64_t length;	     /* bytes of the volume that are there */
	uint64_t number;	     /* which of the group's volumes */
	uint64_t slot_bytes, place_bytes;
	unsigned slot; /* that the manifest is in */
};

/*
 * 0; -ENOENT no store, or nothing stored under that name; -EBADMSG it is damaged; -EXDEV it belongs
 * to another store; -ENOTSUP a version or checksum that is not known; -ENOMEM, -errno of reading.
 * @text names the place and the value that is wrong.
 */
int store_group_open(const struct store_place *place, const char *name,
		     struct store_group **ret_group, char text[STORE_TEXT_BYTES]);
void store_group_close(struct store_group *group);

/* Offsets in the file of store_group.path. */
uint64_t store_group_tensor_offset(const struct store_group *group, unsigned tensor);
uint64_t store_group_slot_offset(const struct store_group *group, unsigned slot);
/* Index of a tensor; -ENOENT. */
int store_group_find(const struct store_group *group, const char *tensor);

/* Read @count bytes at @offset of a tensor. 0, -ENODATA the file ends before, -errno. */
int store_group_read(const struct store_group *group, unsigned tensor, uint64_t offset,
		     void *memory, size_t count);

/* Called for each damaged range of a tensor. */
typedef void store_damage_fn(void *arg, unsigned tensor, uint64_t offset, uint64_t length,
			     const char *what);
/*
 * Read a whole tensor: every chunk against its checksum, and the padding against zeros. Number of
 * damaged ranges, each handed out; -ENOMEM.
 */
int store_group_check(const struct store_group *group, unsigned tensor, store_damage_fn *damage,
		      void *arg);

#endif /* STORE_READER_H */
