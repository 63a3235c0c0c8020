/* SPDX-License-Identifier: MIT */
/*
 * skips-removal-sync.c - reports that a group is removed while that may be lost: of the syncs of a
 * removal, all of the directory, only the first one is made.
 */
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "real.h"

REAL(fsync)
REAL(swapio_store_remove)

static bool removing;
static bool settled;

EXPORT int fsync(int fd)
{
	struct stat status;

	if (!removing || fstat(fd, &status) < 0 || !S_ISDIR(status.st_mode))
		return real_fsync(fd);
	if (settled)
		return 0;
	settled = true;
	return real_fsync(fd);
}

EXPORT int swapio_store_remove(struct swapio_store *store, const char *group,
			       struct swapio_error *error)
{
	int ret;

	removing = true;
	settled = false;
	ret = real_swapio_store_remove(store, group, error);
	removing = false;
	return ret;
}
