/* SPDX-License-Identifier: MIT */
/*
 * success-on-error.c - a result that is negative is taken for a success, as where `res < 0` is
 * asked of an unsigned field.
 */
#include "real.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++) {
		if (!ret_results[i].error)
			continue;
		ret_results[i].error = 0;
		ret_results[i].cause = SWAPIO_CAUSE_NONE;
		ret_results[i].bytes += ret_results[i].fail_length_bytes;
	}
	return got;
}
