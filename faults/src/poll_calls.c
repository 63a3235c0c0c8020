/* SPDX-License-Identifier: MIT */
/*
 * poll_calls.c - waits for descriptors. In sim such a thread counts as blocked, or a helper that
 * listens at a pipe for the whole run would make time stand still for everybody.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/select.h>

#include "interpose.h"
#include "simthread.h"
#include "simtime.h"

REAL(poll)
REAL(ppoll)
REAL(select)

struct sets {
	fd_set *of_caller[3];
	fd_set asked[3];
	struct pollfd fds[FD_SETSIZE];
	unsigned count;
};

/* 1: something may be ready; 0 the time is up; -errno. */
static int block(struct pollfd *fds, nfds_t count, uint64_t deadline_ns)
{
	struct simclock_waiter waiter = {.fds = fds, .fds_count = count};
	int result = simclock_block(&waiter, deadline_ns);

	return result == -ETIMEDOUT ? 0 : result < 0 ? result : 1;
}

static int finish(int result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

static int poll_virtually(struct pollfd *fds, nfds_t count, uint64_t deadline_ns)
{
	int result;

	do {
		result = real_poll()(fds, count, 0);
		if (result != 0)
			return result;
		result = block(fds, count, deadline_ns);
	} while (result > 0);
	return finish(result);
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	if (!simthread_waits_virtually() || timeout_ms == 0)
		return real_poll()(fds, count, timeout_ms);
	return poll_virtually(fds, count,
			      timeout_ms < 0 ? UINT64_MAX
					     : simtime_after((uint64_t)timeout_ms * 1000000u));
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	if (!simthread_waits_virtually() || mask ||
	    (timeout && (!simtime_is_valid(timeout) || timeout->tv_sec < 0)))
		return real_ppoll()(fds, count, timeout, mask);
	return poll_virtually(fds, count,
			      timeout ? simtime_after(simtime_ns(timeout)) : UINT64_MAX);
}

static short events_at(const struct sets *sets, int fd)
{
	static const short events[3] = {POLLIN, POLLOUT, POLLPRI};
	short asked = 0;

	for (unsigned i = 0; i < 3; i++)
		if (sets->of_caller[i] && FD_ISSET(fd, &sets->asked[i]))
			asked = (short)(asked | events[i]);
	return asked;
}

/* False: out of band data alone, which poll cannot wait for without errors. */
static bool sets_read(struct sets *sets, int end)
{
	for (unsigned i = 0; i < 3; i++)
		if (sets->of_caller[i])
			sets->asked[i] = *sets->of_caller[i];
	for (int fd = 0; fd < end; fd++) {
		short events = events_at(sets, fd);

		if (events == POLLPRI)
			return false;
		if (events)
			sets->fds[sets->count++] = (struct pollfd){.fd = fd, .events = events};
	}
	return true;
}

static int select_at_once(struct sets *sets, int end)
{
	struct timeval none = {0};

	for (unsigned i = 0; i < 3; i++)
		if (sets->of_caller[i])
			*sets->of_caller[i] = sets->asked[i];
	return real_select()(end, sets->of_caller[0], sets->of_caller[1], sets->of_caller[2],
			     &none);
}

static int select_virtually(struct sets *sets, int end, uint64_t deadline_ns)
{
	int result;

	do {
		result = select_at_once(sets, end);
		if (result != 0)
			return result;
		result = block(sets->fds, sets->count, deadline_ns);
	} while (result > 0);
	return finish(result);
}

/* Linux leaves in @timeout what is left of it. */
static void leave_rest(struct timeval *timeout, uint64_t deadline_ns)
{
	uint64_t now = simclock_now_ns();
	uint64_t left = deadline_ns > now ? deadline_ns - now : 0;

	timeout->tv_sec = (time_t)(left / SIMTIME_SECOND_NS);
	timeout->tv_usec = (suseconds_t)(left % SIMTIME_SECOND_NS / 1000);
}

EXPORT int select(int end, fd_set *restrict to_read, fd_set *restrict to_write,
		  fd_set *restrict exceptional, struct timeval *restrict timeout)
{
	struct sets sets = {.of_caller = {to_read, to_write, exceptional}};
	uint64_t deadline_ns = UINT64_MAX;
	int result;

	if (!simthread_waits_virtually() || end < 0 || end > FD_SETSIZE ||
	    (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0 ||
			 (timeout->tv_sec == 0 && timeout->tv_usec == 0))) ||
	    !sets_read(&sets, end))
		return real_select()(end, to_read, to_write, exceptional, timeout);
	if (timeout)
		deadline_ns = simtime_after((uint64_t)timeout->tv_sec * SIMTIME_SECOND_NS +
					    (uint64_t)timeout->tv_usec * 1000u);
	result = select_virtually(&sets, end, deadline_ns);
	if (timeout)
		leave_rest(timeout, deadline_ns);
	return result;
}

INTERPOSED(poll);
INTERPOSED(ppoll);
INTERPOSED(select);
