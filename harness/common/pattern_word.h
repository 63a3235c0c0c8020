/* SPDX-License-Identifier: MIT */
/*
 * pattern_word.h - how a word of the pattern is made, for those who read it backwards.
 *
 * Threads: pure functions.
 */
#ifndef PATTERN_WORD_H
#define PATTERN_WORD_H

#include <stdbool.h>

#include "pattern.h"

#define PATTERN_TENSOR_BITS 7
#define PATTERN_GENERATION_BITS 20
#define PATTERN_OFFSET_BITS 37 /* in words: 1 TiB */
#define PATTERN_SHIFT 32       /* half a word: the step undoes itself */
#define PATTERN_MULTIPLIER UINT64_C(0x9ddfea08eb382d69)
#define PATTERN_INVERSE UINT64_C(0xdc56e6f5090b32d9)

_Static_assert(PATTERN_TENSOR_BITS + PATTERN_GENERATION_BITS + PATTERN_OFFSET_BITS == 64,
	       "a word is full");

uint64_t pattern_key(uint64_t seed);

/* Say in @finding->story what the bytes from @finding->begin on, at @seen, are. */
void pattern_story(const struct pattern *pattern, const char *seen, struct pattern_finding *finding,
		   const char *const *names, unsigned names_count);

#endif /* PATTERN_WORD_H */
