/* SPDX-License-Identifier: MIT */
/*
 * options.h - ranges of the options, and their check.
 */
#ifndef SWAPIOI_OPTIONS_H
#define SWAPIOI_OPTIONS_H

#include "swapio/handle.h"

#define BLOCK_BYTES_MIN ((size_t)512)
#define BLOCK_BYTES_MAX ((size_t)0x7ffff000) /* what one kernel request moves at most */
#define QUEUE_DEPTH_MAX 4096u
#define WORKERS_MAX 64u
#define REQUESTS_MAX 65536u
#define ALIGNMENT_BYTES_MAX ((size_t)2 << 20)
#define BOUNCE_SLOTS_MAX 256u

/* 0, or -EINVAL with a sentence that names the option, its value and its range. */
int swapioi_options_check(const struct swapio_options *options, struct swapio_error *error);

#endif /* SWAPIOI_OPTIONS_H */
