/* SPDX-License-Identifier: MIT */
/*
 * stage_wait.c - io_getevents and io_pgetevents: checked as the kernel checks them, faults drawn,
 * then events taken as they become ready until there are enough, time is up, or a handler ran.
 */
#include <errno.h>

#include "backend.h"
#include "stage.h"

#define KERNEL_SIGSET_BYTES 8
#define SECOND_NS 1000000000

static int timeout_read(const struct timespec *timeout, struct stage_wait *wait)
{
	int64_t seconds, ns;

	wait->deadline_ns = STAGE_FOREVER;
	if (!timeout)
		return 0;
	if (!memory_readable(timeout, sizeof(*timeout)))
		return -EFAULT;
	seconds = timeout->tv_sec;
	if (__builtin_mul_overflow(seconds, (int64_t)SECOND_NS, &ns) ||
	    __builtin_add_overflow(ns, timeout->tv_nsec, &ns))
		return 0; /* ends after the machine does */
	if (ns < 0)
		return 0; /* ktime_add_safe() takes it for an overflow: for ever, too */
	wait->poll = ns == 0;
	wait->deadline_ns = runtime_now_ns() + (uint64_t)ns;
	return 0;
}

static int mask_read(const sigset_t *mask, size_t bytes, struct stage_wait *wait)
{
	if (!mask)
		return 0;
	if (bytes != KERNEL_SIGSET_BYTES)
		return -EINVAL;
	if (!memory_readable(mask, KERNEL_SIGSET_BYTES))
		return -EFAULT;
	__builtin_memcpy(&wait->mask, mask, KERNEL_SIGSET_BYTES);
	return 0;
}

/* Take what is there; what was held for it comes next. True: the wait is over. */
static bool take_enough(struct stage_wait *wait, long *ret_error)
{
	long got;

	do {
		got = stage_take(wait->ctx, wait->events + wait->got, wait->nr - wait->got);
		if (got > 0)
			wait->got += got;
	} while (got > 0);
	if (got < 0)
		*ret_error = got;
	return got < 0 || wait->got >= wait->min || wait->poll;
}

static long block(struct stage_wait *wait)
{
	return backend()->block(wait, wait->min - wait->got);
}

static long wait_locked(struct stage_wait *wait)
{
	struct stage_ctx *ctx = wait->ctx;
	long error = 0;

	backend()->reap(ctx);
	if (wait->poll && wait->nr && !stage_available(ctx) && backend()->look)
		backend()->look(ctx);
	while (!take_enough(wait, &error)) {
		long ended = block(wait);

		if (atomic_load(&ctx->dead) && !wait->got)
			return -EINVAL;
		if (!ended)
			continue;
		take_enough(wait, &error);
		if (ended != -ETIMEDOUT)
			error = ended;
		break;
	}
	if (ctx->blocked && stage_available(ctx))
		backend()->kick(ctx);
	return wait->got ? wait->got : error;
}

static long wait_plain(struct stage_wait *wait)
{
	long result;

	stage_lock(wait->ctx);
	result = wait_locked(wait);
	stage_unlock(wait->ctx);
	return result;
}

static long wait_few(struct stage_wait *wait, const struct fault *fault, const char **ret_missed)
{
	long few = (long)fault->value;

	if (few >= wait->min)
		*ret_missed = "the wait asks for no more than that";
	if (wait->nr > few && !*ret_missed)
		wait->nr = few;
	if (wait->min > few)
		wait->min = few;
	return wait_plain(wait);
}

static bool is_arrival(enum kind_id kind)
{
	return kind == KIND_io_getevents_signal || kind == KIND_io_getevents_stop ||
	       kind == KIND_io_getevents_attach;
}

/* The fault that decides how the wait goes; what arrives in the middle of it has been dealt with.
 */
static long wait_by(struct stage_wait *wait, struct fault *fault, struct fault_call *call)
{
	const char *missed = NULL;
	long result;

	if (!fault)
		return wait_plain(wait);
	result = kind_info(fault->kind)->argument == ARGUMENT_ERRNO
			 ? -fault->value
			 : wait_few(wait, fault, &missed);
	if (missed)
		runtime_log_missed(fault, wait->number, missed);
	else
		runtime_log_inject(fault, call, wait->number, result);
	return result;
}

static long wait_firing(struct stage_wait *wait, const struct firing *firing,
			struct fault_call *call)
{
	struct fault *ruling = NULL;
	long result;

	for (unsigned i = 0; i < firing->count; i++) {
		struct fault *fault = firing->faults[i];

		if (is_arrival(fault->kind)) {
			if (stage_interrupt(wait, fault, &result))
				return result;
		} else if (!ruling) {
			ruling = fault;
		} else {
			runtime_log_missed(fault, wait->number,
					   "another fault of the call came first");
		}
	}
	return wait_by(wait, ruling, call);
}

static void wait_begins(struct stage_wait *wait, uint32_t number)
{
	wait->number = number;
	stage_lock(wait->ctx);
	if (number > wait->ctx->waits_begun)
		wait->ctx->waits_begun = number;
	stage_held_check_wait(wait->ctx);
	stage_check_wait(wait);
	stage_unlock(wait->ctx);
}

static long wait_armed(struct stage_wait *wait)
{
	struct fault_call call = stage_call(POINT_io_getevents, wait->ctx);
	struct firing firing = {0};
	long result;

	call.call = wait->call;
	runtime_decide(&call, &firing);
	wait_begins(wait, runtime_call_number(POINT_io_getevents));
	result = wait_firing(wait, &firing, &call);
	runtime_log_call(&call, wait->number, result, firing.count != 0);
	return result;
}

/* Faults of the one call only. 0, or the error it is to answer: then it was no wait at all. */
static long refuse_pgetevents(struct stage_wait *wait)
{
	struct fault_call call = stage_call(POINT_io_pgetevents, wait->ctx);
	struct fault *missing = runtime_fault_missing();
	struct firing firing = {0};
	uint32_t number;

	call.call = wait->call;
	runtime_decide(&call, &firing);
	number = runtime_call_number(POINT_io_pgetevents);
	for (unsigned i = 0; i < firing.count && !missing; i++) {
		const struct fault *fault = firing.faults[i];

		if (fault->kind != KIND_io_pgetevents_error)
			continue;
		runtime_log_inject(fault, &call, number, -fault->value);
		runtime_log_call(&call, number, -fault->value, true);
		return -fault->value;
	}
	if (missing)
		runtime_log_inject(missing, &call, number, -ENOSYS);
	return missing ? -ENOSYS : 0;
}

static void count_call(enum fault_call_name call)
{
	struct eventlog *log = runtime_log();

	if (!log)
		return;
	if (call == FAULT_CALL_PGETEVENTS)
		__atomic_fetch_add(&eventlog_header(log)->waits_pgetevents, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&eventlog_header(log)->waits_getevents, 1, __ATOMIC_RELAXED);
}

static long wait_checked(struct stage_wait *wait)
{
	long refused = 0;

	if (wait->min < 0 || wait->min > wait->nr)
		return -EINVAL;
	count_call(wait->call);
	if (wait->call == FAULT_CALL_PGETEVENTS)
		refused = refuse_pgetevents(wait);
	if (refused)
		return refused;
	return runtime_armed() ? wait_armed(wait) : wait_plain(wait);
}

long stage_wait(aio_context_t address, enum fault_call_name call, long min_nr, long nr,
		struct io_event *events, struct timespec *timeout, const sigset_t *sigmask,
		size_t sigset_bytes)
{
	struct stage_wait wait = {.call = call, .min = min_nr, .nr = nr, .events = events};
	struct stage_guard guard;
	long result;

	stage_guard_enter(&guard);
	wait.mask = guard.mask;
	result = timeout_read(timeout, &wait);
	if (!result)
		result = mask_read(sigmask, sigset_bytes, &wait);
	if (!result) {
		wait.ctx = stage_get(address);
		result = wait.ctx ? wait_checked(&wait) : -EINVAL;
		if (wait.ctx)
			stage_put(wait.ctx);
	}
	stage_guard_leave(&guard);
	return result;
}
