/* SPDX-License-Identifier: MIT */
/*
 * work_remove.c - rm -r, by descriptors.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "work_remove.h"

int work_remove_inside(int fd)
{
	DIR *list = fdopendir(fd);
	struct dirent *entry;
	int error = 0;

	if (!list) {
		error = -errno;
		close(fd);
		return error;
	}
	while ((entry = readdir(list))) {
		int result;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		result = work_remove_entry(dirfd(list), entry->d_name);
		error = result < 0 ? result : error;
	}
	closedir(list);
	return error;
}

int work_remove_entry(int directory, const char *name)
{
	int fd;

	if (unlinkat(directory, name, 0) == 0)
		return 0;
	if (errno != EISDIR)
		return -errno;
	fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		work_remove_inside(fd);
	return unlinkat(directory, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
