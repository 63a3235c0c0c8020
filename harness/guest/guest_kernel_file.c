/* SPDX-License-Identifier: MIT */
/*
 * guest_kernel_file.c - a kernel by its path: is it one and whole, what is it called, and where are
 * its modules? QEMU boots whatever it is given, and says nothing when nothing comes of it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest_kernel.h"

/* Of the x86 boot protocol: where the fields lie in the file. */
#define HEADER_BYTES 0x260u
#define SETUP_SECTORS 0x1f1u   /* behind the first; 0 means 4 */
#define SYSTEM_SIZE 0x1f4u     /* of the rest, in 16 bytes */
#define BOOT_FLAG 0x1feu       /* 0xaa55 */
#define MAGIC 0x202u	       /* "HdrS" */
#define VERSION_POINTER 0x20eu /* of a string, from 0x200; 0: none */

static unsigned get_u16(const uint8_t *header, size_t place)
{
	uint16_t value;

	memcpy(&value, header + place, sizeof(value));
	return le16toh(value);
}

static uint64_t whole_bytes(const uint8_t *header)
{
	unsigned sectors = header[SETUP_SECTORS] ? header[SETUP_SECTORS] : 4;
	uint32_t size;

	memcpy(&size, header + SYSTEM_SIZE, sizeof(size));
	return (sectors + 1) * UINT64_C(512) + le32toh(size) * UINT64_C(16);
}

static int refuse(const char *path, const char *why, struct diag *diag)
{
	diag_set(diag, NULL, 0, 0, "kernel %s: %s", path, why);
	return -EINVAL;
}

static int check(const char *path, int fd, uint8_t header[HEADER_BYTES], struct diag *diag)
{
	struct stat status;
	ssize_t got;

	if (fstat(fd, &status) < 0)
		return refuse(path, strerror(errno), diag);
	if (!S_ISREG(status.st_mode))
		return refuse(path,
			      S_ISDIR(status.st_mode) ? "is a directory, not a kernel (vmlinuz)"
						      : "must be a regular file",
			      diag);
	got = pread(fd, header, HEADER_BYTES, 0);
	if (got < 0)
		return refuse(path, strerror(errno), diag);
	if (got < (ssize_t)HEADER_BYTES || get_u16(header, BOOT_FLAG) != 0xaa55 ||
	    memcmp(header + MAGIC, "HdrS", 4) != 0)
		return refuse(path, "is no Linux kernel for x86 (bzImage, as vmlinuz is)", diag);
	if ((uint64_t)status.st_size >= whole_bytes(header))
		return 0;
	diag_set(diag, NULL, 0, 0, "kernel %s: is cut off: it has %jd of %" PRIu64 " bytes", path,
		 (intmax_t)status.st_size, whole_bytes(header));
	return -EINVAL;
}

/* The word that modules are installed under, from "6.1.0-57-amd64 (who@built.it) #1 SMP ...". */
static void find_version(struct guest_kernel *kernel, int fd, const uint8_t *header)
{
	unsigned place = get_u16(header, VERSION_POINTER);
	ssize_t got = 0;

	if (place)
		got = pread(fd, kernel->version, sizeof(kernel->version) - 1, 0x200 + place);
	kernel->version[got > 0 ? got : 0] = '\0';
	kernel->version[strcspn(kernel->version, " \n/")] = '\0';
}

/* "modules" beside it, as the cache has them, or lib/modules/VERSION beside its directory, or where
 * the system has them. */
static void find_modules(struct guest_kernel *kernel)
{
	const char *version = kernel->version;
	int length = (int)(strrchr(kernel->path, '/') - kernel->path);
	char *modules = kernel->modules;

	snprintf(modules, PATH_MAX, "%.*s/modules", length, kernel->path);
	if (access(modules, R_OK) < 0 && *version)
		snprintf(modules, PATH_MAX, "%.*s/../lib/modules/%s", length, kernel->path,
			 version);
	if (access(modules, R_OK) < 0 && *version)
		snprintf(modules, PATH_MAX, "/lib/modules/%s", version);
	if (access(modules, R_OK) < 0)
		modules[0] = '\0';
}

int guest_kernel_file(const char *path, struct guest_kernel *ret_kernel, struct diag *diag)
{
	char *real = realpath(path, NULL);
	int fd = real ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1, error;
	uint8_t header[HEADER_BYTES];

	if (fd < 0) {
		error = -errno;
		diag_set(diag, NULL, 0, 0, "kernel %s: %s", path, strerror(-error));
		free(real);
		return error;
	}
	error = check(path, fd, header, diag);
	if (error == 0) {
		*ret_kernel = (struct guest_kernel){.path = ""};
		snprintf(ret_kernel->path, sizeof(ret_kernel->path), "%s", real);
		find_version(ret_kernel, fd, header);
		find_modules(ret_kernel);
	}
	close(fd);
	free(real);
	return error;
}
