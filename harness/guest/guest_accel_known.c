/* SPDX-License-Identifier: MIT */
/*
 * guest_accel_known.c - a line "BOOT KERNEL works" or "BOOT KERNEL hangs" in the directory of
 * kernels, so that a machine whose KVM hangs is asked once, not before each guest. BOOT is what the
 * kernel that runs here calls its boot: another one is asked anew. Who doubts it removes the file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest_internal.h"

#define WORDS_BYTES 256u

static bool read_word(const char *path, char word[static WORDS_BYTES])
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(word, (int)WORDS_BYTES, file);

	if (file)
		fclose(file);
	if (got)
		word[strcspn(word, "\n")] = '\0';
	return got;
}

/* Where it is kept, and the line for it. */
static bool compose(const struct guest_kernel *kernel, bool works, char path[static PATH_MAX],
		    char line[static WORDS_BYTES])
{
	char boot[WORDS_BYTES];

	return kernel->cache[0] && read_word("/proc/sys/kernel/random/boot_id", boot) &&
	       snprintf(path, PATH_MAX, "%s/kvm", kernel->cache) < PATH_MAX &&
	       snprintf(line, WORDS_BYTES, "%s %s %s", boot, kernel->version,
			works ? "works" : "hangs") < (int)WORDS_BYTES;
}

bool guest_accel_known(const struct guest_kernel *kernel, bool *ret_works)
{
	char path[PATH_MAX], line[WORDS_BYTES], kept[WORDS_BYTES];

	for (int works = 0; works < 2; works++) {
		if (!compose(kernel, works, path, line) || !read_word(path, kept))
			return false;
		*ret_works = works;
		if (strcmp(kept, line) == 0)
			return true;
	}
	return false;
}

/* Whole or not at all, whoever else does the same. */
void guest_accel_remember(const struct guest_kernel *kernel, bool works)
{
	char path[PATH_MAX], line[WORDS_BYTES], temporary[PATH_MAX + 16];
	int fd;

	if (!compose(kernel, works, path, line))
		return;
	snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (dprintf(fd, "%s\n", line) < 0 || rename(temporary, path) < 0)
		unlink(temporary);
	close(fd);
}
