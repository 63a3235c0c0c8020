/* SPDX-License-Identifier: MIT */
/*
 * uring.c - an io_uring is outside of our reach: whoever reads the log must know that the program
 * had one. Setting one up through syscall() is seen at once; liburing brings its own system calls,
 * and is found by the descriptor that it keeps until exit.
 */
#include "uring.h"

#include <fcntl.h>
#include <string.h>

#include "rawcall.h"
#include "runtime.h"

#define URING_LINK "anon_inode:[io_uring]"

struct directory_entry { /* what getdents64 fills in */
	uint64_t inode;
	int64_t next;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

void uring_seen(void)
{
	struct eventlog *log = runtime_staged() ? runtime_log() : NULL;

	if (log)
		__atomic_store_n(&eventlog_header(log)->uring, 1, __ATOMIC_RELAXED);
}

static bool is_uring(long directory, const char *name)
{
	char link[sizeof(URING_LINK)];
	long bytes = raw_call(SYS_readlinkat, directory, name, link, sizeof(link));

	return bytes == (long)strlen(URING_LINK) && memcmp(link, URING_LINK, (size_t)bytes) == 0;
}

static void look_at(long directory, const char *entries, long bytes)
{
	for (long at = 0; at < bytes;) {
		const struct directory_entry *entry =
			(const struct directory_entry *)(const void *)(entries + at);

		if (is_uring(directory, entry->name))
			uring_seen();
		at += entry->bytes;
	}
}

static __attribute__((destructor)) void look_for_uring(void)
{
	_Alignas(8) char entries[4096];
	long directory, bytes;

	if (!runtime_staged() || !runtime_log())
		return;
	directory =
		raw_call(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return;
	while ((bytes = raw_call(SYS_getdents64, directory, entries, sizeof(entries))) > 0)
		look_at(directory, entries, bytes);
	raw_call(SYS_close, directory);
}
