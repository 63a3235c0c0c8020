/* SPDX-License-Identifier: MIT */
/*
 * calls-errors-damage.c - whatever keeps a verify from reading is said to be a wrong checksum: who
 * believes it throws a good store away.
 */
#include <errno.h>

#include "verify.h"

static int tell(struct told *told, const struct swapio_damage *damage)
{
	struct swapio_damage other = *damage;

	other.error = -EBADMSG;
	return told->each(&other, told->arg);
}
