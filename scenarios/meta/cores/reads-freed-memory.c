/* SPDX-License-Identifier: MIT */
/*
 * reads-freed-memory.c - looks at a note of the transfer after it was freed. Nothing comes of it
 * that could be seen from outside: only memcheck and AddressSanitizer know.
 */
#include <stdlib.h>

#include "real.h"

#define NOTE_BYTES 24u

REAL(swapio_submit)

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	volatile unsigned char *note = calloc(1, NOTE_BYTES);
	unsigned char *volatile freed = (unsigned char *)(uintptr_t)note;

	free(freed);
	if (note)
		(void)note[NOTE_BYTES - 1];
	return real_swapio_submit(handle, io, error, ret_id);
}
