/* SPDX-License-Identifier: MIT */
/*
 * runtime_end.c - the case is over: what lives on of it is named, or else all of it is forgotten,
 * so that the next case finds what the first one found.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "case.h"
#include "durable.h"
#include "files.h"
#include "paths.h"
#include "simclock.h"
#include "simthread.h"
#include "stage.h"

static const char *left_over(void)
{
	if (runtime_process_number() != 1)
		return "this is a forked child";
	if (runtime_thread_number() != 1)
		return "another thread began it";
	if (!simclock_is_alone())
		return "another thread is not done";
	if (simclock_has_children())
		return "a child was not waited for";
	return stage_left_over();
}

/* What a later case must not see; the log stays mapped. */
static void forget(void)
{
	struct eventlog *log = runtime_case.log;

	fiu_bridge_disable(&runtime_case.schedule);
	durable_forget();
	stage_end();
	simthread_end();
	simclock_end();
	runtime_count_end();
	runtime_identity_end();
	files_forget_all();
	paths_forget_all();
	memset(&runtime_case, 0, sizeof(runtime_case));
	runtime_case.log_kept = log;
}

int runtime_end(char *error_text, size_t error_bytes)
{
	const char *left;

	if (!runtime_staged())
		return -ENOENT;
	runtime_disarm();
	left = left_over();
	if (left) {
		if (error_text && error_bytes)
			snprintf(error_text, error_bytes, "%s", left);
		return -EBUSY;
	}
	atomic_store(&runtime_mode, RUNTIME_PASSIVE);
	forget();
	return 0;
}
