/* SPDX-License-Identifier: MIT */
/*
 * stage_lock.c - signals blocked, then a futex lock: a handler of the program never finds the stage
 * half-way, so it may itself submit and wait. Raw system calls, since ours are interposed.
 */
#include <linux/futex.h>

#include "rawcall.h"
#include "sigmask.h"
#include "stage_internal.h"

enum { LOCK_FREE, LOCK_TAKEN, LOCK_WANTED };

void stage_guard_enter(struct stage_guard *guard)
{
	guard->mask = sigmask_set(SIGMASK_ALL);
}

void stage_guard_leave(const struct stage_guard *guard)
{
	sigmask_set(guard->mask);
}

void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	struct timespec timeout = {(time_t)(timeout_ns / 1000000000u),
				   (long)(timeout_ns % 1000000000u)};

	raw_call(SYS_futex, word, FUTEX_WAIT, value, timeout_ns == STAGE_FOREVER ? NULL : &timeout);
}

void futex_wake(_Atomic uint32_t *word)
{
	raw_call(SYS_futex, word, FUTEX_WAKE, INT32_MAX);
}

void stage_lock(struct stage_ctx *ctx)
{
	uint32_t seen = LOCK_FREE;

	if (atomic_compare_exchange_strong(&ctx->lock, &seen, LOCK_TAKEN))
		return;
	while (atomic_exchange(&ctx->lock, LOCK_WANTED) != LOCK_FREE)
		futex_wait(&ctx->lock, LOCK_WANTED, STAGE_FOREVER);
}

void stage_unlock(struct stage_ctx *ctx)
{
	if (atomic_exchange(&ctx->lock, LOCK_FREE) == LOCK_WANTED)
		futex_wake(&ctx->lock);
}
