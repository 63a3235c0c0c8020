/* SPDX-License-Identifier: MIT */
/*
 * schedule_match.c - which faults fire on a call: conditions filter, then what is left is counted.
 *
 * Runs inside the calls of the program and in its signal handlers: atomics, no lock, no allocation.
 */
#include "schedule_draft.h"

bool when_matches(const struct fault_when *when, uint64_t number)
{
	return number >= when->first && number <= when->last &&
	       (number - when->first) % when->step == 0;
}

static bool number_passes(uint64_t wanted, uint64_t actual)
{
	return wanted == SCHEDULE_ANY || actual == wanted;
}

static bool is_whole(const struct fault_range *range)
{
	return range->begin == 0 && range->end == SCHEDULE_ANY;
}

/* Does the transfer touch a byte of the range, as it would touch a bad spot of the medium? */
static bool offset_passes(const struct fault *fault, const struct fault_call *call)
{
	uint64_t end, length = call->length;

	if (is_whole(&fault->offset))
		return true;
	if (call->offset == SCHEDULE_ANY)
		return false;
	if (length == SCHEDULE_ANY || length == 0)
		length = 1;
	if (__builtin_add_overflow(call->offset, length, &end))
		end = SCHEDULE_ANY;
	return call->offset < fault->offset.end && end > fault->offset.begin;
}

static bool length_passes(const struct fault *fault, const struct fault_call *call)
{
	return is_whole(&fault->length) ||
	       (call->length != SCHEDULE_ANY && call->length >= fault->length.begin &&
		call->length < fault->length.end);
}

static bool file_passes(const struct fault *fault, const struct fault_call *call)
{
	if (fault->fd >= 0 && fault->fd != call->fd)
		return false;
	if (fault->op != FAULT_OP_ANY && fault->op != call->op)
		return false;
	if (fault->direct && !call->direct)
		return false;
	return !fault->path[0] || (call->path && glob_matches(fault->path, call->path));
}

static bool depth_passes(const struct fault *fault, const struct fault_call *call)
{
	return fault->depth == SCHEDULE_ANY ||
	       (call->depth != SCHEDULE_ANY && call->depth >= fault->depth);
}

/* What the caller does not know is SCHEDULE_ANY, and no condition on it is fulfilled. */
static bool conditions_pass(const struct fault *fault, const struct fault_call *call)
{
	return number_passes(fault->ctx, call->ctx) && number_passes(fault->thread, call->thread) &&
	       number_passes(fault->proc, call->proc) && depth_passes(fault, call) &&
	       (fault->call == FAULT_CALL_ANY || fault->call == call->call) &&
	       file_passes(fault, call) && offset_passes(fault, call) && length_passes(fault, call);
}

/*
 * Requests are counted for each context apart. Context N has slot N % SCHEDULE_CONTEXTS and takes
 * it over from an older context, which by then is long destroyed; should the older one come back,
 * it counts no longer, rather than twice.
 */
static uint64_t count_on_context(struct fault *fault, uint64_t ctx)
{
	uint64_t *slot = &fault->seen_on[ctx % SCHEDULE_CONTEXTS];
	uint64_t old = __atomic_load_n(slot, __ATOMIC_RELAXED), fresh;

	do {
		if (old >> 32 > ctx)
			return 0;
		fresh = old >> 32 == ctx ? old + 1 : (ctx << 32) + 1;
	} while (!__atomic_compare_exchange_n(slot, &old, fresh, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return fresh & UINT32_MAX;
}

static uint64_t count(struct fault *fault, const struct fault_call *call)
{
	uint64_t seen = __atomic_add_fetch(&fault->seen, 1, __ATOMIC_RELAXED);

	if (fault->point != POINT_io_event || fault->ctx != SCHEDULE_ANY ||
	    call->ctx == SCHEDULE_ANY)
		return seen;
	return count_on_context(fault, call->ctx);
}

void schedule_reset(struct schedule *schedule)
{
	for (unsigned i = 0; i < schedule->count; i++) {
		struct fault *fault = &schedule->faults[i];

		__atomic_store_n(&fault->seen, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&fault->fired, 0, __ATOMIC_RELAXED);
		for (unsigned slot = 0; slot < SCHEDULE_CONTEXTS; slot++)
			__atomic_store_n(&fault->seen_on[slot], 0, __ATOMIC_RELAXED);
	}
}

void schedule_match(struct schedule *schedule, const struct fault_call *call,
		    struct firing *ret_firing)
{
	unsigned image = schedule->image ? schedule->image : 1;

	ret_firing->count = 0;
	for (unsigned i = 0; i < schedule->count; i++) {
		struct fault *fault = &schedule->faults[i];

		if (fault->point != call->point || fault_image(fault) != image ||
		    !conditions_pass(fault, call))
			continue;
		if (!when_matches(&fault->when, count(fault, call)))
			continue;
		/* A ninth on one call does not fire: its case is vacuous, not wrong. */
		if (ret_firing->count == FIRING_MAX)
			continue;
		__atomic_add_fetch(&fault->fired, 1, __ATOMIC_RELAXED);
		ret_firing->faults[ret_firing->count++] = fault;
	}
}
