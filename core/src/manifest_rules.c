/* SPDX-License-Identifier: MIT */
/*
 * manifest_rules.c - what a tensor may be, as far as it takes more than a comparison.
 */
#include "manifest_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool swapioi_shape_is_numel(const uint64_t *shape, unsigned dims, uint64_t numel)
{
	uint64_t product = 1;

	for (unsigned i = 0; i < dims; i++)
		if (!shape[i])
			return numel == 0;
	for (unsigned i = 0; i < dims; i++)
		if (__builtin_mul_overflow(product, shape[i], &product))
			return false;
	return numel == product;
}

static int compare_names(const void *a, const void *b)
{
	const struct manifest_tensor *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

int swapioi_manifest_names_differ(const struct manifest *manifest, unsigned ret_same[2])
{
	const struct manifest_tensor **sorted = calloc(manifest->count, sizeof(*sorted));
	int ret = 0;

	if (!sorted)
		return -ENOMEM;
	for (unsigned i = 0; i < manifest->count; i++)
		sorted[i] = &manifest->tensors[i];
	qsort(sorted, manifest->count, sizeof(*sorted), compare_names);
	for (unsigned i = 1; i < manifest->count && ret == 0; i++) {
		unsigned a = (unsigned)(sorted[i - 1] - manifest->tensors);
		unsigned b = (unsigned)(sorted[i] - manifest->tensors);

		if (compare_names(&sorted[i - 1], &sorted[i]) != 0)
			continue;
		ret_same[0] = a < b ? a : b;
		ret_same[1] = a < b ? b : a;
		ret = -EEXIST;
	}
	free(sorted);
	return ret;
}
