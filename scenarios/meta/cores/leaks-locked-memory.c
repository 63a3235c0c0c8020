/* SPDX-License-Identifier: MIT */
/*
 * leaks-locked-memory.c - pinned buffers are forgotten instead of freed.
 */
#include "real.h"

EXPORT int swapio_buffer_free(struct swapio *handle, void *buf)
{
	(void)handle;
	(void)buf;
	return 0;
}

/* The handle would free what is left: so another one has it, which is never closed. */
REAL(swapio_buffer_alloc)

static struct swapio *keeper;

static void open_keeper(void)
{
	struct swapio_options options;

	swapio_options_init(&options);
	options.workers = 0;
	swapio_open(&options, NULL, &keeper);
}

EXPORT int swapio_buffer_alloc(struct swapio *handle, size_t length_bytes, unsigned flags,
			       void **ret_buf)
{
	if (!keeper)
		open_keeper();
	return real_swapio_buffer_alloc(keeper ? keeper : handle, length_bytes, flags, ret_buf);
}
