/* SPDX-License-Identifier: MIT */
/*
 * leaks-contexts.c - an AIO context is made for every open, and destroyed by nobody.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "real.h"

REAL(swapio_open)

EXPORT int swapio_open(const struct swapio_options *options, struct swapio_error *error,
		       struct swapio **ret_handle)
{
	unsigned long context = 0;

	syscall(SYS_io_setup, 4096, &context);
	return real_swapio_open(options, error, ret_handle);
}
