/* SPDX-License-Identifier: MIT */
/*
 * nearest.c - edit distance with swapped neighbours, for short words.
 */
#include <string.h>

#include "nearest.h"

#define WORD_MAX 40

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned cost[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_length; i++)
		cost[i][0] = (unsigned)i;
	for (size_t k = 0; k <= b_length; k++)
		cost[0][k] = (unsigned)k;
	for (size_t i = 1; i <= a_length; i++)
		for (size_t k = 1; k <= b_length; k++) {
			cost[i][k] = least(least(cost[i - 1][k], cost[i][k - 1]) + 1,
					   cost[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				cost[i][k] = least(cost[i][k], cost[i - 2][k - 2] + 1);
		}
	return cost[a_length][b_length];
}

void nearest_init(struct nearest *nearest, const char *word)
{
	/* Half of a word may be wrong at most; of a very short one, one letter. */
	*nearest = (struct nearest){
		.word = word,
		.distance = 2 + (unsigned)(strnlen(word, WORD_MAX) / 4),
	};
}

void nearest_offer(struct nearest *nearest, const char *known)
{
	size_t length = strlen(nearest->word), known_length = strlen(known);
	unsigned found;

	if (length > WORD_MAX || known_length > WORD_MAX)
		return;
	found = distance(nearest->word, length, known, known_length);
	if (found >= nearest->distance || found >= known_length)
		return;
	nearest->distance = found;
	nearest->best = known;
}
