/* SPDX-License-Identifier: MIT */
/*
 * runtime_decide.c - from a call to the faults that fire on it: the schedule counts, libfiu is
 * asked.
 */
#include <string.h>

#include "case.h"
#include "simlock.h"

static _Atomic uint32_t calls[POINT_COUNT];

/* What this thread drew last: between a call and its log record others may have counted on. */
static __thread __attribute__((tls_model("initial-exec"))) uint32_t drawn[POINT_COUNT];

void runtime_count_reset(void)
{
	for (unsigned i = 0; i < POINT_COUNT; i++)
		atomic_store(&calls[i], 0);
	schedule_reset(&runtime_case.schedule);
}

void runtime_count_end(void)
{
	runtime_count_reset();
	memset(drawn, 0, sizeof(drawn));
}

uint32_t runtime_call_number(enum point_id point)
{
	return drawn[point];
}

static void add_firing(struct firing *firing, struct fault *fault)
{
	if (firing->count < FIRING_MAX)
		firing->faults[firing->count++] = fault;
}

static void ask_schedule(const struct fault_call *call, struct firing *ret_firing)
{
	struct firing matched = {0};

	schedule_match(&runtime_case.schedule, call, &matched);
	for (unsigned i = 0; i < matched.count; i++) {
		if (fiu_bridge_confirm(matched.faults[i]))
			add_firing(ret_firing, matched.faults[i]);
		else
			runtime_log_missed(matched.faults[i], drawn[call->point],
					   "switched off through libfiu");
	}
}

/* Whoever runs fiu-run or fiu-ctrl may have switched on any kind of any point. */
static void ask_foreign(enum point_id point, struct firing *ret_firing)
{
	const struct point_info *info = point_info(point);

	for (unsigned i = 0; i < info->kind_count; i++) {
		struct fault *fault = fiu_bridge_foreign(info->kind_first + i);

		if (fault)
			add_firing(ret_firing, fault);
	}
}

/* libfiu takes locks of libc's: no handler runs under them, and none of our own calls counts. */
static void ask(const struct fault_call *call, struct firing *ret_firing)
{
	struct simlock_guard guard = simlock_block_signals();

	runtime_enter();
	if (runtime_case.scheduled[call->point])
		ask_schedule(call, ret_firing);
	if (fiu_bridge_controlled())
		ask_foreign(call->point, ret_firing);
	runtime_leave();
	simlock_restore_signals(&guard);
}

void runtime_decide(struct fault_call *call, struct firing *ret_firing)
{
	ret_firing->count = 0;
	if (!runtime_armed())
		return;
	call->thread = runtime_thread_number();
	call->proc = runtime_process_number();
	drawn[call->point] = atomic_fetch_add(&calls[call->point], 1) + 1;
	if (runtime_case.scheduled[call->point] || fiu_bridge_controlled())
		ask(call, ret_firing);
}

static struct fault *find_missing(void)
{
	unsigned image = runtime_case.schedule.image ? runtime_case.schedule.image : 1;

	for (unsigned i = 0; i < runtime_case.schedule.count; i++) {
		struct fault *fault = &runtime_case.schedule.faults[i];

		if (fault->kind == KIND_io_pgetevents_missing && fault_image(fault) == image &&
		    fiu_bridge_confirm(fault))
			return fault;
	}
	return NULL;
}

/*
 * A missing symbol is a property of the system, not of one call: it is missing from the start of
 * the case on, before anything is armed.
 */
struct fault *runtime_fault_missing(void)
{
	struct fault *found = NULL;

	if (!runtime_staged() || runtime_inside())
		return NULL;
	runtime_enter();
	if (runtime_case.scheduled[POINT_io_pgetevents])
		found = find_missing();
	if (!found && fiu_bridge_controlled())
		found = fiu_bridge_foreign(KIND_io_pgetevents_missing);
	runtime_leave();
	return found;
}
