/* SPDX-License-Identifier: MIT */
/*
 * skips-record-sync.c - gives a new store's record its name without a sync of what is in it. Of the
 * files that are synced it is the one of 4096 bytes.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "real.h"

#define RECORD_BYTES 4096

REAL(fsync)

EXPORT int fsync(int fd)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == RECORD_BYTES)
		return 0;
	return real_fsync(fd);
}
