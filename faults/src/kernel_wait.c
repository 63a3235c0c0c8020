/* SPDX-License-Identifier: MIT */
/*
 * kernel_wait.c - io_getevents or io_pgetevents, as the program called it. They differ in what a
 * stop does to them; io_pgetevents alone opens signals with no gap before the wait.
 */
#include "kernel_wait.h"

#include <errno.h>

#include "rawcall.h"
#include "sigmask.h"

#define KERNEL_SIGSET_BYTES 8
#define SECOND_NS 1000000000u

struct kernel_sigset {
	const uint64_t *mask;
	size_t bytes;
};

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

/* Found once: with arguments that wait for nothing the call answers at once. */
bool kernel_has_pgetevents(void)
{
	static _Atomic int known; /* 0 not yet, 1 yes, -1 no */
	int answer = atomic_load_explicit(&known, memory_order_relaxed);
	long result;

	if (answer)
		return answer > 0;
	result = raw_call(SYS_io_pgetevents, 0, 0, 0, NULL, NULL, NULL);
	answer = result == -ENOSYS || result == -EPERM ? -1 : 1;
	atomic_store(&known, answer);
	return answer > 0;
}

bool kernel_has_events(const struct stage_ctx *ctx)
{
	const struct stage_ring *ring = (const struct stage_ring *)(uintptr_t)ctx->kernel;

	return ring->magic != STAGE_RING_MAGIC ||
	       atomic_load_explicit(&ring->head, memory_order_relaxed) !=
		       atomic_load_explicit(&ring->tail, memory_order_acquire);
}

static long wait_getevents(const struct kernel_wait *wait, struct timespec *timeout)
{
	long result;

	sigmask_set(wait->mask);
	result = raw_call(SYS_io_getevents, wait->context, wait->min, wait->nr, wait->events,
			  timeout);
	sigmask_set(SIGMASK_ALL);
	return result;
}

long kernel_wait(const struct kernel_wait *wait)
{
	struct kernel_sigset sigset = {&wait->mask, KERNEL_SIGSET_BYTES};
	bool forever = wait->timeout_ns == STAGE_FOREVER;
	struct timespec timeout = forever ? (struct timespec){0, 0} : timespec_of(wait->timeout_ns);
	long result;

	if (wait->call == FAULT_CALL_GETEVENTS || !kernel_has_pgetevents())
		return wait_getevents(wait, forever ? NULL : &timeout);
	sigmask_open_begin();
	result = raw_call(SYS_io_pgetevents, wait->context, wait->min, wait->nr, wait->events,
			  forever ? NULL : &timeout, &sigset);
	sigmask_open_end();
	return result;
}
