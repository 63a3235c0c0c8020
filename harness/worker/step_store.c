/* SPDX-License-Identifier: MIT */
/*
 * step_store.c - a store is opened and closed.
 */
#include "swap.h"

void step_store_open(const struct step *step)
{
	struct swapio_error sentence = {0};
	int error;

	if (kept.store) {
		tell_broken("store-open: a store is open");
		return;
	}
	error = kept_open(step ? step->to : WORKLOAD_STORE_PLACE, step && step->read_only,
			  &sentence);
	tell_call("store-open", error, sentence.text);
}

void step_store_close(const struct step *step)
{
	tell_call("store-close", kept_close(step_timeout(step)), "");
}
