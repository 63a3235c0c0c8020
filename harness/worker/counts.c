/* SPDX-License-Identifier: MIT */
/*
 * counts.c - what a process holds: descriptors, threads, contexts, locked and plain memory. Counted
 * before the first open and after the last close, where all of it must be the same.
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "leaks.h"
#include "raw.h"
#include "worker.h"

enum count {
	COUNT_FDS,
	COUNT_THREADS,
	COUNT_CONTEXTS, /* of the kernel */
	COUNT_LOCKED,	/* bytes */
	COUNT_MAPPED,	/* bytes of private memory that no allocator holds */
	COUNT_HEAP,	/* bytes in use */
	COUNT_COUNT
};

#define SIGNALS_BYTES 128
#define THREADS_AGAIN_NS 5000000
#define THREADS_TRIES 200 /* a second: an emulated processor takes its time */

static struct counts {
	int64_t values[COUNT_COUNT];
	char signals[SIGNALS_BYTES];
} before, after;

static const char *const names[COUNT_COUNT] = {
	[COUNT_FDS] = "fds",	   [COUNT_THREADS] = "threads", [COUNT_CONTEXTS] = "contexts",
	[COUNT_LOCKED] = "locked", [COUNT_MAPPED] = "mapped",	[COUNT_HEAP] = "heap",
};

static size_t read_whole(const char *path, char *text, size_t bytes)
{
	int fd = raw_open(path, O_RDONLY, 0);
	size_t used = 0;
	long part = 1;

	while (fd >= 0 && part > 0 && used < bytes - 1) {
		part = raw_read(fd, text + used, bytes - 1 - used);
		used += part > 0 ? (size_t)part : 0;
	}
	if (fd >= 0)
		raw_close(fd);
	text[used] = '\0';
	return used;
}

/*
 * The process's own status, whose descriptor is kept for the next time, out of the way of numbers
 * that programs count on; where there is no room up there, it is opened each time.
 */
static void read_status(char *text, size_t bytes)
{
	static int kept = -1;
	long got;

	if (kept < 0)
		kept = raw_keep_high(raw_open("/proc/self/status", O_RDONLY, 0));
	got = kept < 0 ? -1 : raw_pread(kept, text, bytes - 1, 0);
	if (got < 0)
		read_whole("/proc/self/status", text, bytes);
	else
		text[got] = '\0';
}

/* "VmLck:\t    123 kB" */
static int64_t number_of(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static int64_t count_entries(const char *path)
{
	char entries[4096];
	int fd = raw_open(path, O_RDONLY | O_DIRECTORY, 0);
	int64_t count = -3; /* ".", ".." and the descriptor we read it with */
	long bytes;

	if (fd < 0)
		return fd;
	while ((bytes = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; at < bytes; count++)
			at += ((struct dirent64 *)(void *)(entries + at))->d_reclen;
	raw_close(fd);
	return count;
}

/* Linux 6.2 and later know the number without a list. */
static int64_t count_fds(void)
{
	struct statx status;

	if (syscall(SYS_statx, AT_FDCWD, "/proc/self/fd", 0, STATX_SIZE, &status) == 0 &&
	    status.stx_size)
		return (int64_t)status.stx_size;
	return count_entries("/proc/self/fd");
}

/* A context of the kernel is a mapping named /[aio]. */
static int64_t count_contexts(void)
{
	static char maps[1 << 20];
	int64_t count = 0;

	read_whole("/proc/self/maps", maps, sizeof(maps));
	for (const char *at = maps; (at = strstr(at, "/[aio]")); at++)
		count++;
	return count;
}

static void count_memory(const char *status, int64_t values[COUNT_COUNT])
{
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 heap = mallinfo2();
#else
	struct mallinfo heap = mallinfo();
#endif
	int64_t held = (int64_t)heap.arena + (int64_t)heap.hblkhd;

	values[COUNT_LOCKED] = number_of(status, "VmLck:") * 1024;
	values[COUNT_HEAP] = COUNT_ABSENT;
	values[COUNT_MAPPED] = COUNT_ABSENT;
	if (!LEAKS_COUNT_MEMORY)
		return;
	values[COUNT_HEAP] = (int64_t)heap.uordblks + (int64_t)heap.hblkhd;
	values[COUNT_MAPPED] = number_of(status, "VmData:") * 1024 - held;
}

int64_t counts_locked(void)
{
	static char status[8192];

	read_status(status, sizeof(status));
	return number_of(status, "VmLck:") * 1024;
}

/* Which signals are blocked, ignored and handled. */
static void read_signals(const char *status, char text[SIGNALS_BYTES])
{
	const char *from = strstr(status, "SigBlk:"), *end = strstr(status, "CapInh:");

	snprintf(text, SIGNALS_BYTES, "%.*s", from && end ? (int)(end - from) : 0, from);
}

static void count_all(struct counts *counts)
{
	static char status[8192];

	read_status(status, sizeof(status));
	counts->values[COUNT_FDS] = count_fds();
	counts->values[COUNT_THREADS] =
		LEAKS_COUNT_THREADS ? number_of(status, "Threads:") : COUNT_ABSENT;
	counts->values[COUNT_CONTEXTS] =
		worker.wire.backend == SWAPFAULT_BACKEND_KERNEL ? count_contexts() : 0;
	count_memory(status, counts->values);
	read_signals(status, counts->signals);
}

void counts_tell_before(void)
{
	count_all(&before);
	tell_counts("before", before.values, names, COUNT_COUNT);
}

/* Who waits for a thread's end is woken before the kernel counts one thread less. */
static void await_threads(void)
{
	static char status[8192];
	const struct timespec moment = {.tv_nsec = THREADS_AGAIN_NS};

	for (unsigned tries = 0; tries < THREADS_TRIES; tries++) {
		read_status(status, sizeof(status));
		if (number_of(status, "Threads:") <= before.values[COUNT_THREADS])
			return;
		syscall(SYS_nanosleep, &moment, NULL);
	}
}

void counts_tell_after(void)
{
	if (LEAKS_COUNT_THREADS)
		await_threads();
	count_all(&after);
	tell_counts("after", after.values, names, COUNT_COUNT);
}

bool counts_grew(void)
{
	for (unsigned i = 0; i < COUNT_MAPPED; i++)
		if (after.values[i] != before.values[i])
			return true;
	return strcmp(after.signals, before.signals) != 0;
}
