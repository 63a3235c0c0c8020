/* SPDX-License-Identifier: MIT */
/*
 * step_store.c - a store is opened and closed, and a group of it removed.
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

/* Where a later process looks: from "removing" on the group may be gone, from "removed" on it is.
 */
static void tell_all_removed(const char *kind, uint32_t generation)
{
	for (unsigned i = 0; promised_counts() && i < worker.workload.tensors_count; i++)
		tell_write(kind, i, generation, 0);
}

/* That nothing is there is what the group's next generation consists of. */
void step_remove_group(const struct step *step)
{
	struct swapio_error sentence = {0};
	uint32_t generation;
	int error;

	(void)step;
	if (kept.swaps_count) {
		tell_broken("store-remove: a swap is on its way, a step wait is due");
		return;
	}
	if (kept.group && kept_group_close() < 0) {
		tell_broken("store-remove: the group cannot be closed");
		return;
	}
	generation = swap_draw_generation(0, worker.workload.tensors_count);
	tell_all_removed("removing", generation);
	error = swapio_store_remove(kept.store, worker.workload.store.group, &sentence);
	for (unsigned i = 0; i < WORKLOAD_TENSORS_MAX; i++)
		worker.tensors[i].stored = 0;
	if (error == 0 && worker.workload.store.durable)
		tell_all_removed("removed", generation);
	tell_removal(error, sentence.text);
}
