/* SPDX-License-Identifier: MIT */
/*
 * names-no-tensor.c - a failure does not say which tensor it is about.
 */
#include <limits.h>

#include "real.h"

REAL(swapio_swap_wait)

EXPORT int swapio_swap_wait(struct swapio_store *store, swapio_swap_id id, int64_t timeout_ns,
			    struct swapio_swap_result *ret_result)
{
	int error = real_swapio_swap_wait(store, id, timeout_ns, ret_result);

	if (error == 0 && ret_result->error)
		ret_result->tensor = UINT_MAX;
	return error;
}
