/* SPDX-License-Identifier: MIT */
/*
 * verify_read.h - reads the tensors of a generation with several requests in flight, and finds the
 * chunks that are not what was stored.
 */
#ifndef SWAPIOI_VERIFY_READ_H
#define SWAPIOI_VERIFY_READ_H

#include "checksum.h"
#include "store.h"
#include "volume.h"

/* Neighbours of one kind are joined. */
struct damage {
	unsigned tensor;
	uint64_t offset_bytes, length_bytes;
	int error;
	char *text; /* owned: what reading said first; NULL for checksums and ends of files */
};

struct damages {
	struct damage *items;
	size_t count, room;
};

struct verify_reader;

/* NULL: no memory. */
struct verify_reader *swapioi_verify_reader_create(struct swapio_store *store);
void swapioi_verify_reader_destroy(struct verify_reader *reader);

/* Read everything that @manifest speaks of. 0 whatever is damaged; -errno with a sentence. */
int swapioi_verify_read(struct verify_reader *reader, const struct volume *volume,
			const struct manifest *manifest, struct damages *damages,
			struct swapio_error *error);

void swapioi_damages_fini(struct damages *damages);

#endif /* SWAPIOI_VERIFY_READ_H */
