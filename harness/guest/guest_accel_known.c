/* SPDX-License-Identifier: MIT */
/*
 * guest_accel_known.c - a line "BOOT KERNEL works" or "BOOT KERNEL hangs" in the file kvm_KERNEL of
 * the directory of kernels, so that a machine whose KVM hangs is asked once, not before each guest.
 * BOOT is what the kernel that runs here calls its boot: another one is asked anew. Who doubts it
 * removes the file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest_internal.h"

#define WORDS_BYTES 256u
#define WORKS "works"
#define HANGS "hangs"

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

/* Where it is kept, and how its line begins. */
static bool compose(const struct guest_kernel *kernel, char path[static PATH_MAX],
		    char begin[static WORDS_BYTES])
{
	char boot[WORDS_BYTES];

	return kernel->cache[0] && read_word("/proc/sys/kernel/random/boot_id", boot) &&
	       snprintf(path, PATH_MAX, "%s/kvm_%s", kernel->cache, kernel->version) < PATH_MAX &&
	       !strchr(kernel->version, '/') &&
	       snprintf(begin, WORDS_BYTES, "%s %s ", boot, kernel->version) < (int)WORDS_BYTES;
}

bool guest_accel_known(const struct guest_kernel *kernel, bool *ret_works)
{
	char path[PATH_MAX], begin[WORDS_BYTES], kept[WORDS_BYTES];
	const char *word;

	if (!compose(kernel, path, begin) || !read_word(path, kept) ||
	    strncmp(kept, begin, strlen(begin)) != 0)
		return false;
	word = kept + strlen(begin);
	*ret_works = strcmp(word, WORKS) == 0;
	return *ret_works || strcmp(word, HANGS) == 0;
}

/* Whole or not at all, whoever else does the same. */
void guest_accel_remember(const struct guest_kernel *kernel, bool works)
{
	char path[PATH_MAX], begin[WORDS_BYTES], temporary[PATH_MAX + 16];
	int fd;

	if (!compose(kernel, path, begin))
		return;
	snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (dprintf(fd, "%s%s\n", begin, works ? WORKS : HANGS) < 0 || rename(temporary, path) < 0)
		unlink(temporary);
	close(fd);
}
