/* SPDX-License-Identifier: MIT */
/*
 * medium.h - the bytes of a device, and which of them would outlive a loss of power.
 *
 * A write is carried out at once; what it overwrote is kept until the write is durable. That is so
 * when it was answered and then flushed, when it was written with FUA and answered, and without a
 * write cache when it was answered. A sector is written as a whole or not at all.
 *
 * Threads: caller storage.
 */
#ifndef MEDIUM_H
#define MEDIUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct medium_options {
	int fd; /* the caller's */
	unsigned sector_bytes;
	uint64_t size_bytes;
	bool write_cache;
	bool keeps_undo;     /* medium_cut() will be asked for */
	bool keeps_previous; /* medium_read_previous() will be */
};

struct medium;

/* 0, -ENOMEM, -errno. */
int medium_create(struct medium **ret_medium, const struct medium_options *options);
void medium_destroy(struct medium *medium);

/* 0, -EIO: the file that holds the bytes failed. */
int medium_read(struct medium *medium, uint64_t offset, void *data, size_t bytes);
/* As each sector was before its last write. -ENODATA: none of them was written. */
int medium_read_previous(struct medium *medium, uint64_t offset, void *data, size_t bytes);

/* Carry a write out; *ret_write names it for medium_answered(), 0: nothing to be said of it.
 * 0, -EIO, -ENOMEM. */
int medium_write(struct medium *medium, uint64_t offset, const void *data, size_t bytes,
		 uint64_t *ret_write);
/* The write is answered: @fua or a device without a cache makes it durable. */
void medium_answered(struct medium *medium, uint64_t write, bool fua);

/* A flush covers the writes that were answered when it came. */
uint64_t medium_flush_begin(const struct medium *medium);
void medium_flush_end(struct medium *medium, uint64_t begun);

/* The power goes: of each sector that was written and is not durable the seed says which of its
 * contents is left, the durable one or any later one. 0, -EIO, -ENOMEM. */
int medium_cut(struct medium *medium, uint64_t seed);

#endif /* MEDIUM_H */
