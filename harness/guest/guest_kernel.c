/* SPDX-License-Identifier: MIT */
/*
 * guest_kernel.c - what the tool swaptorture-guest-kernel says of a kernel, and of where to keep
 * what is known of one that is given by its path. The tool is a script (kernel.sh): finding,
 * fetching and verifying is the work of apt, dpkg-deb and sha256sum.
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

static int take_answer(struct spawn_result *result, struct guest_kernel *kernel, struct diag *diag)
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

/* With @option, if it is not NULL. */
static int run_tool(const struct guest_options *options, const char *option,
		    struct spawn_result *ret_result)
{
	char *argv[] = {(char *)(uintptr_t)options->programs->kernel_tool,
			(char *)(uintptr_t)option, NULL};
	struct spawn_options spawn = {.argv = argv,
				      .deadline_ms = FIND_DEADLINE_MS,
				      .interrupt = &options->interrupt,
				      .fd = -1};

	return spawn_run(&spawn, ret_result);
}

/* Without a place to remember that KVM hangs it is asked anew before each guest, which takes long;
 * nothing else is lost. */
static int take_file(const struct guest_options *options, struct guest_kernel *kernel,
		     struct diag *diag)
{
	struct spawn_result result;
	int error = guest_kernel_file(options->kernel, kernel, diag);

	if (error < 0 || options->accel || run_tool(options, "--cache", &result) < 0)
		return error;
	if (WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0)
		take_line(result.out, "cache", kernel->cache, sizeof(kernel->cache));
	spawn_fini(&result);
	return 0;
}

int guest_kernel_find(const struct guest_options *options, struct guest_kernel *ret_kernel,
		      struct diag *diag)
{
	struct spawn_result result;
	int error;

	if (options->kernel)
		return take_file(options, ret_kernel, diag);
	error = run_tool(options, NULL, &result);
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
