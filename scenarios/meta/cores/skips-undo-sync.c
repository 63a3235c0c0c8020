/* SPDX-License-Identifier: MIT */
/*
 * skips-undo-sync.c - a manifest that could not be synced is taken back, and that is not synced:
 * what the next swap-out writes over may be what that manifest names.
 */
#include <stdbool.h>
#include <unistd.h>

#include "real.h"

REAL(fdatasync)

EXPORT int fdatasync(int fd)
{
	static bool failed;
	int ret;

	if (failed) {
		failed = false;
		return 0;
	}
	ret = real_fdatasync(fd);
	failed = ret < 0;
	return ret;
}
