/* SPDX-License-Identifier: MIT */
/*
 * guest_parts.c - finds the programs that a guest runs, and the one that finds its kernel.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest_parts.h"

static int find_one(const char *name, char path[PATH_MAX], struct diag *diag)
{
	int error = run_paths_program(name, path);

	if (error < 0)
		diag_set(diag, NULL, 0, 0, "%s: %s; is the build complete?", name,
			 strerror(-error));
	return error;
}

static int find_self(char path[PATH_MAX], struct diag *diag)
{
	ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (bytes < 0)
		return diag_set(diag, NULL, 0, 0, "/proc/self/exe: %s", strerror(errno));
	path[bytes] = '\0';
	return 0;
}

int guest_parts_find(struct guest_parts *parts, struct diag *diag)
{
	int error = run_paths_find(&parts->paths, NULL, diag);

	if (error == 0)
		error = find_one("swaptorture-guest-init", parts->init, diag);
	if (error == 0)
		error = find_one("swaptorture-guest-kernel", parts->kernel_tool, diag);
	if (error == 0)
		error = find_self(parts->self, diag);
	parts->programs = (struct guest_programs){
		.init = parts->init,
		.kernel_tool = parts->kernel_tool,
		.swaptorture = parts->self,
		.worker = parts->paths.worker,
		.preload = parts->paths.preload,
		.meta = parts->paths.meta,
		.suppressions = parts->paths.suppressions,
	};
	return error;
}
