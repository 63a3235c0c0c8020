/* SPDX-License-Identifier: MIT */
/*
 * simlock.h - a lock of the preload's own: held for a few instructions with every signal blocked,
 * so that it may be taken in signal handlers and never meets a mutex that is itself interposed.
 *
 * Threads: any.
 */
#ifndef SWAPFAULT_SIMLOCK_H
#define SWAPFAULT_SIMLOCK_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "sigmask.h"

/* 0 free, 1 taken, 2 taken and somebody may wait */
struct simlock {
	_Atomic uint32_t word;
};

struct simlock_guard {
	uint64_t mask; /* signals blocked before */
};

static inline struct simlock_guard simlock_block_signals(void)
{
	return (struct simlock_guard){sigmask_set(SIGMASK_ALL)};
}

static inline void simlock_restore_signals(const struct simlock_guard *guard)
{
	sigmask_set(guard->mask);
}

static inline struct simlock_guard simlock_take(struct simlock *lock)
{
	struct simlock_guard guard = simlock_block_signals();
	uint32_t expected = 0;

	if (atomic_compare_exchange_strong(&lock->word, &expected, 1))
		return guard;
	while (atomic_exchange(&lock->word, 2) != 0)
		raw_call(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, NULL);
	return guard;
}

static inline void simlock_drop(struct simlock *lock, const struct simlock_guard *guard)
{
	if (atomic_exchange(&lock->word, 0) == 2)
		raw_call(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1);
	simlock_restore_signals(guard);
}

/* In a fork's child: whoever held it stayed behind. */
static inline void simlock_reset(struct simlock *lock)
{
	atomic_store(&lock->word, 0);
}

#endif /* SWAPFAULT_SIMLOCK_H */
