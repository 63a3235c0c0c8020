/* SPDX-License-Identifier: MIT */
/*
 * run_guest_parts.c - what goes into a guest: the programs of this build, and the scenarios of the
 * plan with the files that they name. Their paths of this machine lie below a directory of their
 * own there: a guest has its own /tmp.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_guest_internal.h"
#include "run_paths.h"

static int find_program(const char *name, char path[PATH_MAX], struct diag *diag)
{
	int error = run_paths_program(name, path);

	if (error < 0)
		diag_set(diag, NULL, 0, 0, "%s: %s; is the build complete?", name,
			 strerror(-error));
	return error;
}

static int find_self(char path[PATH_MAX])
{
	ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (bytes < 0)
		return -errno;
	path[bytes] = '\0';
	return 0;
}

int guest_parts_find(struct guest_parts *parts, struct diag *diag)
{
	struct run_paths paths;
	int error = run_paths_find(&paths, NULL, diag);

	if (error == 0)
		error = find_program("swaptorture-guest-init", parts->paths[0], diag);
	if (error == 0)
		error = find_program("swaptorture-guest-kernel", parts->paths[1], diag);
	if (error == 0)
		error = find_self(parts->paths[2]);
	if (error < 0)
		return error;
	memcpy(parts->paths[3], paths.worker, PATH_MAX);
	memcpy(parts->paths[4], paths.preload, PATH_MAX);
	memcpy(parts->paths[5], paths.meta, PATH_MAX);
	memcpy(parts->paths[6], paths.suppressions, PATH_MAX);
	parts->programs = (struct guest_programs){
		.init = parts->paths[0],
		.kernel_tool = parts->paths[1],
		.swaptorture = parts->paths[2],
		.worker = parts->paths[3],
		.preload = parts->paths[4],
		.meta = parts->paths[5],
		.suppressions = parts->paths[6],
	};
	return 0;
}

#define GIVEN "/opt/swaptorture/given"

char *guest_parts_path(const char *path)
{
	char *whole = realpath(path, NULL), *there = NULL;

	if (whole && asprintf(&there, GIVEN "%s", whole) < 0)
		there = NULL;
	free(whole);
	return there;
}

static bool has_file(const struct guest_file *files, unsigned count, const char *path)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(files[i].path, path) == 0)
			return true;
	return false;
}

static int add_file(struct guest_file *files, unsigned *count, const char *path)
{
	char *there = guest_parts_path(path);

	if (!there)
		return -errno;
	if (has_file(files, *count, there))
		free(there);
	else
		files[(*count)++] = (struct guest_file){there, there + strlen(GIVEN)};
	return 0;
}

int guest_parts_files(const struct plan *plan, struct guest_file **ret_files, unsigned *ret_count)
{
	const struct scenario *last = NULL;
	int error = 0;

	*ret_count = 0;
	*ret_files = calloc(2 * (size_t)plan->count + 1, sizeof(**ret_files));
	if (!*ret_files)
		return -ENOMEM;
	for (unsigned i = 0; error == 0 && i < plan->count; i++) {
		const struct test_case *test_case = &plan->cases[i];

		if (test_case->target != TARGET_NVME || test_case->skip_reason[0])
			continue;
		if (test_case->scenario != last)
			error = add_file(*ret_files, ret_count, test_case->scenario->path);
		if (error == 0 && test_case->checkpoint)
			error = add_file(*ret_files, ret_count, test_case->checkpoint);
		last = test_case->scenario;
	}
	return error;
}
