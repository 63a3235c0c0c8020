/* SPDX-License-Identifier: MIT */
/*
 * completes-twice.c - the first result of a wait is given a second time in place of the next one.
 */
#include "real.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	if (got >= 2)
		ret_results[1] = ret_results[0];
	return got;
}
