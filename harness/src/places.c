/* SPDX-License-Identifier: MIT */
/*
 * places.c - looking for libraries and scenarios relative to the running program.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "places.h"

/* The directory of the program; -errno. */
static int find_directory(char directory[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX - 1);
	char *slash;

	if (length < 0)
		return -errno;
	directory[length] = '\0';
	slash = strrchr(directory, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

/* The first of DIRECTORY/PLACE/NAME that exists, without .. in it. */
static int find_first(const char *const *places, const char *name, char *path, size_t path_bytes)
{
	char directory[PATH_MAX], tried[2 * PATH_MAX], *real;
	int result = find_directory(directory);

	for (; result == 0 && *places; places++) {
		snprintf(tried, sizeof(tried), "%s/%s/%s", directory, *places, name);
		real = realpath(tried, NULL);
		if (!real)
			continue;
		result = snprintf(path, path_bytes, "%s", real) < (int)path_bytes ? 0
										  : -ENAMETOOLONG;
		free(real);
		return result;
	}
	return result < 0 ? result : -ENOENT;
}

int places_library(const char *name, char *path, size_t path_bytes)
{
	static const char *const places[] = {"../lib", "../lib/swaptorture", "../lib64",
					     "../lib64/swaptorture", NULL};
	int result = find_first(places, name, path, path_bytes);

	if (result == -ENOENT)
		snprintf(path, path_bytes, "../lib/%s beside the program", name);
	return result;
}

int places_scenarios(char *path, size_t path_bytes)
{
	static const char *const places[] = {"../..", "../share/swaptorture", NULL};
	struct stat status;

	/* Short, as people would write it, where we are called in the source tree. */
	if (stat("scenarios", &status) == 0 && S_ISDIR(status.st_mode)) {
		snprintf(path, path_bytes, "scenarios");
		return 0;
	}
	return find_first(places, "scenarios", path, path_bytes);
}

const char *places_temporary(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/var/tmp";
}
