/* SPDX-License-Identifier: MIT */
/*
 * run_guest_files.c - the scenarios of the plan and the files that they name, as they go into a
 * guest: below a directory of their own, because a guest has its own /tmp.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_guest_internal.h"

#define GIVEN "/opt/swaptorture/given"

char *guest_files_path(const char *path)
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
	char *there = guest_files_path(path);

	if (!there)
		return -errno;
	if (has_file(files, *count, there))
		free(there);
	else
		files[(*count)++] = (struct guest_file){there, there + strlen(GIVEN)};
	return 0;
}

int guest_files_find(const struct plan *plan, struct guest_file **ret_files, unsigned *ret_count)
{
	const struct scenario *last = NULL;
	int error = 0;

	*ret_count = 0;
	*ret_files = calloc(2 * (size_t)plan->count + 1, sizeof(**ret_files));
	if (!*ret_files)
		return -ENOMEM;
	for (unsigned i = 0; error == 0 && i < plan->count; i++) {
		const struct test_case *test_case = &plan->cases[i];

		if (!guest_lane_has(test_case))
			continue;
		if (test_case->scenario != last)
			error = add_file(*ret_files, ret_count, test_case->scenario->path);
		if (error == 0 && test_case->checkpoint)
			error = add_file(*ret_files, ret_count, test_case->checkpoint);
		last = test_case->scenario;
	}
	return error;
}
