/* SPDX-License-Identifier: MIT */
/*
 * skips-parent-sync.c - makes a store in a new directory and leaves it to chance whether anybody
 * finds that again: the directory's own name is not synced. Its parent is the current directory.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "real.h"

REAL(fsync)

EXPORT int fsync(int fd)
{
	struct stat status, current;

	if (fstat(fd, &status) == 0 && stat(".", &current) == 0 &&
	    status.st_dev == current.st_dev && status.st_ino == current.st_ino)
		return 0;
	return real_fsync(fd);
}
