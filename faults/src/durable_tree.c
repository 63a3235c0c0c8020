/* SPDX-License-Identifier: MIT */
/*
 * durable_tree.c - takes a directory away with all that is in it, or looks at all of that, by
 * system calls alone: it runs when the power is gone and no code of the program may run any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "durable_internal.h"

#define ENTRIES_BYTES 4096u

struct entry { /* as the kernel's struct linux_dirent64 */
	uint64_t inode;
	int64_t offset;
	unsigned short bytes;
	unsigned char type;
	char name[];
};

static int empty(int fd);
static int visit_directory(int fd, durable_visit *visit);

static int open_directory(int at, const char *name)
{
	return (int)raw_call(SYS_openat, at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int remove_directory(int at, const char *name)
{
	int fd = open_directory(at, name);
	int result = fd < 0 ? fd : empty(fd);

	if (fd >= 0)
		raw_call(SYS_close, fd);
	return result < 0 ? result : (int)raw_call(SYS_unlinkat, at, name, AT_REMOVEDIR);
}

static int remove_entry(int at, const char *name)
{
	int result = (int)raw_call(SYS_unlinkat, at, name, 0);

	return result == -EISDIR ? remove_directory(at, name) : result;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int remove_entries(int fd, const char *entries, long bytes, bool *ret_removed)
{
	int result = 0;

	*ret_removed = false;
	for (long at = 0; at < bytes && result == 0;) {
		const struct entry *entry = (const void *)(entries + at);

		at += entry->bytes;
		if (is_dots(entry->name))
			continue;
		result = remove_entry(fd, entry->name);
		*ret_removed = true;
	}
	return result;
}

/* From the start again as long as there was something: entries move when others go. */
static int empty(int fd)
{
	_Alignas(8) char entries[ENTRIES_BYTES];
	bool removed = true;
	long result = 0;

	while (removed && result >= 0) {
		result = raw_call(SYS_lseek, fd, 0L, SEEK_SET);
		if (result == 0)
			result = raw_call(SYS_getdents64, fd, entries, sizeof(entries));
		if (result >= 0)
			result = remove_entries(fd, entries, result, &removed);
	}
	return (int)result;
}

int durable_tree_remove(const char *path)
{
	int result = remove_directory(AT_FDCWD, path);

	return result == -ENOENT ? 0 : result;
}

static int visit_entry(int at, const struct entry *entry, durable_visit *visit)
{
	int fd, result;

	if (is_dots(entry->name))
		return 0;
	fd = open_directory(at, entry->name);
	if (fd == -ENOTDIR || fd == -ELOOP)
		return visit(at, entry->name);
	result = fd < 0 ? fd : visit_directory(fd, visit);
	if (fd >= 0)
		raw_call(SYS_close, fd);
	return result;
}

static int visit_directory(int fd, durable_visit *visit)
{
	_Alignas(8) char entries[ENTRIES_BYTES];
	long bytes = 1, result = 0;

	while (bytes > 0 && result >= 0) {
		bytes = raw_call(SYS_getdents64, fd, entries, sizeof(entries));
		for (long at = 0; at < bytes && result >= 0;) {
			const struct entry *entry = (const void *)(entries + at);

			at += entry->bytes;
			result = visit_entry(fd, entry, visit);
		}
	}
	return (int)(bytes < 0 ? bytes : result);
}

int durable_tree_visit(const char *path, durable_visit *visit)
{
	int fd = open_directory(AT_FDCWD, path);
	int result = fd < 0 ? fd : visit_directory(fd, visit);

	if (fd >= 0)
		raw_call(SYS_close, fd);
	return result;
}
