/* SPDX-License-Identifier: MIT */
/*
 * guest_module_file.c - a module as the kernel takes it. It is unpacked here: not every kernel can
 * do that itself, and which can is known only when it is too late to say why.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_kernel.h"
#include "spawn.h"

#define UNPACK_DEADLINE_MS 60000u

/* What unpacks files of that ending. */
static const struct packer {
	const char *ending, *program, *package;
} packers[] = {{".xz", "xz", "xz-utils"}, {".zst", "zstd", "zstd"}, {".gz", "gzip", "gzip"}};

/* Of "nvme.ko.xz" ".xz"; "" of a module that is not packed. */
static const char *ending_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *found = strstr(slash ? slash : path, ".ko");

	return found ? found + 3 : "";
}

static const struct packer *find_packer(const char *ending)
{
	for (size_t i = 0; i < sizeof(packers) / sizeof(*packers); i++)
		if (strcmp(packers[i].ending, ending) == 0)
			return &packers[i];
	return NULL;
}

static int refuse(const char *path, const struct packer *packer, int error, struct diag *diag)
{
	if (!packer)
		diag_set(diag, NULL, 0, 0,
			 "module %s: '%s' is no packing that is known here (.xz, .zst, .gz)", path,
			 ending_of(path));
	else
		diag_set(diag, NULL, 0, 0, "module %s: no %s in PATH to unpack it (package %s)",
			 path, packer->program, packer->package);
	return error;
}

static int unpack(const char *path, const struct packer *packer, int to, struct diag *diag)
{
	char there[32];
	char *const argv[] = {(char[]){"sh"},
			      (char[]){"-c"},
			      (char[]){"exec \"$1\" -dc <\"$2\" >\"$3\""},
			      (char[]){"sh"},
			      (char *)(uintptr_t)packer->program,
			      (char *)(uintptr_t)path,
			      there,
			      NULL};
	const struct spawn_options options = {
		.argv = argv, .deadline_ms = UNPACK_DEADLINE_MS, .fd = to};
	struct spawn_result result;
	int error;

	snprintf(there, sizeof(there), "/proc/self/fd/%d", to);
	error = spawn_run(&options, &result);
	if (error < 0) {
		diag_set(diag, NULL, 0, 0, "module %s: %s: %s", path, packer->program,
			 strerror(-error));
		return error;
	}
	if (!WIFEXITED(result.status) || WEXITSTATUS(result.status) != 0) {
		result.error[strcspn(result.error, "\n")] = '\0';
		diag_set(diag, NULL, 0, 0, "module %s cannot be unpacked: %.200s", path,
			 *result.error ? result.error : packer->program);
		error = -EINVAL;
	}
	spawn_fini(&result);
	return error;
}

int guest_module_open(const char *path, struct diag *diag)
{
	const char *ending = ending_of(path);
	const struct packer *packer = find_packer(ending);
	int fd, error;

	if (*ending && !packer)
		return refuse(path, NULL, -EINVAL, diag);
	if (packer && !spawn_can(packer->program))
		return refuse(path, packer, -ENOENT, diag);
	fd = packer ? memfd_create("module", MFD_CLOEXEC) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		error = -errno;
		diag_set(diag, NULL, 0, 0, "module %s: %s", path, strerror(-error));
		return error;
	}
	error = packer ? unpack(path, packer, fd, diag) : 0;
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

int guest_module_name_length(const char *path)
{
	return (int)(ending_of(path) - path);
}
