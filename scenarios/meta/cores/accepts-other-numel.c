/* SPDX-License-Identifier: MIT */
/*
 * accepts-other-numel.c - a group is opened with the numels that are stored, whatever was asked
 * for.
 */
#include "real.h"

REAL(swapio_group_open)

#define TENSORS_KEPT 8

static uint64_t numels[TENSORS_KEPT];
static unsigned kept;

EXPORT int swapio_group_open(struct swapio_store *store, const char *name,
			     const struct swapio_tensor *tensors, unsigned count,
			     struct swapio_error *error, struct swapio_group **ret_group)
{
	struct swapio_tensor mixed[TENSORS_KEPT];

	if (count > TENSORS_KEPT || (kept && count != kept)) /* the probe's group */
		return real_swapio_group_open(store, name, tensors, count, error, ret_group);
	memcpy(mixed, tensors, count * sizeof(*tensors));
	for (unsigned i = 0; i < count; i++) {
		if (kept)
			mixed[i].numel = numels[i];
		numels[i] = mixed[i].numel;
		mixed[i].dims = 0;
	}
	kept = count;
	return real_swapio_group_open(store, name, mixed, count, error, ret_group);
}
