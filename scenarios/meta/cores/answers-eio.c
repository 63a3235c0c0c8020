/* SPDX-License-Identifier: MIT */
/*
 * answers-eio.c - reports EIO for whatever it is asked to do. Nothing is lost, nothing hangs, no
 * byte is wrong: only that nothing works.
 */
#include <errno.h>
#include <stdio.h>

#include "real.h"

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	(void)handle;
	(void)ret_id;
	if (error)
		snprintf(error->text, sizeof(error->text), "%s: input/output error",
			 io->path ? io->path : "descriptor");
	return -EIO;
}
