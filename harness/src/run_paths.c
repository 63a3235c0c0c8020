/* SPDX-License-Identifier: MIT */
/*
 * run_paths.c - finds the other programs beside this one or in libexec of the same prefix, and the
 * preload where libraries are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "places.h"
#include "run_paths.h"

static const char *const program_places[] = {"", "../libexec/swaptorture/", "../lib/swaptorture/"};

/* The first of @places beside this program that holds @name, whole. */
static int find_beside(const char *const *places, unsigned count, const char *name,
		       char found[PATH_MAX])
{
	char directory[PATH_MAX], path[PATH_MAX + 64];
	ssize_t bytes = readlink("/proc/self/exe", directory, sizeof(directory) - 1);

	if (bytes < 0)
		return -errno;
	directory[bytes] = '\0';
	*strrchr(directory, '/') = '\0';
	for (unsigned i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s%s", directory, places[i], name);
		if (realpath(path, found))
			return 0;
	}
	return -ENOENT;
}

static int find_one_beside(const char *tool, const char *name, char found[PATH_MAX])
{
	char place[64];
	const char *const places[] = {place};

	snprintf(place, sizeof(place), "../%s/", tool);
	return find_beside(places, 1, name, found);
}

int run_paths_program(const char *name, char found[PATH_MAX])
{
	return find_beside(program_places, sizeof(program_places) / sizeof(*program_places), name,
			   found);
}

bool run_paths_sanitized(const char *tool)
{
	return strcmp(tool, "asan") == 0 || strcmp(tool, "tsan") == 0;
}

/* The preload is the same: it is never instrumented. */
static int find_sanitized(struct run_paths *paths, const char *tool, struct diag *diag)
{
	int error = find_one_beside(tool, "bin/swaptorture-worker", paths->worker);

	if (error == 0)
		error = find_one_beside(tool, "lib/meta", paths->meta);
	if (error < 0)
		diag_set(diag, NULL, 0, 0, "--under %s: no such build here; make build-%s makes it",
			 tool, tool);
	return error;
}

static int missing(struct diag *diag, const char *name, int error)
{
	diag_set(diag, NULL, 0, 0, "%s: %s; is the build complete?", name, strerror(-error));
	return error;
}

int run_paths_find(struct run_paths *ret_paths, const char *under, struct diag *diag)
{
	int error = run_paths_program("swaptorture-worker", ret_paths->worker);

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
	return under && run_paths_sanitized(under) ? find_sanitized(ret_paths, under, diag) : 0;
}
