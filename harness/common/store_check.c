/* SPDX-License-Identifier: MIT */
/*
 * store_check.c - where the bytes of a stored tensor lie, and whether they are what was stored.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "store_io.h"
#include "store_reader.h"

#define PIECE_BYTES ((size_t)256 * 1024)

struct check { /* of one tensor */
	const struct store_group *group;
	unsigned tensor;
	store_damage_fn *damage;
	void *arg;
	char *piece; /* PIECE_BYTES */
	void *state; /* of the algorithm */
	int damaged;
};

uint64_t store_group_slot_offset(const struct store_group *group, unsigned slot)
{
	return group->base + STORE_UNIT + slot * group->slot_bytes;
}

uint64_t store_group_tensor_offset(const struct store_group *group, unsigned tensor)
{
	const struct store_tensor *it = &group->manifest->tensors[tensor];

	return store_group_slot_offset(group, 2) + it->place * group->place_bytes +
	       it->place_offset;
}

int store_group_find(const struct store_group *group, const char *tensor)
{
	for (unsigned i = 0; i < group->manifest->count; i++)
		if (strcmp(group->manifest->tensors[i].name, tensor) == 0)
			return (int)i;
	return -ENOENT;
}

int store_group_read(const struct store_group *group, unsigned tensor, uint64_t offset,
		     void *memory, size_t count)
{
	uint64_t at = store_group_tensor_offset(group, tensor) + offset;

	if (at - group->base > group->length || count > group->length - (at - group->base))
		return -ENODATA;
	return store_io_read(group->fd, memory, count, at);
}

/* One algorithm at a time; both keep their state in memory of their own. */
static void *sum_create(enum store_sum sum)
{
#if XXH_VERSION_NUMBER >= 800
	if (sum == STORE_SUM_XXH3)
		return XXH3_createState();
#endif
	return sum == STORE_SUM_XXH64 ? XXH64_createState() : NULL;
}

static void sum_free(enum store_sum sum, void *state)
{
#if XXH_VERSION_NUMBER >= 800
	if (sum == STORE_SUM_XXH3)
		XXH3_freeState(state);
#endif
	if (sum == STORE_SUM_XXH64)
		XXH64_freeState(state);
}

static void sum_begin(enum store_sum sum, void *state)
{
#if XXH_VERSION_NUMBER >= 800
	if (sum == STORE_SUM_XXH3)
		XXH3_64bits_reset(state);
#endif
	if (sum == STORE_SUM_XXH64)
		XXH64_reset(state, 0);
}

static void sum_add(enum store_sum sum, void *state, const void *bytes, size_t count)
{
#if XXH_VERSION_NUMBER >= 800
	if (sum == STORE_SUM_XXH3)
		XXH3_64bits_update(state, bytes, count);
#endif
	if (sum == STORE_SUM_XXH64)
		XXH64_update(state, bytes, count);
}

static uint64_t sum_end(enum store_sum sum, void *state)
{
#if XXH_VERSION_NUMBER >= 800
	if (sum == STORE_SUM_XXH3)
		return XXH3_64bits_digest(state);
#endif
	return sum == STORE_SUM_XXH64 ? XXH64_digest(state) : 0;
}

static const struct store_tensor *tensor_of(const struct check *check)
{
	return &check->group->manifest->tensors[check->tensor];
}

static void damaged(struct check *check, uint64_t offset, uint64_t length, const char *what)
{
	check->damaged++;
	check->damage(check->arg, check->tensor, offset, length, what);
}

/* Bytes @offset to @offset + @length as one sum; false when they cannot be read. */
static bool sum_range(struct check *check, uint64_t offset, uint64_t length, uint64_t *ret_sum)
{
	enum store_sum sum = check->group->manifest->sum;
	uint64_t done = 0;

	sum_begin(sum, check->state);
	while (done < length) {
		size_t part = length - done < PIECE_BYTES ? length - done : PIECE_BYTES;
		int error = store_group_read(check->group, check->tensor, offset + done,
					     check->piece, part);

		if (error < 0) {
			damaged(check, offset, length, strerror(-error));
			return false;
		}
		sum_add(sum, check->state, check->piece, part);
		done += part;
	}
	*ret_sum = sum_end(sum, check->state);
	return true;
}

/* Without sums there is nothing to compare with: it has to be there to its last byte. */
static void check_length(struct check *check)
{
	const struct store_group *group = check->group;
	uint64_t at = store_group_tensor_offset(group, check->tensor) - group->base;
	uint64_t there = group->length > at ? group->length - at : 0;
	uint64_t bytes = tensor_of(check)->bytes;

	if (there < bytes)
		damaged(check, there, bytes - there, strerror(ENODATA));
}

static void check_chunks(struct check *check)
{
	const struct store_tensor *tensor = tensor_of(check);
	uint64_t chunk_bytes = check->group->manifest->chunk_bytes, offset = 0;
	uint64_t sum;

	if (!tensor->sums) {
		check_length(check);
		return;
	}

	for (uint64_t i = 0; offset < tensor->bytes; i++) {
		uint64_t left = tensor->bytes - offset;
		uint64_t length = left < chunk_bytes ? left : chunk_bytes;
		char what[96];

		if (sum_range(check, offset, length, &sum) && sum != tensor->sums[i]) {
			snprintf(what, sizeof(what),
				 "checksum %016" PRIx64 ", stored is %016" PRIx64, sum,
				 tensor->sums[i]);
			damaged(check, offset, length, what);
		}
		offset += length;
	}
}

static void check_padding(struct check *check)
{
	uint64_t bytes = tensor_of(check)->bytes, length = store_padded(bytes) - bytes;
	int error = 0;

	if (length)
		error = store_group_read(check->group, check->tensor, bytes, check->piece, length);
	if (error < 0) {
		damaged(check, bytes, length, strerror(-error));
		return;
	}
	for (uint64_t i = 0; i < length; i++)
		if (check->piece[i]) {
			damaged(check, bytes + i, length - i, "the padding is not zero");
			return;
		}
}

int store_group_check(const struct store_group *group, unsigned tensor, store_damage_fn *damage,
		      void *arg)
{
	enum store_sum sum = group->manifest->sum;
	struct check check = {group, tensor, damage, arg, malloc(PIECE_BYTES), sum_create(sum), 0};

	if (!check.piece || (!check.state && sum != STORE_SUM_NONE))
		check.damaged = -ENOMEM;
	else
		check_chunks(&check);
	if (check.damaged >= 0)
		check_padding(&check);
	sum_free(sum, check.state);
	free(check.piece);
	return check.damaged;
}
