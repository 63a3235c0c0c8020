/* SPDX-License-Identifier: MIT */
/*
 * leaks-descriptors.c - one descriptor is lost with every transfer.
 */
#include <fcntl.h>

#include "real.h"

REAL(swapio_submit)

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	int lost = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)lost;
	return real_swapio_submit(handle, io, error, ret_id);
}
