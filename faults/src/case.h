/* SPDX-License-Identifier: MIT */
/*
 * case.h - the one case of this process, as the files of the runtime share it. The stage and the
 * interposed calls use runtime.h.
 *
 * Threads: written by runtime_begin(), runtime_end() and the fork handlers only; arm and disarm by
 *          one thread.
 */
#ifndef SWAPFAULT_CASE_H
#define SWAPFAULT_CASE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime.h"

struct runtime_case {
	struct swapfault_config config;
	char work_dir[PATH_MAX];       /* canonical */
	char work_dir_given[PATH_MAX]; /* as the config spells it, without a slash at the end */
	struct schedule schedule;
	struct eventlog *log;
	struct eventlog *log_kept;   /* of the case before, mapped still; NULL none */
	bool scheduled[POINT_COUNT]; /* the schedule names this point */
	bool arm_at_open;	     /* at the first open below the work directory */
	atomic_flag missing_told;    /* that io_pgetevents is not there */
	int pid;
};

extern struct runtime_case runtime_case;

/* Points whose faults libfiu knows of: enable those of the schedule, ask, and the foreign ones. */
int fiu_bridge_enable(const struct schedule *schedule);
void fiu_bridge_disable(const struct schedule *schedule);
bool fiu_bridge_confirm(struct fault *fault);
/* Is the process under fiu-run or fiu-ctrl? Found once, at start. */
void fiu_bridge_find_control(void);
bool fiu_bridge_controlled(void);
/* The default fault of @kind when somebody else than our schedule switched it on; else NULL. */
struct fault *fiu_bridge_foreign(enum kind_id kind);

void runtime_count_reset(void);
void runtime_count_end(void);
void runtime_identity_begin(void);
void runtime_identity_end(void);
/* Thread numbers go by order of creation, so the creator draws them. */
unsigned runtime_thread_number_draw(void);
void runtime_thread_number_take(unsigned number);

#endif /* SWAPFAULT_CASE_H */
