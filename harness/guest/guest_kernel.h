/* SPDX-License-Identifier: MIT */
/*
 * guest_kernel.h - which kernel a guest boots, and which of its modules.
 *
 * Threads: caller storage.
 */
#ifndef GUEST_KERNEL_H
#define GUEST_KERNEL_H

#include <limits.h>

#include "guest.h"

#define GUEST_MODULES_MAX 32u

struct guest_kernel {
	char path[PATH_MAX];	/* of vmlinuz */
	char modules[PATH_MAX]; /* its lib/modules/VERSION; "" none: everything must be built in */
	char version[128];	/* of the kernel or its package, for people */
	char cache[PATH_MAX];	/* where what was found out is kept; "" nowhere */
};

/* The kernel of @options, else what the tool finds or fetches. 0; -ENOENT, -ETIMEDOUT, -EINTR with
 * @diag. */
int guest_kernel_find(const struct guest_options *options, struct guest_kernel *ret_kernel,
		      struct diag *diag);

/* Paths below a directory of modules, in the order in which they have to be loaded. */
struct guest_modules {
	unsigned count;
	char *paths[GUEST_MODULES_MAX];
};

/*
 * What a guest needs and @directory says is not built in, with all that it depends on.
 * 0; -ENOENT: the kernel has no driver for NVMe, or there is no list of what depends on what;
 * -E2BIG; with @diag.
 */
int guest_modules_find(const char *directory, struct guest_modules *ret_modules, struct diag *diag);
void guest_modules_fini(struct guest_modules *modules);

#endif /* GUEST_KERNEL_H */
