/* SPDX-License-Identifier: MIT */
/*
 * refuses-without-a-word.c - the error is right, and the user is not told what is wrong.
 */
#include "real.h"

REAL(swapio_submit)

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	int result = real_swapio_submit(handle, io, error, ret_id);

	if (result < 0 && error)
		error->text[0] = '\0';
	return result;
}
