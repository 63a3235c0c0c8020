/* SPDX-License-Identifier: MIT */
/*
 * medium.h - where volumes lie: files of a directory (store_dir.c), or parts of a range of a block
 * device (store_range.c). An index in memory says which there are; the medium keeps it true.
 *
 * Threads: an operation that changes the index is called by one thread at a time, which has the
 *          store's turn (store.h); the index itself is read under the store's lock.
 */
#ifndef SWAPIOI_MEDIUM_H
#define SWAPIOI_MEDIUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swapio/store.h"

/* One volume. */
struct medium_entry {
	uint64_t group_sum; /* XXH64 of the group's name */
	uint64_t number;    /* which of the group's volumes, from 1 */
	uint64_t base;	    /* where it begins in its file, or in the device */
	uint64_t length_bytes;
	bool published; /* findable after a crash */
};

/* In order of group_sum, then number. */
struct medium_index {
	struct medium_entry *entries;
	size_t count, room;
};

/* Enough for "0123456789abcdef-18446744073709551615.vol". */
#define VOLUME_NAME_BYTES 48

struct swapio_store;

struct medium {
	int lock_fd;  /* swapio.store, or the device: carries the lock against other processes */
	int place_fd; /* the directory, or the device for data */
	uint64_t start, length_bytes; /* range of the device */
	uint64_t sequence;	      /* of the catalog that is valid */
	struct medium_index index;
};

struct medium_ops {
	bool block_device;

	/*
	 * Take the lock, read or make the store's record, and fill store->id and the index.
	 * The errors are those of swapio_store_open().
	 */
	int (*open)(struct swapio_store *store, struct swapio_error *error);

	/*
	 * Read again what open found: would the store be found now? 0, -EBADMSG -EXDEV -ENOTSUP
	 * with a sentence, or -errno of reading. The caller has the turn.
	 */
	int (*check)(struct swapio_store *store, struct swapio_error *error);

	/* Give everything back; in a child after fork the lock is left to the parent. */
	void (*close)(struct swapio_store *store, bool forked);

	/*
	 * A descriptor for the data of @entry, direct where possible; closed by close_volume.
	 * Length of what is there, which damage may have made less than the volume needs.
	 */
	int (*open_volume)(struct swapio_store *store, const struct medium_entry *entry,
			   int *ret_fd, uint64_t *ret_length, struct swapio_error *error);
	void (*close_volume)(struct swapio_store *store, int fd);

	/* What there is of a volume that is open, now. */
	int (*length_now)(struct swapio_store *store, const struct medium_entry *entry, int fd,
			  uint64_t *ret_length);

	/*
	 * Make room: @entry has group_sum, number and length_bytes and gets its base. Its room is
	 * allocated, it is not published. The caller has the turn.
	 */
	int (*create_volume)(struct swapio_store *store, struct medium_entry *entry, int *ret_fd,
			     struct swapio_error *error);

	/* Make what was written to a new volume durable, and then findable. The turn, too. */
	int (*publish_volume)(struct swapio_store *store, struct medium_entry *entry, int fd,
			      struct swapio_error *error);

	/* Remove a volume, published or not, and make that durable if @sync. The turn, too. */
	int (*remove_volume)(struct swapio_store *store, const struct medium_entry *entry,
			     bool sync, struct swapio_error *error);

	/* Make every removal so far durable. */
	int (*settle)(struct swapio_store *store, struct swapio_error *error);

	/*
	 * Instead of open, without a handle: take the lock, remove the volumes and then the record,
	 * give everything back. The errors are those of swapio_store_destroy().
	 */
	int (*destroy)(struct swapio_store *store, struct swapio_error *error);

	int (*free_bytes)(struct swapio_store *store, uint64_t *ret_bytes);
};

extern const struct medium_ops swapioi_medium_dir, swapioi_medium_range;

/* Note in the index and in @entry that it is findable; takes the store's lock. */
void swapioi_index_publish(struct swapio_store *store, struct medium_entry *entry);

/* The index, with the store locked, or while nobody else can see it (medium_index.c). */
int swapioi_index_add(struct medium_index *index, const struct medium_entry *entry);
void swapioi_index_remove(struct medium_index *index, uint64_t group_sum, uint64_t number);
struct medium_entry *swapioi_index_find(struct medium_index *index, uint64_t group_sum,
					uint64_t number);
/* Position behind the last entry of a group: what is before is its newest, if it is its. */
size_t swapioi_index_end(const struct medium_index *index, uint64_t group_sum);
void swapioi_index_fini(struct medium_index *index);

/* "0123456789abcdef-1.vol" */
void swapioi_volume_name(const struct medium_entry *entry, char name[VOLUME_NAME_BYTES]);
/* The reverse; false if it is not such a name, to the letter. */
bool swapioi_volume_name_parse(const char *name, struct medium_entry *ret_entry);

#endif /* SWAPIOI_MEDIUM_H */
