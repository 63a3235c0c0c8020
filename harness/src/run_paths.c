/* SPDX-License-Identifier: MIT */
/*
 * run_paths.c - finds the worker beside this program or in libexec of the same prefix, and the
 * preload where libraries are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "places.h"
#include "run_paths.h"

static const char *const worker_places[] = {"swaptorture-worker",
					    "../libexec/swaptorture/swaptorture-worker",
					    "../lib/swaptorture/swaptorture-worker"};

static int find_worker(char found[PATH_MAX])
{
	char directory[PATH_MAX], path[PATH_MAX + 64];
	ssize_t bytes = readlink("/proc/self/exe", directory, sizeof(directory) - 1);

	if (bytes < 0)
		return -errno;
	directory[bytes] = '\0';
	*strrchr(directory, '/') = '\0';
	for (unsigned i = 0; i < sizeof(worker_places) / sizeof(*worker_places); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, worker_places[i]);
		if (realpath(path, found))
			return 0;
	}
	return -ENOENT;
}

static int missing(struct diag *diag, const char *name, int error)
{
	diag_set(diag, NULL, 0, 0, "%s: %s; is the build complete?", name, strerror(-error));
	return error;
}

int run_paths_find(struct run_paths *ret_paths, struct diag *diag)
{
	int error = find_worker(ret_paths->worker);

	if (error < 0)
		return missing(diag, "swaptorture-worker", error);
	error = places_library("libswapfault.so", ret_paths->preload, sizeof(ret_paths->preload));
	if (error < 0)
		return missing(diag, "libswapfault.so", error);
	error = places_library("swaptorture.supp", ret_paths->suppressions,
			       sizeof(ret_paths->suppressions));
	if (error < 0)
		return missing(diag, "swaptorture.supp", error);
	snprintf(ret_paths->meta, sizeof(ret_paths->meta), "%.*s/meta",
		 (int)(strrchr(ret_paths->preload, '/') - ret_paths->preload), ret_paths->preload);
	return 0;
}
