/* SPDX-License-Identifier: MIT */
/*
 * files.c - what is known of each descriptor. Descriptors come and go in ways that a preload does
 * not see (fclose, accept, close_range), so an entry is believed only while the descriptor still is
 * the inode that it was; otherwise the kernel is asked again.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "files.h"
#include "paths.h"
#include "rawcall.h"
#include "runtime.h"

#define DESCRIPTORS_MAX 65536
#define ENTRY_DIRECT ((uintptr_t)1)
#define ENTRY_OUTSIDE ((uintptr_t)2) /* not below the work directory */
#define ENTRY_FLAGS (ENTRY_DIRECT | ENTRY_OUTSIDE)

/* A path from paths_keep() with flags in its low bits; 0: not known yet. */
struct entry {
	_Atomic uintptr_t word;
	_Atomic uint64_t identity;
};

static struct entry entries[DESCRIPTORS_MAX];
static _Atomic unsigned entries_used; /* above it nothing was ever stored */

static uint64_t identity_of(int fd)
{
	struct stat status;

	if (raw_call(SYS_fstat, fd, &status) < 0)
		return 0;
	return (uint64_t)status.st_ino * 0x9e3779b97f4a7c15u ^ (uint64_t)status.st_dev;
}

static uintptr_t really_direct(int fd)
{
	long flags = raw_call(SYS_fcntl, fd, F_GETFL);

	return flags >= 0 && (flags & O_DIRECT) ? ENTRY_DIRECT : 0;
}

/* The path that the kernel knows the descriptor by, without the mark of a removed file. */
static bool link_of(int fd, char path[PATH_MAX])
{
	static const char removed[] = " (deleted)";
	const size_t removed_bytes = sizeof(removed) - 1;
	char link[64];
	long count;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	count = raw_call(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
	if (count < 0)
		return false;
	path[count] = '\0';
	if ((size_t)count > removed_bytes && strcmp(path + count - removed_bytes, removed) == 0)
		path[(size_t)count - removed_bytes] = '\0';
	return true;
}

static uintptr_t find_word(int fd)
{
	char path[PATH_MAX];
	const char *below = link_of(fd, path) ? paths_below(path) : NULL;
	const char *kept = below ? paths_keep(below) : NULL;

	return kept ? (uintptr_t)kept : ENTRY_OUTSIDE;
}

static void store(int fd, uintptr_t word, uint64_t identity)
{
	unsigned used = atomic_load_explicit(&entries_used, memory_order_relaxed);

	if (fd < 0 || fd >= DESCRIPTORS_MAX)
		return;
	while (used <= (unsigned)fd &&
	       !atomic_compare_exchange_weak(&entries_used, &used, (unsigned)fd + 1))
		;
	atomic_store_explicit(&entries[fd].identity, identity, memory_order_relaxed);
	atomic_store_explicit(&entries[fd].word, word, memory_order_release);
}

static uintptr_t word_of(int fd)
{
	uint64_t identity = fd < 0 ? 0 : identity_of(fd);
	uintptr_t word;

	if (!identity)
		return ENTRY_OUTSIDE;
	if (fd < DESCRIPTORS_MAX) {
		word = atomic_load_explicit(&entries[fd].word, memory_order_acquire);
		if (word &&
		    atomic_load_explicit(&entries[fd].identity, memory_order_relaxed) == identity)
			return word;
	}
	word = find_word(fd) | really_direct(fd);
	store(fd, word, identity);
	return word;
}

const char *files_path(int fd)
{
	uintptr_t word = word_of(fd);

	return word & ENTRY_OUTSIDE ? NULL : (const char *)(word & ~ENTRY_FLAGS);
}

bool files_direct(int fd)
{
	return word_of(fd) & ENTRY_DIRECT;
}

void files_opened(int fd, const char *path, int flags)
{
	const char *below = path ? paths_below(path) : NULL;
	const char *kept = below ? paths_keep(below) : NULL;
	uintptr_t word = kept ? (uintptr_t)kept : find_word(fd);

	store(fd, word | (flags & O_DIRECT ? ENTRY_DIRECT : 0), identity_of(fd));
}

void files_set_direct(int fd, bool direct)
{
	uintptr_t word = word_of(fd) & ~ENTRY_DIRECT;

	store(fd, word | (direct ? ENTRY_DIRECT : 0), identity_of(fd));
}

void files_closed(int fd)
{
	store(fd, 0, 0);
}

void files_duplicated(int from, int to)
{
	store(to, word_of(from), identity_of(to));
}

void files_forget_all(void)
{
	memset(entries, 0, entries_used * sizeof(*entries));
	entries_used = 0;
}
