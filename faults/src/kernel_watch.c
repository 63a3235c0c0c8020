/* SPDX-License-Identifier: MIT */
/*
 * kernel_watch.c - an exact signal where io_pgetevents does not exist: a thread of ours watches in
 * /proc until the other one is inside the wait, and sends it then. It blocks every signal.
 */
#include "kernel_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "interpose.h"
#include "rawcall.h"

#define PATIENCE_NS 2000000000u

enum { WATCHING, SENT, GAVE_UP };

REAL(pthread_create)

/* The number of the system call that the thread is in; -1: it runs. */
static long call_of(int fd)
{
	char text[128];
	long bytes = raw_call(SYS_pread64, fd, text, sizeof(text) - 1, 0);

	if (bytes <= 0)
		return -1;
	text[bytes] = '\0';
	return text[0] >= '0' && text[0] <= '9' ? strtol(text, NULL, 10) : -1;
}

static bool seen_in_wait(int fd, uint64_t end_ns)
{
	while (runtime_now_ns() < end_ns) {
		if (call_of(fd) == SYS_io_getevents)
			return true;
		raw_call(SYS_sched_yield);
	}
	return false;
}

static void *watch_main(void *argument)
{
	struct kernel_watch *watch = argument;
	char path[64];
	bool seen;
	long fd;

	runtime_enter();
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", watch->tid);
	fd = raw_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	seen = fd >= 0 && seen_in_wait((int)fd, runtime_now_ns() + PATIENCE_NS);
	atomic_store(&watch->state, seen ? SENT : GAVE_UP);
	/* Out of the wait in either case: it does not end by itself. */
	raw_call(SYS_tgkill, watch->pid, watch->tid, watch->signal);
	if (fd >= 0)
		raw_call(SYS_close, fd);
	runtime_leave();
	return NULL;
}

int kernel_watch_begin(struct kernel_watch *watch, int signal)
{
	int err;

	*watch = (struct kernel_watch){.signal = signal};
	watch->pid = (int)raw_call(SYS_getpid);
	watch->tid = (int)raw_call(SYS_gettid);
	runtime_enter();
	err = real_pthread_create()(&watch->thread, NULL, watch_main, watch);
	runtime_leave();
	return -err;
}

bool kernel_watch_done(struct kernel_watch *watch)
{
	return atomic_load(&watch->state) != WATCHING;
}

int kernel_watch_end(struct kernel_watch *watch)
{
	runtime_enter();
	pthread_join(watch->thread, NULL);
	runtime_leave();
	return atomic_load(&watch->state) == SENT ? 0 : -ETIME;
}
