/* SPDX-License-Identifier: MIT */
/*
 * medium_internal.h - what the medium keeps of writes that are not durable.
 *
 * Threads: as medium.h.
 */
#ifndef MEDIUM_INTERNAL_H
#define MEDIUM_INTERNAL_H

#include "medium.h"

/* What one write overwrote, in whole sectors. */
struct undo {
	uint64_t write;	   /* its number: later writes have larger ones */
	uint64_t answered; /* how many were answered then, itself included; 0: it was not yet */
	uint64_t sector, sectors;
	uint64_t open;	  /* sectors whose contents of this write are not durable */
	uint8_t *settled; /* for each sector: it is, or later contents are */
	uint8_t *before;
};

struct medium {
	struct medium_options options;
	uint64_t writes, answered;
	struct undo *undos; /* in order of their writes */
	size_t undos_count, undos_room;
	uint64_t undo_bytes;
	int previous_fd;  /* -1 */
	uint8_t *written; /* for each sector: previous_fd holds what it was before */
};

/* medium_undo.c. 0, -EIO, -ENOMEM. */
int undo_keep(struct medium *medium, uint64_t sector, uint64_t sectors, const uint8_t *before);
void undo_answered(struct medium *medium, uint64_t write, bool durable);
void undo_flushed(struct medium *medium, uint64_t begun);
void undo_clear(struct medium *medium);

#endif /* MEDIUM_INTERNAL_H */
