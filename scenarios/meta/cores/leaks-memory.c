/* SPDX-License-Identifier: MIT */
/*
 * leaks-memory.c - a note of every transfer is allocated and never freed.
 */
#include <stdlib.h>

#include "real.h"

#define NOTE_BYTES 20000u

REAL(swapio_submit)

static void *volatile note;

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	note = malloc(NOTE_BYTES);
	return real_swapio_submit(handle, io, error, ret_id);
}
