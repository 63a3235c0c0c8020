/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - the state of the preload in this process, and the way from a call to its faults.
 *
 * Threads: everything here may be called by any thread. Nothing takes a lock or allocates while a
 *          handler of the program can run.
 */
#ifndef SWAPFAULT_RUNTIME_H
#define SWAPFAULT_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventlog.h"
#include "schedule.h"
#include "swapfault.h"

/* How much of the preload is in use. Read with relaxed order before anything else is done. */
enum runtime_mode {
	RUNTIME_PASSIVE, /* loaded only: every call goes straight to the kernel or libc */
	RUNTIME_STAGED,	 /* a case was begun or fiu-run started us: contexts belong to the stage */
	RUNTIME_ARMED,	 /* calls are counted and faults injected */
};
extern _Atomic int runtime_mode;

static inline bool runtime_staged(void)
{
	return atomic_load_explicit(&runtime_mode, memory_order_relaxed) >= RUNTIME_STAGED;
}

static inline bool runtime_armed(void)
{
	return atomic_load_explicit(&runtime_mode, memory_order_relaxed) == RUNTIME_ARMED;
}

/* See swapfault.h: these are its calls. */
int runtime_begin(const struct swapfault_config *config, char *error_text, size_t error_bytes);
void runtime_arm(void);
void runtime_disarm(void);
int runtime_end(char *error_text, size_t error_bytes);

bool runtime_sim(void); /* the back end is sim */
uint64_t runtime_seed(void);
const struct swapfault_config *runtime_config(void); /* valid once staged */
struct eventlog *runtime_log(void);		     /* NULL without a log */
struct schedule *runtime_schedule(void);	     /* count 0 without one */
unsigned runtime_thread_number(void);		     /* from 1, in order of first call */
unsigned runtime_process_number(void);		     /* from 1, in order of fork */

/* True while the preload itself runs on this thread (its own calls are not intercepted). */
bool runtime_inside(void);
void runtime_enter(void);
void runtime_leave(void);

/*
 * Decide what happens to @call: counts it, asks libfiu for every kind that fires (our schedule
 * answers through libfiu's external callbacks; points switched on with fiu-run or fiu-ctrl give the
 * default kind), and returns the faults, in schedule order. Cheap when nothing is armed for the
 * point.
 * @call->thread and @call->proc are filled in here.
 */
void runtime_decide(struct fault_call *call, struct firing *ret_firing);

/* Number, since arming, of the call at @point that this thread decided last (for the log). */
uint32_t runtime_call_number(enum point_id point);

/* The fault that takes io_pgetevents out of the system, or NULL. It holds from begin on. */
struct fault *runtime_fault_missing(void);

/* Log helpers; no-ops without a log. @fault may be NULL. A fault that took effect where the
 * program can see it is logged as INJECT exactly once per firing; else MISSED with the reason. */
void runtime_log_call(const struct fault_call *call, uint32_t number, int64_t result,
		      bool injected);
void runtime_log_inject(const struct fault *fault, const struct fault_call *call, uint32_t number,
			int64_t result);
void runtime_log_missed(const struct fault *fault, uint32_t number, const char *why);
void runtime_log_note(const char *text);
void runtime_log_file(int fd, const char *path);
/* Append a record as it is: not intercepted, errno kept. For whoever fills records himself. */
void runtime_log_append(const struct eventlog_record *record);
void runtime_log_check(const char *text, const struct eventlog_record *about);

/* Time as the program sees it: CLOCK_MONOTONIC, or the virtual clock in sim. */
uint64_t runtime_now_ns(void);

#endif /* SWAPFAULT_RUNTIME_H */
