/* SPDX-License-Identifier: MIT */
/*
 * stage_jobctl.c - the request channel in the header of the event log: a stopped process cannot
 * continue itself, so the harness does it for us.
 */
#include <errno.h>

#include "rawcall.h"
#include "stage_internal.h"

static _Atomic bool taken; /* by a thread of this process */

static struct eventlog_header *header(void)
{
	return eventlog_header(runtime_log());
}

static _Atomic uint32_t *request_word(void)
{
	return (_Atomic uint32_t *)&header()->request;
}

/* 0; -ENOLINK: there is no log; -EBUSY: another thread's request is on. */
int stage_jobctl_ask(enum eventlog_request request)
{
	bool free = false;

	if (!runtime_log())
		return -ENOLINK;
	if (!atomic_compare_exchange_strong(&taken, &free, true))
		return -EBUSY;
	header()->answer = 0;
	header()->request_pid = (int32_t)raw_call(SYS_getpid);
	header()->request_tid = (int32_t)raw_call(SYS_gettid);
	atomic_store(request_word(), (uint32_t)request);
	futex_wake(request_word());
	return 0;
}

bool stage_jobctl_pending(uint64_t patience_ns)
{
	uint32_t request = atomic_load(request_word());

	if (request == EVENTLOG_REQUEST_NONE || !patience_ns)
		return request != EVENTLOG_REQUEST_NONE;
	futex_wait(request_word(), request, patience_ns);
	return atomic_load(request_word()) != EVENTLOG_REQUEST_NONE;
}

int stage_jobctl_end(void)
{
	uint32_t before = atomic_exchange(request_word(), EVENTLOG_REQUEST_NONE);
	int32_t answer = header()->answer;

	atomic_store(&taken, false);
	if (before != EVENTLOG_REQUEST_NONE || !answer)
		return -ETIME;
	return answer < 0 ? answer : 0;
}
