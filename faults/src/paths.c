/* SPDX-License-Identifier: MIT */
/*
 * paths.c - absolute paths, the work directory, and a store of paths that never moves.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "case.h"
#include "paths.h"
#include "rawcall.h"

#define BUCKET_COUNT 1024u
#define STORE_BYTES (4u << 20) /* never touched by most programs: costs address space only */

struct kept_path {
	struct kept_path *next;
	char path[];
};

static _Atomic(struct kept_path *) buckets[BUCKET_COUNT];
static _Alignas(8) char store[STORE_BYTES];
static _Atomic size_t store_used;

/* Where relative paths start, without a slash at the end. */
static int start_directory(int dirfd, char path[PATH_MAX])
{
	char link[64];
	long count;

	if (dirfd == AT_FDCWD) {
		count = raw_call(SYS_getcwd, path, PATH_MAX);
		return count < 0 ? (int)count : 0;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
	count = raw_call(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
	if (count < 0)
		return (int)count;
	path[count] = '\0';
	return 0;
}

static size_t drop_last(const char *path, size_t used)
{
	while (used > 0 && path[--used] != '/')
		;
	return used;
}

/* Append one name to a path of @used bytes; what it is then long, or 0 when it does not fit. */
static size_t append_name(char path[PATH_MAX], size_t used, const char *name, size_t bytes)
{
	if (bytes == 0 || (bytes == 1 && name[0] == '.'))
		return used;
	if (bytes == 2 && name[0] == '.' && name[1] == '.')
		return drop_last(path, used);
	if (used + 1 + bytes >= PATH_MAX)
		return SIZE_MAX;
	path[used] = '/';
	memcpy(path + used + 1, name, bytes);
	return used + 1 + bytes;
}

int paths_absolute(int dirfd, const char *path, char ret_path[PATH_MAX])
{
	size_t used = 0;

	if (path[0] != '/') {
		int result = start_directory(dirfd, ret_path);

		if (result < 0)
			return result;
		used = strlen(ret_path);
		if (used == 1)
			used = 0; /* the root: names bring their own slash */
	}
	while (*path) {
		size_t bytes = strcspn(path, "/");

		used = append_name(ret_path, used, path, bytes);
		if (used == SIZE_MAX)
			return -ENAMETOOLONG;
		path += bytes + (path[bytes] == '/');
	}
	if (used == 0)
		ret_path[used++] = '/';
	ret_path[used] = '\0';
	return 0;
}

static const char *below(const char *directory, const char *path)
{
	size_t bytes = strlen(directory);

	if (bytes == 0 || strncmp(path, directory, bytes) != 0)
		return NULL;
	if (path[bytes] == '\0')
		return ".";
	if (path[bytes - 1] == '/') /* the work directory is the root */
		return path + bytes;
	return path[bytes] == '/' ? path + bytes + 1 : NULL;
}

const char *paths_below(const char *absolute)
{
	const char *found = below(runtime_case.work_dir, absolute);

	return found ? found : below(runtime_case.work_dir_given, absolute);
}

static uint32_t hash_of(const char *path)
{
	uint32_t hash = 2166136261u;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619u;
	return hash;
}

static struct kept_path *find(struct kept_path *node, const char *path)
{
	while (node && strcmp(node->path, path) != 0)
		node = node->next;
	return node;
}

static struct kept_path *take_node(const char *path)
{
	size_t bytes = (sizeof(struct kept_path) + strlen(path) + 1 + 7) & ~(size_t)7;
	size_t at = atomic_fetch_add(&store_used, bytes);
	struct kept_path *node;

	if (at + bytes > sizeof(store)) {
		atomic_fetch_sub(&store_used, bytes);
		return NULL;
	}
	node = (struct kept_path *)(void *)(store + at);
	memcpy(node->path, path, strlen(path) + 1);
	return node;
}

/* Two threads may keep the same path twice: that costs its bytes and nothing else. */
const char *paths_keep(const char *path)
{
	_Atomic(struct kept_path *) *bucket = &buckets[hash_of(path) % BUCKET_COUNT];
	struct kept_path *head = atomic_load_explicit(bucket, memory_order_acquire);
	struct kept_path *node = find(head, path);

	if (node)
		return node->path;
	node = take_node(path);
	if (!node)
		return NULL;
	do {
		node->next = head;
	} while (!atomic_compare_exchange_weak_explicit(bucket, &head, node, memory_order_release,
							memory_order_acquire));
	return node->path;
}

void paths_forget_all(void)
{
	memset(buckets, 0, sizeof(buckets));
	memset(store, 0, store_used < sizeof(store) ? store_used : sizeof(store));
	store_used = 0;
}
