/* SPDX-License-Identifier: MIT */
/*
 * gives-up-early.c - a wait for all returns with what happens to be there.
 */
#include "real.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	return real_swapio_wait_some(handle, min ? 1 : 0, max ? 1 : max, timeout_ns, ret_results);
}
