/* SPDX-License-Identifier: MIT */
/*
 * skips-file-sync.c - gives a new volume its name without a sync of what is in it, as if the name
 * were what counts.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "real.h"

REAL(fsync)

EXPORT int fsync(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? 0 : real_fsync(fd);
}
