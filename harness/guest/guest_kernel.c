/* SPDX-License-Identifier: MIT */
/*
 * guest_kernel.c - a kernel by its path, or what the tool swaptorture-guest-kernel says. The tool
 * is a script (kernel.sh): finding, fetching and verifying is the work of apt, dpkg-deb and
 * sha256sum.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_kernel.h"
#include "spawn.h"

#define FIND_DEADLINE_MS 300000u /* it may download 30 MiB */

/* vmlinuz-VERSION: the modules lie in lib/modules/VERSION beside its directory, or where the system
 * has them. */
static void find_modules(struct guest_kernel *kernel)
{
	const char *slash = strrchr(kernel->path, '/'), *hyphen = strchr(slash, '-');

	snprintf(kernel->version, sizeof(kernel->version), "%s", hyphen ? hyphen + 1 : slash + 1);
	kernel->modules[0] = kernel->cache[0] = '\0';
	if (!hyphen)
		return;
	snprintf(kernel->modules, sizeof(kernel->modules), "%.*s/../lib/modules/%s",
		 (int)(slash - kernel->path), kernel->path, kernel->version);
	if (access(kernel->modules, R_OK) < 0)
		snprintf(kernel->modules, sizeof(kernel->modules), "/lib/modules/%s",
			 kernel->version);
	if (access(kernel->modules, R_OK) < 0)
		kernel->modules[0] = '\0';
}

static int take_path(const char *path, struct guest_kernel *kernel, struct diag *diag)
{
	char *real = realpath(path, NULL);
	int error = real ? 0 : -errno;

	if (error == 0 && access(real, R_OK) < 0)
		error = -errno;
	if (error < 0)
		diag_set(diag, NULL, 0, 0, "kernel %s: %s", path, strerror(-error));
	else
		snprintf(kernel->path, sizeof(kernel->path), "%s", real);
	free(real);
	if (error == 0)
		find_modules(kernel);
	return error;
}

/* Lines "NAME VALUE" of the tool. */
static void take_line(const char *text, const char *name, char *value, size_t value_bytes)
{
	size_t length = strlen(name);

	value[0] = '\0';
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && line[length] == ' ') {
			snprintf(value, value_bytes, "%.*s", (int)strcspn(line + length + 1, "\n"),
				 line + length + 1);
			return;
		}
	}
}

static int take_answer(const struct spawn_result *result, struct guest_kernel *kernel,
		       struct diag *diag)
{
	if (!WIFEXITED(result->status) || WEXITSTATUS(result->status) != 0) {
		result->error[strcspn(result->error, "\n")] = '\0';
		diag_set(diag, NULL, 0, 0, "no kernel for a guest: %s",
			 *result->error ? result->error : "the tool that finds one does not run");
		return -ENOENT;
	}
	take_line(result->out, "kernel", kernel->path, sizeof(kernel->path));
	take_line(result->out, "modules", kernel->modules, sizeof(kernel->modules));
	take_line(result->out, "version", kernel->version, sizeof(kernel->version));
	take_line(result->out, "cache", kernel->cache, sizeof(kernel->cache));
	if (access(kernel->path, R_OK) == 0)
		return 0;
	diag_set(diag, NULL, 0, 0, "no kernel for a guest: %s: %s", kernel->path, strerror(errno));
	return -ENOENT;
}

int guest_kernel_find(const struct guest_options *options, struct guest_kernel *ret_kernel,
		      struct diag *diag)
{
	char *argv[] = {(char *)(uintptr_t)options->programs->kernel_tool, NULL};
	struct spawn_options spawn = {.argv = argv,
				      .deadline_ms = FIND_DEADLINE_MS,
				      .interrupt = &options->interrupt,
				      .fd = -1};
	struct spawn_result result;
	int error;

	if (options->kernel)
		return take_path(options->kernel, ret_kernel, diag);
	error = spawn_run(&spawn, &result);
	if (error < 0) {
		diag_set(diag, NULL, 0, 0, "no kernel for a guest: %s",
			 error == -ETIMEDOUT ? "five minutes were not enough to fetch it"
			 : error == -ENOSYS
				 ? "pidfd_open is missing (Linux 5.3 has it, valgrind does not)"
				 : strerror(-error));
		return error;
	}
	error = take_answer(&result, ret_kernel, diag);
	spawn_fini(&result);
	return error;
}
