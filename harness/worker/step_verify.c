/* SPDX-License-Identifier: MIT */
/*
 * step_verify.c - the library reads the whole store, and what it says of it is told. Whether that
 * is so the harness knows, which looks at the same bytes before and behind.
 */
#include "swap.h"

static int take_damage(const struct swapio_damage *damage, void *arg)
{
	(void)arg;
	tell_damage(damage);
	return 0;
}

/* Then the bytes change under both readers, and neither is wrong. */
static bool is_swapping_out(void)
{
	for (unsigned i = 0; i < kept.swaps_count; i++)
		if (kept.swaps[i]->op == SWAPIO_SWAP_OUT)
			return true;
	return false;
}

void step_verify(const struct step *step)
{
	struct swapio_error sentence = {0};
	int error;

	(void)step;
	if (is_swapping_out()) {
		tell_broken("verify: a swap-out is on its way, a step wait is due");
		return;
	}
	error = swapio_store_verify(kept.store, NULL, take_damage, NULL, &sentence);
	tell_verify(error, sentence.text);
}
