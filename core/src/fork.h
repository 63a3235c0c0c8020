/* SPDX-License-Identifier: MIT */
/*
 * fork.h - tells a handle whether it lives in the process that opened it.
 */
#ifndef SWAPIOI_FORK_H
#define SWAPIOI_FORK_H

#include <stdbool.h>
#include <stdint.h>

/* The epoch of this process, which is prepared when it is the first call. */
uint64_t swapioi_fork_epoch(void);

/* True in a child of the process that got @epoch. */
bool swapioi_fork_passed(uint64_t epoch);

#endif /* SWAPIOI_FORK_H */
