/* SPDX-License-Identifier: MIT */
/*
 * pins-base-only.c - only the address that was allocated counts as pinned, a slice does not.
 */
#include "real.h"

REAL(swapio_is_pinned)

EXPORT bool swapio_is_pinned(struct swapio *handle, const void *ptr, size_t length_bytes)
{
	return ((uintptr_t)ptr & 4095) == 0 && real_swapio_is_pinned(handle, ptr, length_bytes);
}
