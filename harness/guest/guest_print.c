/* SPDX-License-Identifier: MIT */
/*
 * guest_print.c - a guest with a shell as a command line and files, for who wants it without us.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest_internal.h"

static int fail(struct diag *diag, const char *path, int error)
{
	diag_set(diag, NULL, 0, 0, "%s: %s", path, strerror(-error));
	return error;
}

static int write_image(const char *path, const struct guest_options *options,
		       const struct guest_kernel *kernel, struct diag *diag)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), error;

	if (fd < 0)
		return fail(diag, path, -errno);
	error = guest_image_write(fd, options, kernel, diag);
	close(fd);
	return error;
}

/* What is there keeps its bytes. */
static int make_file(const char *path, uint64_t bytes, struct diag *diag)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), error = 0;

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		error = fail(diag, path, -errno);
	if (fd >= 0)
		close(fd);
	return error;
}

static void add_namespace(struct guest_words *words, const struct guest_namespace *namespace,
			  unsigned port, const char *path)
{
	unsigned sector = namespace->sector_bytes ? namespace->sector_bytes : 512;
	char more[64] = "";
	int used = 0;

	if (namespace->mdts)
		used = snprintf(more, sizeof(more), ",mdts=%u", namespace->mdts);
	if (namespace->queues)
		snprintf(more + used, sizeof(more) - (size_t)used, ",max_ioqpairs=%u",
			 namespace->queues);
	guest_words_add(words, "-blockdev");
	guest_words_add(words, "driver=file,node-name=node-%s,filename=%s,read-only=%s",
			namespace->id, path, namespace->read_only ? "on" : "off");
	guest_words_add(words, "-device");
	guest_words_add(words,
			"nvme,id=ctrl-%s,serial=%s,drive=node-%s,bus=port%u,"
			"logical_block_size=%u,physical_block_size=%u,write-cache=%s%s",
			namespace->id, namespace->id, namespace->id, port, sector, sector,
			namespace->write_cache ? "on" : "off", more);
}

static int add_namespaces(struct guest_words *words, const struct guest_namespace *namespaces,
			  unsigned count, const char *directory, struct diag *diag)
{
	char path[PATH_MAX + GUEST_ID_BYTES + 8];
	int error = 0;

	for (unsigned i = 0; i < count && error == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s.raw", directory, namespaces[i].id);
		error = make_file(path, namespaces[i].size_bytes, diag);
		add_namespace(words, &namespaces[i], i, path);
	}
	return error;
}

int guest_print(const struct guest_options *options, const struct guest_namespace *namespaces,
		unsigned count, const char *directory, char **ret_line, struct diag *diag)
{
	static const struct guest_ends terminal = {-1, -1, -1, -1, -1};
	char image[PATH_MAX + 16];
	struct guest_words words = {0};
	struct guest_kernel kernel;
	int error = guest_find(options, &kernel, diag);

	if (error < 0)
		return error;
	if (strchr(directory, ','))
		return diag_set(diag, NULL, 0, 0, "%s: QEMU's command line takes no comma",
				directory);
	if (mkdir(directory, 0777) < 0 && errno != EEXIST)
		return fail(diag, directory, -errno);
	snprintf(image, sizeof(image), "%s/initramfs", directory);
	error = write_image(image, options, &kernel, diag);
	if (error < 0)
		return error;
	guest_qemu_words(&words, options, &kernel, guest_accel_choose(options, &kernel), image,
			 &terminal);
	error = add_namespaces(&words, namespaces, count, directory, diag);
	if (error == 0) {
		*ret_line = words.failed ? NULL : guest_words_line(&words);
		error = *ret_line ? 0 : -ENOMEM;
	}
	guest_words_fini(&words);
	return error;
}
