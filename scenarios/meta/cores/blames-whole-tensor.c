/* SPDX-License-Identifier: MIT */
/*
 * blames-whole-tensor.c - where a byte of a tensor is damaged, everything behind it is said to be.
 */
#include <inttypes.h>
#include <stdio.h>

#include "verify.h"

#define FOLLOWING_BYTES 8192u

static int tell(struct told *told, const struct swapio_damage *damage)
{
	struct swapio_damage other = *damage;
	char text[256];

	other.length_bytes += FOLLOWING_BYTES;
	snprintf(text, sizeof(text),
		 "group %s, tensor %s, %" PRIu64 " bytes at %" PRIu64 ": the checksum differs",
		 damage->group, damage->tensor, other.length_bytes, damage->offset_bytes);
	other.text = text;
	return told->each(&other, told->arg);
}
