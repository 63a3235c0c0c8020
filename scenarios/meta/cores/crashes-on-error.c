/* SPDX-License-Identifier: MIT */
/*
 * crashes-on-error.c - the error path was never run: it follows a pointer that is not there.
 */
#include "real.h"

REAL(swapio_wait_some)

static struct swapio_result *volatile details;

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++)
		if (ret_results[i].error)
			ret_results[i].raw_status = details->raw_status;
	return got;
}
