/* SPDX-License-Identifier: MIT */
/*
 * checksum.h - checksums of chunks of tensors and of the store's own records, by xxhash.
 */
#ifndef SWAPIOI_CHECKSUM_H
#define SWAPIOI_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swapio/store.h"

/* Can this build compute it? */
bool swapioi_checksum_known(enum swapio_checksum algorithm);

/* "none", "xxh64", "xxh3", "unknown" */
const char *swapioi_checksum_name(enum swapio_checksum algorithm);

/* XXH3 where the build has it. */
enum swapio_checksum swapioi_checksum_default(void);

/*
 * A sum over bytes that come in pieces, in order. Allocated once, begun anew for each chunk.
 * NONE sums to 0.
 */
struct checksum;
struct checksum *swapioi_checksum_create(void); /* NULL: no memory */
void swapioi_checksum_destroy(struct checksum *sum);
void swapioi_checksum_begin(struct checksum *sum, enum swapio_checksum algorithm);
void swapioi_checksum_add(struct checksum *sum, const void *bytes, size_t count);
uint64_t swapioi_checksum_end(struct checksum *sum);

/* Of the store's own records: XXH64, always. */
uint64_t swapioi_record_sum(const void *bytes, size_t count);

#endif /* SWAPIOI_CHECKSUM_H */
