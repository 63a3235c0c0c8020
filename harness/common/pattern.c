/* SPDX-License-Identifier: MIT */
/*
 * pattern.c - self-describing data: fill and compare. pattern_story.c tells what wrong bytes are.
 *
 * Eight bytes at a time: a word packs tensor, generation and word offset, and is then scrambled by
 * steps that can be undone, so that any two words in a row say where they come from. Before those
 * steps the words of a cell differ by a constant: filling costs little more than a copy.
 */
#include <assert.h>
#include <string.h>

#include "pattern_word.h"

#define CELL_WORDS (PATTERN_CELL_BYTES / sizeof(uint64_t))

_Static_assert(PATTERN_CELL_BYTES % sizeof(uint64_t) == 0, "cells are whole words");

uint64_t pattern_key(uint64_t seed)
{
	uint64_t key = seed + 0x9e3779b97f4a7c15u;

	key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
	key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
	return key ^ (key >> 31);
}

static uint64_t pack(const struct pattern *pattern, uint64_t word_index)
{
	return (uint64_t)pattern->tensor << (64 - PATTERN_TENSOR_BITS) |
	       (uint64_t)pattern->generation << PATTERN_OFFSET_BITS | word_index;
}

static void cell_make(const struct pattern *pattern, uint64_t cell, uint64_t words[CELL_WORDS])
{
	uint64_t key = pattern_key(pattern->seed);
	uint64_t product = pack(pattern, cell * CELL_WORDS) * PATTERN_MULTIPLIER;

	for (unsigned i = 0; i < CELL_WORDS; i++) {
		uint64_t value = product + i * PATTERN_MULTIPLIER;

		value = (value ^ (value >> PATTERN_SHIFT)) * PATTERN_MULTIPLIER;
		words[i] = (value ^ (value >> PATTERN_SHIFT)) ^ key;
	}
}

static void check_limits(const struct pattern *pattern, uint64_t offset, size_t bytes)
{
	assert(pattern->tensor < 1u << PATTERN_TENSOR_BITS);
	assert(pattern->generation < 1u << PATTERN_GENERATION_BITS);
	assert((offset + bytes) / sizeof(uint64_t) < UINT64_C(1) << PATTERN_OFFSET_BITS);
}

/* Bytes of the range that lie in the cell of @offset. */
static size_t slice_bytes(uint64_t offset, size_t bytes)
{
	size_t room = PATTERN_CELL_BYTES - offset % PATTERN_CELL_BYTES;

	return bytes < room ? bytes : room;
}

void pattern_fill(const struct pattern *pattern, uint64_t offset, void *memory, size_t bytes)
{
	uint64_t words[CELL_WORDS];
	char *to = memory;

	check_limits(pattern, offset, bytes);
	while (bytes) {
		size_t part = slice_bytes(offset, bytes);

		cell_make(pattern, offset / PATTERN_CELL_BYTES, words);
		memcpy(to, (const char *)words + offset % PATTERN_CELL_BYTES, part);
		to += part;
		offset += part;
		bytes -= part;
	}
}

void pattern_poison(void *memory, size_t bytes)
{
	memset(memory, PATTERN_POISON, bytes);
}

/* One bad slice at @offset: it opens the first run, goes on with it, or is only counted. */
static void finding_add(struct pattern_finding *finding, uint64_t offset, const char *seen,
			const char *wanted, size_t bytes, bool *run_open)
{
	size_t first = bytes, last = 0, count = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (seen[i] == wanted[i])
			continue;
		first = count++ ? first : i;
		last = i;
	}
	if (finding->bad_bytes == 0) {
		finding->begin = offset + first;
		*run_open = true;
	}
	if (*run_open)
		finding->end = offset + last + 1;
	finding->bad_bytes += count;
}

int pattern_check(const struct pattern *pattern, uint64_t offset, const void *memory, size_t bytes,
		  const char *const *names, unsigned names_count,
		  struct pattern_finding *ret_finding)
{
	struct pattern_finding finding = {0};
	uint64_t words[CELL_WORDS], at = offset;
	const char *seen = memory;
	bool run_open = false;

	check_limits(pattern, offset, bytes);
	for (size_t left = bytes; left;) {
		size_t part = slice_bytes(at, left);
		const char *wanted = (const char *)words + at % PATTERN_CELL_BYTES;

		cell_make(pattern, at / PATTERN_CELL_BYTES, words);
		if (memcmp(seen, wanted, part) == 0)
			run_open = false;
		else
			finding_add(&finding, at, seen, wanted, part, &run_open);
		seen += part;
		at += part;
		left -= part;
	}
	if (!finding.bad_bytes)
		return 0;
	pattern_story(pattern, (const char *)memory + (finding.begin - offset), &finding, names,
		      names_count);
	*ret_finding = finding;
	return 1;
}
