/* SPDX-License-Identifier: MIT */
/*
 * stays-broken.c - after one failure the handle refuses everything: an error that is never
 * forgotten.
 */
#include <errno.h>
#include <stdio.h>

#include "real.h"

REAL(swapio_wait_some)
REAL(swapio_write)

static int first_error;

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++)
		if (ret_results[i].error)
			first_error = ret_results[i].error;
	return got;
}

EXPORT int swapio_write(struct swapio *handle, const char *path, uint64_t offset_bytes,
			const void *buf, uint64_t length_bytes, struct swapio_error *error)
{
	if (first_error && error)
		snprintf(error->text, sizeof(error->text), "%s: an earlier request failed", path);
	if (first_error)
		return first_error;
	return real_swapio_write(handle, path, offset_bytes, buf, length_bytes, error);
}
