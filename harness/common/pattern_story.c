/* SPDX-License-Identifier: MIT */
/*
 * pattern_story.c - what wrong bytes are: an older generation, another tensor's, shifted, poison,
 * zeros, one flipped bit. Only called once something is wrong, so it may take its time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pattern_word.h"

#define WORD_BYTES sizeof(uint64_t)
#define WITNESS_BYTES (2 * WORD_BYTES) /* two words in a row agree by chance once in 2^64 */
#define SHORT_RUN_BYTES 64u

struct origin {
	uint32_t tensor, generation;
	uint64_t offset;
};

static struct origin unpack(const struct pattern *pattern, const char *seen)
{
	uint64_t word;

	memcpy(&word, seen, sizeof(word));
	word ^= pattern_key(pattern->seed);
	word = (word ^ (word >> PATTERN_SHIFT)) * PATTERN_INVERSE;
	word = (word ^ (word >> PATTERN_SHIFT)) * PATTERN_INVERSE;
	return (struct origin){
		.tensor = (uint32_t)(word >> (64 - PATTERN_TENSOR_BITS)),
		.generation = (uint32_t)(word >> PATTERN_OFFSET_BITS) &
			      ((1u << PATTERN_GENERATION_BITS) - 1),
		.offset = (word & ((UINT64_C(1) << PATTERN_OFFSET_BITS) - 1)) * WORD_BYTES,
	};
}

/* Do the bytes at @seen come from some tensor of this seed? Words may start at any byte. */
static bool find_origin(const struct pattern *pattern, const char *seen, uint64_t bytes,
			struct origin *ret_origin)
{
	for (unsigned phase = 0; phase < WORD_BYTES && phase + WITNESS_BYTES <= bytes; phase++) {
		struct origin one = unpack(pattern, seen + phase);
		struct origin two = unpack(pattern, seen + phase + WORD_BYTES);

		if (one.tensor != two.tensor || one.generation != two.generation ||
		    two.offset != one.offset + WORD_BYTES || one.offset < phase)
			continue;
		one.offset -= phase;
		*ret_origin = one;
		return true;
	}
	return false;
}

/* Runs too short for two words: would another generation of the tensor look like this? */
static bool guess_origin(const struct pattern *pattern, const char *seen, uint64_t begin,
			 uint64_t bytes, struct origin *ret_origin)
{
	struct pattern guess = *pattern;
	char wanted[SHORT_RUN_BYTES];

	if (bytes < 2 || bytes > sizeof(wanted))
		return false;
	for (guess.generation = pattern->generation; guess.generation-- > 1;) {
		pattern_fill(&guess, begin, wanted, bytes);
		if (memcmp(seen, wanted, bytes) != 0)
			continue;
		*ret_origin = (struct origin){guess.tensor, guess.generation, begin};
		return true;
	}
	return false;
}

static bool all_are(const char *seen, uint64_t bytes, unsigned char value)
{
	for (uint64_t i = 0; i < bytes; i++)
		if ((unsigned char)seen[i] != value)
			return false;
	return true;
}

static bool one_bit_differs(const struct pattern *pattern, uint64_t offset, const char *seen)
{
	char wanted;

	pattern_fill(pattern, offset, &wanted, 1);
	return __builtin_popcount((unsigned char)(wanted ^ *seen)) == 1;
}

static void tell_origin(const struct pattern *pattern, const struct origin *origin,
			struct pattern_finding *finding, const char *const *names,
			unsigned names_count)
{
	size_t room = sizeof(finding->story);
	int64_t shift = (int64_t)(origin->offset - finding->begin);

	if (origin->tensor != pattern->tensor) {
		if (names && origin->tensor < names_count)
			snprintf(finding->story, room, "hold tensor %s at %" PRIu64 ": misdirected",
				 names[origin->tensor], origin->offset);
		else
			snprintf(finding->story, room, "hold tensor %u at %" PRIu64 ": misdirected",
				 origin->tensor, origin->offset);
	} else if (shift) {
		snprintf(finding->story, room,
			 "hold generation %u of byte %" PRIu64 ": shifted by %" PRId64,
			 origin->generation, origin->offset, shift);
	} else {
		snprintf(finding->story, room, "hold generation %u%s", origin->generation,
			 origin->generation < pattern->generation ? ": lost write"
								  : ": not written yet");
	}
}

void pattern_story(const struct pattern *pattern, const char *seen, struct pattern_finding *finding,
		   const char *const *names, unsigned names_count)
{
	uint64_t bytes = finding->end - finding->begin;
	size_t room = sizeof(finding->story);
	struct origin origin;

	if (bytes == 1 && one_bit_differs(pattern, finding->begin, seen))
		snprintf(finding->story, room, "one bit of byte %" PRIu64 " flipped",
			 finding->begin);
	else if (all_are(seen, bytes, PATTERN_POISON))
		snprintf(finding->story, room, "were never written (poison)");
	else if (all_are(seen, bytes, 0))
		snprintf(finding->story, room, "hold zeros");
	else if (find_origin(pattern, seen, bytes, &origin) ||
		 guess_origin(pattern, seen, finding->begin, bytes, &origin))
		tell_origin(pattern, &origin, finding, names, names_count);
	else
		snprintf(finding->story, room, "hold bytes of no tensor");
}
