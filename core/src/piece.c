/* SPDX-License-Identifier: MIT */
/*
 * piece.c - where a tensor is cut: at its chunks, before an odd tail whose padding the caller's
 * memory has no room for, and at the size of a slot where it needs one.
 */
#include "piece.h"

#include "align.h"

void swapioi_cutter_begin(struct cutter *cutter)
{
	cutter->tensor = cutter->first;
	cutter->offset = 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static const struct manifest_tensor *current(const struct cutter *cutter)
{
	return &cutter->manifest->tensors[cutter->tensor];
}

static char *memory_at_cursor(const struct cutter *cutter)
{
	return (char *)cutter->mem[cutter->tensor - cutter->first] + cutter->offset;
}

/* False at the end of the last tensor. */
static bool seek(struct cutter *cutter)
{
	while (cutter->tensor < cutter->end &&
	       cutter->offset == manifest_tensor_bytes(current(cutter))) {
		cutter->tensor++;
		cutter->offset = 0;
	}
	return cutter->tensor < cutter->end;
}

/* The end of the chunk that the cursor is in. */
static uint64_t chunk_end(const struct cutter *cutter)
{
	uint64_t chunk_bytes = cutter->manifest->chunk_bytes;

	return smaller(cutter->offset - cutter->offset % chunk_bytes + chunk_bytes,
		       manifest_tensor_bytes(current(cutter)));
}

/* Where a piece ends that takes the caller's memory as it is; at the cursor if none can. */
static uint64_t direct_end(const struct cutter *cutter, uint64_t end)
{
	if (!cutter->on_host ||
	    !is_multiple((uintptr_t)memory_at_cursor(cutter), cutter->alignment_bytes))
		return cutter->offset;
	if (cutter->lent && cutter->lent[cutter->tensor - cutter->first])
		return end;
	return round_down(end, STORE_UNIT);
}

bool swapioi_cutter_next(struct cutter *cutter, struct piece *ret_piece)
{
	uint64_t limit, end;

	if (!seek(cutter))
		return false;
	if (!cutter->offset)
		cutter->on_host = accel_is_host(cutter->accel, memory_at_cursor(cutter));
	limit = chunk_end(cutter);
	end = direct_end(cutter, limit);
	*ret_piece = (struct piece){
		.tensor = cutter->tensor,
		.offset = cutter->offset,
		.mem = memory_at_cursor(cutter),
		.staged = end <= cutter->offset,
		.begins_chunk = cutter->offset % cutter->manifest->chunk_bytes == 0,
	};
	if (ret_piece->staged)
		end = smaller(limit, cutter->offset + cutter->slot_bytes);
	ret_piece->bytes = (size_t)(end - cutter->offset);
	ret_piece->padded_bytes = (size_t)round_up(ret_piece->bytes, STORE_UNIT);
	ret_piece->ends_chunk = end == limit;
	cutter->offset = end;
	return true;
}
