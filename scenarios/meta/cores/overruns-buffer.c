/* SPDX-License-Identifier: MIT */
/*
 * overruns-buffer.c - a read writes a few bytes more than it was asked for: sizes counted in
 * elements and taken for bytes.
 */
#include "remember.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++) {
		const struct swapio_io *io = transfer_of(&ret_results[i]);

		if (io->op == SWAPIO_READ)
			memset((char *)io->buf + io->length_bytes, 0, 4);
	}
	return got;
}
