/* SPDX-License-Identifier: MIT */
/*
 * guest_image.c - what lies in a guest: init, this build as run_paths.c wants it beside each other,
 * modules, programs for the shell, and what the caller adds. All shared libraries lie in /lib; the
 * other directories where a loader looks lead there.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpio.h"
#include "guest_internal.h"
#include "guest_libraries.h"

#define HOME "opt/swaptorture"

struct image {
	struct cpio cpio;
	struct guest_libraries libraries;
	struct diag *diag;
};

static int fail(struct image *image, const char *source, int error)
{
	diag_set(image->diag, NULL, 0, 0, "image of the guest: %s: %s", source, strerror(-error));
	return error;
}

/* A file that may need libraries. */
static int add_binary(struct image *image, const char *path, const char *source, bool loaded)
{
	int error = cpio_file(&image->cpio, path, 0755, source);

	if (error == 0)
		error = guest_libraries_want(&image->libraries, source, loaded);
	return error < 0 ? fail(image, source, error) : 0;
}

static int add_cores(struct image *image, const char *meta)
{
	struct dirent **entries;
	int count = scandir(meta, &entries, NULL, alphasort), error = 0;
	char path[PATH_MAX], source[PATH_MAX + 256];

	if (count < 0) /* an installation without them */
		return 0;
	cpio_directory(&image->cpio, HOME "/lib/meta", 0755);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		size_t length = strlen(name);

		snprintf(path, sizeof(path), HOME "/lib/meta/%s", name);
		snprintf(source, sizeof(source), "%s/%s", meta, name);
		if (error == 0 && length > 3 && strcmp(name + length - 3, ".so") == 0)
			error = add_binary(image, path, source, true);
		free(entries[i]);
	}
	free(entries);
	return error;
}

/* @path is one of a directory that is there; files whose names begin with a dot are no scenarios.
 */
static int add_tree(struct image *image, const char *path, const char *source)
{
	struct dirent **entries;
	int count = scandir(source, &entries, NULL, alphasort), error = 0;
	char inner[PATH_MAX], inner_source[PATH_MAX];
	struct stat status;

	if (count < 0)
		return fail(image, source, -errno);
	cpio_directory(&image->cpio, path, 0755);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		snprintf(inner, sizeof(inner), "%s/%s", path, name);
		snprintf(inner_source, sizeof(inner_source), "%s/%s", source, name);
		if (error < 0 || *name == '.' || stat(inner_source, &status) < 0)
			;
		else if (S_ISDIR(status.st_mode))
			error = add_tree(image, inner, inner_source);
		else if ((error = cpio_file(&image->cpio, inner, 0644, inner_source)) < 0)
			fail(image, inner_source, error);
		free(entries[i]);
	}
	free(entries);
	return error;
}

static int add_build(struct image *image, const struct guest_programs *programs)
{
	int error = add_binary(image, "init", programs->init, false);

	if (error == 0)
		error = add_binary(image, HOME "/bin/swaptorture", programs->swaptorture, false);
	if (error == 0 && programs->worker)
		error = add_binary(image, HOME "/bin/swaptorture-worker", programs->worker, false);
	if (error == 0 && programs->preload)
		error = add_binary(image, HOME "/lib/libswapfault.so", programs->preload, true);
	if (error == 0 && programs->meta)
		error = add_cores(image, programs->meta);
	if (error == 0 && programs->suppressions) {
		error = cpio_file(&image->cpio, HOME "/lib/swaptorture.supp", 0644,
				  programs->suppressions);
		if (error < 0)
			fail(image, programs->suppressions, error);
	}
	if (error == 0 && programs->scenarios)
		error = add_tree(image, HOME "/scenarios", programs->scenarios);
	return error;
}

static void add_directories(struct image *image)
{
	static const char *const directories[] = {"bin",  "dev", "etc",	      "lib",	   "mnt",
						  "opt",  HOME,	 HOME "/bin", HOME "/lib", "proc",
						  "root", "run", "sys",	      "usr",	   "var"};
	static const char *const links[][2] = {{"lib64", "lib"},	{"usr/lib", "../lib"},
					       {"usr/lib64", "../lib"}, {"sbin", "bin"},
					       {"usr/bin", "../bin"},	{"usr/sbin", "../bin"}};

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		cpio_directory(&image->cpio, directories[i], 0755);
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		cpio_symlink(&image->cpio, links[i][0], links[i][1]);
	cpio_directory(&image->cpio, "tmp", 01777);
	cpio_directory(&image->cpio, "var/tmp", 01777);
	/* Before init has mounted anything it has to be able to complain. */
	cpio_device(&image->cpio, "dev/console", S_IFCHR | 0600, 5, 1);
}

/* Unpacked. Its path in the guest is @path. */
static int add_module(struct image *image, const char *path, const char *source)
{
	char open_file[32];
	int fd = guest_module_open(source, image->diag), error;

	if (fd < 0)
		return fd;
	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fd);
	error = cpio_file(&image->cpio, path, 0644, open_file);
	close(fd);
	return error < 0 ? fail(image, source, error) : 0;
}

static int add_modules(struct image *image, const char *directory)
{
	struct guest_modules modules;
	char list[GUEST_MODULES_MAX * 128] = "", path[128], source[2 * PATH_MAX];
	int error = guest_modules_find(directory, &modules, image->diag);
	size_t used = 0;

	if (error < 0)
		return error;
	cpio_directory(&image->cpio, "modules", 0755);
	for (unsigned i = 0; i < modules.count && error == 0; i++) {
		const char *slash = strrchr(modules.paths[i], '/');
		const char *name = slash ? slash + 1 : modules.paths[i];

		snprintf(path, sizeof(path), "modules/%.*s", guest_module_name_length(name), name);
		snprintf(source, sizeof(source), "%s/%s", directory, modules.paths[i]);
		error = add_module(image, path, source);
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s\n", path);
	}
	cpio_text(&image->cpio, "modules/list", list);
	guest_modules_fini(&modules);
	return error;
}

/* For people; what this machine does not have is left out, and init says so. */
static int add_shell(struct image *image)
{
	static const char *const programs[] = {
		"sh",	"ls",	  "cat",  "cp",	     "dd",     "df",	"dmesg", "echo",   "fio",
		"free", "grep",	  "head", "hexdump", "ln",     "lsblk", "mkdir", "mke2fs", "mount",
		"mv",	"nvme",	  "od",	  "ps",	     "rm",     "sed",	"seq",	 "sleep",  "stat",
		"stty", "strace", "sync", "tail",    "umount", "uname"};
	static const char *const places[] = {"/bin", "/sbin", "/usr/bin", "/usr/sbin",
					     "/usr/local/bin"};
	char path[64], source[128];
	int error = 0;

	cpio_symlink(&image->cpio, "bin/poweroff", "../init");
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs) && error == 0; i++) {
		size_t place = 0, count = sizeof(places) / sizeof(*places);

		do
			snprintf(source, sizeof(source), "%s/%s", places[place], programs[i]);
		while (access(source, X_OK) < 0 && ++place < count);
		snprintf(path, sizeof(path), "bin/%s", programs[i]);
		if (place < count)
			error = add_binary(image, path, source, false);
		else if (i == 0)
			error = fail(image, "sh", -ENOENT);
	}
	return error;
}

/* Directories on the way to @path. */
static void add_parents(struct image *image, const char *path)
{
	char parent[PATH_MAX];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
		cpio_directory(&image->cpio, parent, 0755);
	}
}

static int add_files(struct image *image, const struct guest_options *options)
{
	int error = 0;

	for (unsigned i = 0; i < options->file_count && error == 0; i++) {
		const struct guest_file *file = &options->files[i];
		const char *path = file->path + (*file->path == '/');
		struct stat status;

		add_parents(image, path);
		if (stat(file->source, &status) == 0 && status.st_mode & 0111)
			error = add_binary(image, path, file->source, false);
		else if ((error = cpio_file(&image->cpio, path, 0644, file->source)) < 0)
			fail(image, file->source, error);
	}
	return error;
}

static int add_libraries(struct image *image)
{
	struct guest_libraries *libraries = &image->libraries;
	char path[NAME_MAX + 16];
	int error = guest_libraries_resolve(libraries, image->diag);

	if (error == 0 && libraries->triplet[0]) {
		snprintf(path, sizeof(path), "lib/%s", libraries->triplet);
		cpio_symlink(&image->cpio, path, ".");
	}
	for (unsigned i = 0; i < libraries->count && error == 0; i++) {
		const char *source = libraries->paths[i];

		snprintf(path, sizeof(path), "lib/%s", strrchr(source, '/') + 1);
		error = cpio_file(&image->cpio, path, 0755, source);
		if (error < 0)
			fail(image, source, error);
	}
	return error;
}

int guest_image_write(int fd, const struct guest_options *options,
		      const struct guest_kernel *kernel, struct diag *diag)
{
	struct image image = {.diag = diag};
	int error;

	cpio_init(&image.cpio, fd);
	add_directories(&image);
	error = add_build(&image, options->programs);
	if (error == 0)
		error = add_modules(&image, kernel->modules);
	if (error == 0 && options->shell)
		error = add_shell(&image);
	if (error == 0)
		error = add_files(&image, options);
	if (error == 0)
		error = add_libraries(&image);
	if (error == 0) {
		error = cpio_finish(&image.cpio);
		if (error < 0)
			fail(&image, "writing", error);
	}
	guest_libraries_fini(&image.libraries);
	return error;
}
