/* SPDX-License-Identifier: MIT */
/*
 * stage_interrupt.c - what arrives in the middle of a wait: signals, job control, a debugger. First
 * the state is made (so many events can be taken, no more are shown), then the thread is put into
 * the wait and the thing happens; the wait ends as the kernel would have ended it.
 */
#include <errno.h>

#include "backend.h"
#include "sigmask.h"

/* A wait that is interrupted in a state that was not asked for could not be replayed. */
static uint64_t state_of(const struct fault *fault)
{
	return fault->ready == SCHEDULE_ANY ? 0 : fault->ready;
}

static const char *make_state(struct stage_wait *wait, uint64_t events)
{
	if (wait->poll || !wait->min)
		return "the wait does not block";
	if (events >= (uint64_t)wait->min)
		return "the wait asks for no more than that";
	if (backend()->make_ready(wait, events))
		return "fewer requests are in flight";
	return NULL;
}

/* A signal that is ignored must be open when it is sent: one that is blocked would stay pending. */
static const char *signal_ignored(const struct fault *fault)
{
	int signal = (int)fault->value;
	const char *why = stage_signal_prepare(fault);
	uint64_t mask;

	if (why)
		return why;
	mask = sigmask_set(~stage_signal_bit(signal));
	stage_signal_raise(signal);
	sigmask_set(mask);
	stage_signal_restore(fault);
	return NULL;
}

/* It stays pending through the wait and arrives when the call returns; so the handler stays. */
static const char *signal_masked(struct stage_wait *wait, const struct fault *fault)
{
	const char *why = stage_signal_prepare(fault);

	if (why)
		return why;
	wait->mask |= stage_signal_bit((int)fault->value);
	stage_signal_raise((int)fault->value);
	return NULL;
}

static const char *signal_handled(struct stage_wait *wait, const struct fault *fault)
{
	int signal = (int)fault->value;
	const char *why;
	int err;

	if (wait->mask & stage_signal_bit(signal))
		return "the thread blocks the signal";
	why = stage_signal_prepare(fault);
	if (why)
		return why;
	err = backend()->interrupt(wait, signal);
	stage_signal_restore(fault);
	return err ? "the thread was not seen in the wait" : NULL;
}

static const char *signal_arrives(struct stage_wait *wait, const struct fault *fault,
				  bool *ret_ended)
{
	*ret_ended = false;
	if (fault->ignored)
		return signal_ignored(fault);
	if (fault->masked)
		return signal_masked(wait, fault);
	*ret_ended = true;
	return signal_handled(wait, fault);
}

static const char *stop_text(int err)
{
	switch (err) {
	case 0:
		return NULL;
	case -ENOLINK:
		return "without an event log nobody can be asked";
	case -EBUSY:
		return "another thread is being stopped";
	case -ETIME:
		return "nobody answered the request";
	}
	return "the harness could not do it";
}

/* io_getevents answers -EINTR even without a handler; io_pgetevents is restarted unless it has
 * something to give. */
static const char *stop_arrives(struct stage_wait *wait, const struct fault *fault, bool *ret_ended)
{
	enum eventlog_request request = fault->kind == KIND_io_getevents_stop
						? EVENTLOG_REQUEST_STOP
						: EVENTLOG_REQUEST_ATTACH;

	*ret_ended = wait->call == FAULT_CALL_GETEVENTS || state_of(fault) > 0;
	return stop_text(backend()->stop(wait, request));
}

bool stage_interrupt(struct stage_wait *wait, struct fault *fault, long *ret_result)
{
	struct fault_call call = stage_call(POINT_io_getevents, wait->ctx);
	uint64_t events = state_of(fault);
	bool ended = false;
	const char *why;

	stage_lock(wait->ctx);
	why = make_state(wait, events);
	if (!why)
		why = fault->kind == KIND_io_getevents_signal ? signal_arrives(wait, fault, &ended)
							      : stop_arrives(wait, fault, &ended);
	if (!why && ended)
		*ret_result = stage_take(wait->ctx, wait->events, (long)events);
	stage_unlock(wait->ctx);
	if (why) {
		runtime_log_missed(fault, wait->number, why);
		return false;
	}
	if (ended && *ret_result == 0)
		*ret_result = -EINTR;
	call.call = wait->call;
	runtime_log_inject(fault, &call, wait->number, ended ? *ret_result : 0);
	return ended;
}
