/* SPDX-License-Identifier: MIT */
/*
 * skips-settle-sync.c - removes the newest volume of a group while the removal of an older one may
 * be lost: of the syncs of a removal, all of the directory, the first one is left out.
 */
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "real.h"

REAL(fsync)
REAL(swapio_store_remove)

static bool removing;

EXPORT int fsync(int fd)
{
	struct stat status;

	if (removing && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		removing = false;
		return 0;
	}
	return real_fsync(fd);
}

EXPORT int swapio_store_remove(struct swapio_store *store, const char *group,
			       struct swapio_error *error)
{
	int ret;

	removing = true;
	ret = real_swapio_store_remove(store, group, error);
	removing = false;
	return ret;
}
