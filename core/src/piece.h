/* SPDX-License-Identifier: MIT */
/*
 * piece.h - cuts the tensors of a swap into pieces: each is moved by one request, lies within one
 * chunk, and takes its memory as it is or goes through a slot. Nothing here does I/O.
 */
#ifndef SWAPIOI_PIECE_H
#define SWAPIOI_PIECE_H

#include "accel.h"
#include "manifest.h"

struct piece {
	unsigned tensor;     /* index in the manifest */
	uint64_t offset;     /* within the tensor */
	size_t bytes;	     /* of the tensor */
	size_t padded_bytes; /* of the request: bytes rounded up to STORE_UNIT */
	char *mem;	     /* of the caller, at offset; host or device */
	bool staged;	     /* moves through a slot */
	bool begins_chunk, ends_chunk;
};

struct cutter {
	/* Constant while it cuts. */
	const struct manifest *manifest;
	unsigned first, end; /* tensors [first, end) */
	void *const *mem;    /* of tensors from first on */
	const bool *lent;    /* likewise: memory is a slot, with room for the padding; or NULL */
	struct accel *accel;
	uint64_t alignment_bytes; /* of memory that moves as it is; a multiple of STORE_UNIT */
	size_t slot_bytes;

	/* The cursor. */
	unsigned tensor;
	uint64_t offset;
	bool on_host; /* the memory of tensor, when offset is not 0 */
};

/* Set the cursor to the start. */
void swapioi_cutter_begin(struct cutter *cutter);

/* The next piece; false at the end. */
bool swapioi_cutter_next(struct cutter *cutter, struct piece *ret_piece);

#endif /* SWAPIOI_PIECE_H */
