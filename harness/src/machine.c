/* SPDX-License-Identifier: MIT */
/*
 * machine.c - asks the kernel and the control group.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "machine.h"

static int read_available(uint64_t *ret_bytes)
{
	FILE *stream = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];
	int found = 0;

	if (!stream)
		return -errno;
	while (!found && fgets(line, sizeof(line), stream))
		found = sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
	fclose(stream);
	*ret_bytes = (uint64_t)kib << 10;
	return found ? 0 : -ENODATA;
}

/* A limit that is not there, or says "max", is none. */
static uint64_t read_limit(const char *path)
{
	FILE *stream = fopen(path, "re");
	unsigned long long bytes;
	int count = 0;

	if (stream) {
		count = fscanf(stream, "%llu", &bytes);
		fclose(stream);
	}
	return count == 1 ? bytes : UINT64_MAX;
}

/* Our group in the unified hierarchy, "" none; without a slash at its end. */
static void find_group(char group[PATH_MAX])
{
	FILE *stream = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	group[0] = '\0';
	while (stream && fgets(line, sizeof(line), stream)) {
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(group, PATH_MAX, "%s", line + (line[4] ? 3 : 4));
	}
	if (stream)
		fclose(stream);
}

/* Every group above ours may be the one that limits us. */
static uint64_t group_limit(void)
{
	char group[PATH_MAX], path[PATH_MAX + 64], *slash;
	uint64_t least = read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes");

	find_group(group);
	for (;;) {
		uint64_t limit;

		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
		limit = read_limit(path);
		least = limit < least ? limit : least;
		slash = strrchr(group, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

int machine_memory(uint64_t *ret_bytes)
{
	uint64_t bytes = 0, limit;
	int error = read_available(&bytes);

	if (error < 0)
		return error;
	limit = group_limit();
	*ret_bytes = limit < bytes ? limit : bytes;
	return 0;
}

int machine_disk(const char *directory, uint64_t *ret_bytes)
{
	struct statvfs status;

	if (statvfs(directory, &status) < 0)
		return -errno;
	*ret_bytes = (uint64_t)status.f_bavail * status.f_frsize;
	return 0;
}

/* Linux 6.1 put these into a struct statx of always 256 bytes; older headers lack the names. */
#define WANT_DIOALIGN 0x2000u
#define DIO_OFFSET_ALIGN_AT 156

int machine_offset_alignment(const char *directory, uint32_t *ret_bytes)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600), error = 0;
	struct statx about = {0};

	*ret_bytes = 0;
	if (fd < 0)
		return -errno;
	if (statx(fd, "", AT_EMPTY_PATH, WANT_DIOALIGN, &about) < 0)
		error = -errno;
	else if (about.stx_mask & WANT_DIOALIGN)
		memcpy(ret_bytes, (const char *)&about + DIO_OFFSET_ALIGN_AT, sizeof(*ret_bytes));
	close(fd);
	return error;
}
