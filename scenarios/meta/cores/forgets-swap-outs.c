/* SPDX-License-Identifier: MIT */
/*
 * forgets-swap-outs.c - every swap-out but the first is said to be committed, and none is made.
 */
#include "real.h"

REAL(swapio_swap_start)
REAL(swapio_swap_wait)

#define FORGOTTEN UINT64_MAX

static struct swapio_swap_result first;
static bool have_first;
static swapio_swap_id first_id;
static uint64_t tag;

EXPORT int swapio_swap_start(const struct swapio_swap *swap, struct swapio_error *error,
			     swapio_swap_id *ret_id)
{
	int result;

	if (swap->op == SWAPIO_SWAP_OUT && have_first) {
		tag = swap->tag;
		*ret_id = FORGOTTEN;
		return 0;
	}
	result = real_swapio_swap_start(swap, error, ret_id);
	if (result == 0 && swap->op == SWAPIO_SWAP_OUT)
		first_id = *ret_id;
	return result;
}

EXPORT int swapio_swap_wait(struct swapio_store *store, swapio_swap_id id, int64_t timeout_ns,
			    struct swapio_swap_result *ret_result)
{
	int error;

	if (id == FORGOTTEN) {
		first.generation++;
		first.id = FORGOTTEN;
		first.tag = tag;
		*ret_result = first;
		return 0;
	}
	error = real_swapio_swap_wait(store, id, timeout_ns, ret_result);
	if (error == 0 && id == first_id) {
		first = *ret_result;
		have_first = true;
	}
	return error;
}
