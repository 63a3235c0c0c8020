/* SPDX-License-Identifier: MIT */
/*
 * blames-its-neighbour.c - of two requests that end together the wrong one fails: each has the
 * other's result.
 */
#include "real.h"

REAL(swapio_wait_some)

static void exchange(struct swapio_result *a, struct swapio_result *b)
{
	struct swapio_result kept = *a;

	*a = *b;
	a->id = kept.id;
	a->tag = kept.tag;
	kept.id = b->id;
	kept.tag = b->tag;
	*b = kept;
}

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i + 1 < got; i += 2)
		exchange(&ret_results[i], &ret_results[i + 1]);
	return got;
}
