/* SPDX-License-Identifier: MIT */
/*
 * reader_look.h - what the independent reader sees of a store at the moment that the library
 * verified it: which bytes are damaged, and whether any file of the case changed meanwhile.
 *
 * A look is plain data of a fixed size: a child fills it in memory that is shared with its parent.
 *
 * Threads: one owner.
 */
#ifndef READER_LOOK_H
#define READER_LOOK_H

#include "store_manifest.h"
#include "workload.h"

#define LOOK_RANGES_MAX 256u

struct look_tensor { /* as it is stored */
	char name[WORKLOAD_NAME_BYTES];
	uint64_t bytes;
	uint64_t begin, end; /* in its file, padding included */
};

struct look_range { /* damaged bytes; neighbours are joined */
	unsigned tensor;
	uint64_t offset, length;
};

struct store_look {
	unsigned verify;		  /* of the outcome: which one this is about */
	uint64_t log_first, log_end;	  /* records of the event log between the two moments */
	uint64_t sum_before, sum_after;	  /* of all files of the case, their names and lengths */
	int error;			  /* of finding the group: as store_group_open() */
	char text[STORE_TEXT_BYTES];	  /* why */
	uint64_t chunk_bytes, volume_sum; /* of one checksum; XXH64 of the group's name */
	unsigned tensors_count, ranges_count;
	bool cut; /* there is more than there is room for */
	struct look_tensor tensors[WORKLOAD_TENSORS_MAX];
	struct look_range ranges[LOOK_RANGES_MAX];
};

struct store_looks {
	struct store_look *items;
	unsigned count, room;
};

struct reader_job;

/* Fill in what is known before, or behind, the step; see reader_job. */
void reader_look(const struct reader_job *job);

int looks_add(struct store_looks *looks, const struct store_look *look); /* 0, -ENOMEM */
void looks_free(struct store_looks *looks);

#endif /* READER_LOOK_H */
