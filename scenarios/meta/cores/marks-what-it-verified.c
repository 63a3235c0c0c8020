/* SPDX-License-Identifier: MIT */
/*
 * marks-what-it-verified.c - a store that was verified is not as it was: a note was left in it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "real.h"

REAL(swapio_store_open)
REAL(swapio_store_verify)

static char note[512];

EXPORT int swapio_store_open(struct swapio *handle, const char *path,
			     const struct swapio_store_options *options, struct swapio_error *error,
			     struct swapio_store **ret_store)
{
	snprintf(note, sizeof(note), "%s/verified", path);
	return real_swapio_store_open(handle, path, options, error, ret_store);
}

EXPORT int swapio_store_verify(struct swapio_store *store, const char *group,
			       swapio_damage_fn *each, void *arg, struct swapio_error *error)
{
	int ret = real_swapio_store_verify(store, group, each, arg, error);
	int fd = open(note, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return ret;
}
