/* SPDX-License-Identifier: MIT */
/*
 * skips-directory-sync.c - syncs what is in a file and never its name: after a loss of power the
 * data is there, and nobody finds it.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "real.h"

REAL(fsync)

EXPORT int fsync(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? 0 : real_fsync(fd);
}
