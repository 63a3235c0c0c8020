/* SPDX-License-Identifier: MIT */
/*
 * scribbles-on-source.c - the memory that is written from is changed on the way.
 */
#include "remember.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++) {
		const struct swapio_io *io = transfer_of(&ret_results[i]);

		if (io->op == SWAPIO_WRITE && io->length_bytes > 100)
			((char *)io->buf)[100] ^= 1;
	}
	return got;
}
