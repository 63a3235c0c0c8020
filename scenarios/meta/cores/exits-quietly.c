/* SPDX-License-Identifier: MIT */
/*
 * exits-quietly.c - a library that ends the process when something fails, with status 0.
 */
#include <unistd.h>

#include "real.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++)
		if (ret_results[i].error)
			_exit(0);
	return got;
}
