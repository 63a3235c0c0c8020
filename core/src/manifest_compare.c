/* SPDX-License-Identifier: MIT */
/*
 * manifest_compare.c - is what is stored what was asked for? The first difference, in words.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "manifest.h"

#define SHAPE_TEXT_BYTES 192

struct pair {
	const char *group;
	unsigned index;
	const struct manifest_tensor *stored, *asked;
};

/* "[3, 5]" */
static const char *shape_text(const struct manifest_tensor *tensor, char text[SHAPE_TEXT_BYTES])
{
	size_t at = 0;

	for (unsigned i = 0; i < tensor->dims && at < SHAPE_TEXT_BYTES; i++)
		at += (size_t)snprintf(text + at, SHAPE_TEXT_BYTES - at, "%s%" PRIu64,
				       i ? ", " : "[", tensor->shape[i]);
	if (at < SHAPE_TEXT_BYTES - 1)
		snprintf(text + at, SHAPE_TEXT_BYTES - at, "]");
	return text;
}

static int differ(const struct pair *pair, const char *what, const char *stored, const char *asked,
		  struct swapio_error *error)
{
	return swapioi_error(error, -EINVAL,
			     "group %.80s, tensor %u (%.80s): %s: stored is %.120s, asked for is "
			     "%.120s",
			     pair->group, pair->index, pair->asked->name, what, stored, asked);
}

static int differ_number(const struct pair *pair, const char *what, uint64_t stored, uint64_t asked,
			 struct swapio_error *error)
{
	char texts[2][24];

	snprintf(texts[0], sizeof(texts[0]), "%" PRIu64, stored);
	snprintf(texts[1], sizeof(texts[1]), "%" PRIu64, asked);
	return differ(pair, what, texts[0], texts[1], error);
}

static int compare_shapes(const struct pair *pair, struct swapio_error *error)
{
	const struct manifest_tensor *stored = pair->stored, *asked = pair->asked;
	char texts[2][SHAPE_TEXT_BYTES];

	if (!stored->dims || !asked->dims)
		return 0;
	if (stored->dims == asked->dims &&
	    memcmp(stored->shape, asked->shape, asked->dims * sizeof(*asked->shape)) == 0)
		return 0;
	return differ(pair, "shape", shape_text(stored, texts[0]), shape_text(asked, texts[1]),
		      error);
}

static int compare_tensors(const struct pair *pair, struct swapio_error *error)
{
	const struct manifest_tensor *stored = pair->stored, *asked = pair->asked;

	if (strcmp(stored->name, asked->name) != 0)
		return differ(pair, "name", stored->name, asked->name, error);
	if (stored->numel != asked->numel)
		return differ_number(pair, "numel", stored->numel, asked->numel, error);
	if (stored->element_bytes != asked->element_bytes)
		return differ_number(pair, "element_bytes", stored->element_bytes,
				     asked->element_bytes, error);
	if (stored->dtype[0] && asked->dtype[0] && strcmp(stored->dtype, asked->dtype) != 0)
		return differ(pair, "dtype", stored->dtype, asked->dtype, error);
	return compare_shapes(pair, error);
}

int swapioi_manifest_compare(const struct manifest *stored, const struct manifest *asked,
			     unsigned *ret_tensor, struct swapio_error *error)
{
	unsigned shared = stored->count < asked->count ? stored->count : asked->count;

	/* A tensor that differs says more than the number of them. */
	for (unsigned i = 0; i < shared; i++) {
		struct pair pair = {.group = asked->group,
				    .index = i,
				    .stored = &stored->tensors[i],
				    .asked = &asked->tensors[i]};

		if (compare_tensors(&pair, error) < 0) {
			*ret_tensor = i;
			return -EINVAL;
		}
	}
	if (stored->count == asked->count)
		return 0;
	*ret_tensor = UINT_MAX;
	return swapioi_error(error, -EINVAL,
			     "group " NAME_SHOWN
			     ": number of tensors: stored is %u, asked for is %u",
			     asked->group, stored->count, asked->count);
}
