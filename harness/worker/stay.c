/* SPDX-License-Identifier: MIT */
/*
 * stay.c - a process whose case left nothing behind serves the next one of its place: a fork and an
 * exit cost more than a case. Whatever is in doubt ends it, and the next case has a new process.
 */
#include <string.h>

#include "leaks.h"
#include "raw.h"
#include "swap.h"

/* What cannot be taken back. */
static bool is_marked(void)
{
	const struct workload *workload = &worker.workload;
	const struct limits *limits = &workload->limits;

	for (unsigned i = 0; i < workload->steps_count; i++)
		if (workload->steps[i].kind == STEP_FORK)
			return true;
	return limits->memlock_bytes != UINT64_MAX || limits->nofile != UINT64_MAX ||
	       limits->fsize_bytes != UINT64_MAX || limits->address_space_bytes != UINT64_MAX;
}

bool stay_is_clean(void)
{
	if (!worker.wire.may_stay || !LEAKS_COUNT_MEMORY || is_marked())
		return false;
	if (worker.aborted || worker.told_wrong || kept.store || counts_grew())
		return false;
	return control_end() == 0;
}

/* All but the descriptors; and the workload, which the next one overwrites whole. */
static void forget_case(void)
{
	size_t from = offsetof(struct worker, handle);

	memset((char *)&worker + from, 0, sizeof(worker) - from);
	if (worker.workload.store.used)
		kept_forget();
}

const void *stay_for_next(void)
{
	static char message[WIRE_MESSAGE_BYTES];
	struct wire_pause done = {.id = worker.wire.id, .step = WIRE_STEP_DONE};
	int socket = worker.fds[WIRE_FD_PAUSE];
	long bytes;

	if (raw_write(socket, &done, sizeof(done)) != sizeof(done))
		return NULL;
	forget_case();
	bytes = raw_read(socket, message, sizeof(message));
	return bytes > 0 && wire_case_is_whole(message, (size_t)bytes) ? message : NULL;
}
