/* SPDX-License-Identifier: MIT */
/*
 * asserts-on-error.c - a failed request is taken for a programming error: the process aborts, as
 * the operator of the first bug report did in the middle of a training.
 */
#include <stdlib.h>

#include "real.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++)
		if (ret_results[i].error)
			abort();
	return got;
}
