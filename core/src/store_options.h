/* SPDX-License-Identifier: MIT */
/*
 * store_options.h - are these options a store can be opened with?
 */
#ifndef SWAPIOI_STORE_OPTIONS_H
#define SWAPIOI_STORE_OPTIONS_H

#include "swapio/store.h"

#define STORE_SLOTS_MAX 65536u
#define STORE_THREADS_MAX 16u
#define RANGE_BYTES_MIN (UINT64_C(2) << 20)

/* 0, or -EINVAL with a sentence that names the option, its value and range. */
int swapioi_store_options_check(const struct swapio_store_options *options,
				struct swapio_error *error);

/* Slots that are kept for staging: two for each thread, or for the caller. */
unsigned swapioi_store_staging_slots(const struct swapio_store_options *options);

#endif /* SWAPIOI_STORE_OPTIONS_H */
