/* SPDX-License-Identifier: MIT */
/*
 * guest_find.c - can there be guests here? What is missing is told with what helps.
 */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "guest_internal.h"
#include "spawn.h"

int guest_find(const struct guest_options *options, struct guest_kernel *ret_kernel,
	       struct diag *diag)
{
	struct utsname system;

	if (uname(&system) < 0 || strcmp(system.machine, "x86_64") != 0) {
		diag_set(diag, NULL, 0, 0, "guests run the programs of x86-64 machines only");
		return -ENOENT;
	}
	if (!spawn_can(GUEST_QEMU)) {
		diag_set(diag, NULL, 0, 0, "no %s in PATH (package qemu-system-x86)", GUEST_QEMU);
		return -ENOENT;
	}
	return guest_kernel_find(options, ret_kernel, diag);
}

int guest_possible(const struct guest_options *options, struct diag *diag)
{
	struct guest_kernel kernel;

	return guest_find(options, &kernel, diag);
}
