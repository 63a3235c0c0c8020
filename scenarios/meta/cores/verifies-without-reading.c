/* SPDX-License-Identifier: MIT */
/*
 * verifies-without-reading.c - a store is called whole, and nobody looked.
 */
#include "real.h"

EXPORT int swapio_store_verify(struct swapio_store *store, const char *group,
			       swapio_damage_fn *each, void *arg, struct swapio_error *error)
{
	(void)store;
	(void)group;
	(void)each;
	(void)arg;
	(void)error;
	return 0;
}
