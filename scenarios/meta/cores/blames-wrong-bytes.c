/* SPDX-License-Identifier: MIT */
/*
 * blames-wrong-bytes.c - a failed request names a range that it does not have.
 */
#include "real.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++)
		if (ret_results[i].error)
			ret_results[i].fail_offset_bytes += UINT64_C(1) << 32;
	return got;
}
