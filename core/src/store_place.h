/* SPDX-License-Identifier: MIT */
/*
 * store_place.h - what both kinds of medium do with the place they are given: sentences with its
 * path, a lock against others, identities.
 */
#ifndef SWAPIOI_STORE_PLACE_H
#define SWAPIOI_STORE_PLACE_H

#include "records.h"
#include "store.h"

/* "PATH: WHAT: strerror(-code)"; @code is returned. */
int swapioi_place_error(const struct swapio_store *store, int code, const char *what,
			struct swapio_error *error);

/* open(2) again after EINTR; -errno. */
int swapioi_place_open(int dir_fd, const char *name, int flags);

/* Lock @fd for this store, shared if it is read-only: 0, -EBUSY, -errno; with a sentence. */
int swapioi_place_lock(const struct swapio_store *store, int fd, struct swapio_error *error);

/* Unlock and close; in a child after fork the lock stays the parent's. */
void swapioi_place_unlock(int fd, bool forked);

/* All of it, at offsets of the file; -EIO when the file ends before. */
int swapioi_place_read(int fd, void *buf, size_t bytes, uint64_t offset);
int swapioi_place_write(int fd, const void *buf, size_t bytes, uint64_t offset);

/* 16 bytes that nobody else has. -errno of getrandom(2). */
int swapioi_place_draw_id(unsigned char id[SWAPIO_STORE_ID_BYTES]);

#endif /* SWAPIOI_STORE_PLACE_H */
