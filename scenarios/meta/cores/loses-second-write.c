/* SPDX-License-Identifier: MIT */
/*
 * loses-second-write.c - a file that was written before is not written again.
 */
#include "real.h"

REAL(swapio_submit)

static unsigned writes[64];

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	static char elsewhere[] = "elsewhere.swp";
	struct swapio_io moved = *io;

	if (io->op == SWAPIO_WRITE && writes[io->tag % 64]++)
		moved.path = elsewhere;
	return real_swapio_submit(handle, &moved, error, ret_id);
}
