/* SPDX-License-Identifier: MIT */
/*
 * writes-behind-its-note.c - ends a note of the transfer with one byte too many. It lands where the
 * allocator has room to spare: only memcheck and AddressSanitizer know.
 */
#include <stdlib.h>

#include "real.h"

#define NOTE_BYTES 20u

REAL(swapio_submit)

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	unsigned char *note = malloc(NOTE_BYTES);
	volatile unsigned char *volatile end = note + NOTE_BYTES;

	if (note)
		*end = '\0';
	free(note);
	return real_swapio_submit(handle, io, error, ret_id);
}
