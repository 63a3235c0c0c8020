/* SPDX-License-Identifier: MIT */
/*
 * step_swap.c - swap-out, swap-in, start, wait and cancel where there is a store: the whole group
 * is one swap, and each tensor that a step names is one of its own.
 */
#include "swap.h"

/* Tensors of the group that the step is about. */
static unsigned first_of(const struct step *step)
{
	return step->as_count ? step->as_first : 0;
}

static unsigned count_of(const struct step *step)
{
	return step->as_count ? step->as_count : worker.workload.tensors_count;
}

static bool is_on_its_way(unsigned first, unsigned count)
{
	for (unsigned i = 0; i < kept.swaps_count; i++) {
		const struct swap *swap = kept.swaps[i];

		if (first < swap->first + swap->count && swap->first < first + count)
			return true;
	}
	return false;
}

/* The group cannot be opened: everything of the step is refused. */
static void refuse_all(const struct step *step, enum swapio_swap_op op, int error,
		       const struct swapio_error *sentence)
{
	const struct swap swap = {
		.asked = true,
		.op = op,
		.first = first_of(step),
		.count = count_of(step),
		.error = error,
		.sentence = *sentence,
		.result = {.tensor = UINT32_MAX},
	};

	tell_swap(&swap);
}

static unsigned start_one(const struct step *step, enum swapio_swap_op op, unsigned first,
			  unsigned count, struct swap **ret_swap)
{
	if (is_on_its_way(first, count)) {
		tell_broken("tensor %s is on its way already", worker.workload.tensors[first].name);
		return 0;
	}
	*ret_swap = swap_prepare(step, op, first, count);
	if (*ret_swap)
		swap_start(*ret_swap);
	return *ret_swap ? 1 : 0;
}

/* Start all of a step. How many there are; those that were refused are among them. */
static unsigned start_all(const struct step *step, enum swapio_swap_op op,
			  struct swap *ret_swaps[SWAPS_MAX])
{
	struct swapio_error sentence = {0};
	int error = kept_group(first_of(step), count_of(step), &sentence);
	unsigned count = 0;

	if (error < 0) {
		refuse_all(step, op, error, &sentence);
		return 0;
	}
	if (!step->tensors)
		return start_one(step, op, first_of(step), count_of(step), &ret_swaps[0]);
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (step_has(step, i))
			count += start_one(step, op, i, 1, &ret_swaps[count]);
	return count;
}

void step_swap(const struct step *step)
{
	enum swapio_swap_op op = step->kind == STEP_SWAP_OUT ? SWAPIO_SWAP_OUT : SWAPIO_SWAP_IN;
	struct swap *swaps[SWAPS_MAX];
	unsigned count = start_all(step, op, swaps);

	for (unsigned i = 0; i < count; i++)
		if (swaps[i]->started)
			swap_wait(swaps[i], step_timeout(step));
	for (unsigned i = 0; i < count; i++)
		swap_finish(swaps[i]);
}

void step_swap_start(const struct step *step)
{
	struct swap *swaps[SWAPS_MAX];
	unsigned count = start_all(step, step->write ? SWAPIO_SWAP_OUT : SWAPIO_SWAP_IN, swaps);

	for (unsigned i = 0; i < count; i++) {
		if (swaps[i]->started)
			swap_keep(swaps[i]);
		else
			swap_finish(swaps[i]); /* refused */
	}
}

void step_swap_wait(const struct step *step)
{
	struct swap *swaps[SWAPS_MAX];
	unsigned count = swap_take_all(swaps);

	for (unsigned i = 0; i < count; i++) {
		swap_wait(swaps[i], step_timeout(step));
		swap_finish(swaps[i]);
	}
}

void step_swap_cancel(const struct step *step)
{
	for (unsigned i = 0; i < kept.swaps_count; i++)
		if (step_has(step, kept.swaps[i]->first))
			tell_call("cancel", swapio_swap_cancel(kept.store, kept.swaps[i]->id), "");
}

void step_release(const struct step *step)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (step_has(step, i) && worker.tensors[i].lent)
			tell_call("release", swap_release(i), worker.workload.tensors[i].name);
}
