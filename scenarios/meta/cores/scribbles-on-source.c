/* SPDX-License-Identifier: MIT */
/*
 * scribbles-on-source.c - the memory that is written from is changed on the way.
 */
#include "real.h"

REAL(swapio_submit)
REAL(swapio_wait_some)

static struct swapio_io transfers[64];

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	transfers[io->tag % 64] = *io;
	return real_swapio_submit(handle, io, error, ret_id);
}

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	for (int i = 0; i < got; i++) {
		struct swapio_io *io = &transfers[ret_results[i].tag % 64];

		if (io->op == SWAPIO_WRITE && io->length_bytes > 100)
			((char *)io->buf)[100] ^= 1;
	}
	return got;
}
