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

#define GUEST_MODULES_MAX 64u

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

/* The kernel at @path, and its modules where they are found. 0; -EINVAL it is none, or not whole;
 * -ENOENT, -EACCES; with @diag. */
int guest_kernel_file(const char *path, struct guest_kernel *ret_kernel, struct diag *diag);

/* Paths below a directory of modules, in the order in which they have to be loaded. */
struct guest_modules {
	unsigned count;
	char *paths[GUEST_MODULES_MAX];
};

/*
 * What a guest needs and @directory says is not built in, with all that it depends on, and what the
 * kernel would ask modprobe for while these are loaded (modules.softdep).
 * 0; -ENOENT: the kernel has no driver for NVMe, or a module that is named is not there; -EINVAL:
 * modules.dep is damaged; -ELOOP: modules need each other; -E2BIG; with @diag.
 */
int guest_modules_find(const char *directory, struct guest_modules *ret_modules, struct diag *diag);
void guest_modules_fini(struct guest_modules *modules);

/* A descriptor of the module's bytes, unpacked if need be. -EINVAL: they cannot be, -ENOENT: what
 * unpacks them or the file is not there, another -errno; with @diag. */
int guest_module_open(const char *path, struct diag *diag);
/* Of @path without the ending that says how it is packed. */
int guest_module_name_length(const char *path);

#endif /* GUEST_KERNEL_H */
