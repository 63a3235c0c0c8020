/* SPDX-License-Identifier: MIT */
/*
 * stops-at-first-damage.c - a store is known to be damaged once one range is, and the others are
 * not told.
 */
#include "verify.h"

static int tell(struct told *told, const struct swapio_damage *damage)
{
	return told->count++ ? 0 : told->each(damage, told->arg);
}
