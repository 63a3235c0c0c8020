/* SPDX-License-Identifier: MIT */
/*
 * guest_modules.c - reads modules.builtin and modules.dep. The second names all that a module
 * depends on, what has to be loaded first at the end.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>

#include "guest_kernel.h"

/* The kernel asks user space for some of these by name when it needs them; our init answers no such
 * question, so they are there before. They differ from release to release. */
static const struct {
	const char *name;
	bool must;
} wanted[] = {{"crc32c_generic", false},
	      {"crct10dif_common", false},
	      {"crct10dif_generic", false},
	      {"crc64_rocksoft_generic", false},
	      {"8250", false},
	      {"nvme", true},
	      {"ext4", false}};

/* Is "DIR/nvme-core.ko.xz" the module @name? Hyphens and underscores are the same to the kernel. */
static bool path_is(const char *path, size_t length, const char *name)
{
	const char *base = path, *end = path + length;

	for (const char *c = path; c < end; c++)
		if (*c == '/')
			base = c + 1;
	for (; *name; name++, base++) {
		if (base == end)
			return false;
		if (*base != *name && !(*base == '-' && *name == '_'))
			return false;
	}
	return end - base >= 3 && strncmp(base, ".ko", 3) == 0;
}

/* The line of @text whose first word is the module; NULL. */
static const char *find_line(const char *text, const char *name)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (path_is(line, strcspn(line, ":\n"), name))
			return line;
	}
	return NULL;
}

static char *read_list(const char *directory, const char *name)
{
	char path[PATH_MAX + 32], *text = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (getdelim(&text, &room, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(file);
	return text;
}

static int add_module(struct guest_modules *modules, const char *path, size_t length)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (strlen(modules->paths[i]) == length &&
		    strncmp(modules->paths[i], path, length) == 0)
			return 0;
	if (modules->count == GUEST_MODULES_MAX)
		return -E2BIG;
	modules->paths[modules->count] = strndup(path, length);
	return modules->paths[modules->count++] ? 0 : -ENOMEM;
}

/* "a.ko: b.ko c.ko": c, b, a. */
static int add_line(struct guest_modules *modules, const char *line)
{
	size_t first = strcspn(line, ":\n"), end = strcspn(line, "\n");
	int error = 0;

	while (error == 0 && end > first + 1) {
		size_t begin;

		while (end > first + 1 && isspace((unsigned char)line[end - 1]))
			end--;
		for (begin = end; begin > first + 1 && line[begin - 1] != ' '; begin--)
			;
		if (end > begin)
			error = add_module(modules, line + begin, end - begin);
		end = begin;
	}
	return error ? error : add_module(modules, line, first);
}

static int find_all(const char *builtin, const char *dependencies, struct guest_modules *modules,
		    struct diag *diag)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < sizeof(wanted) / sizeof(*wanted); i++) {
		const char *line = NULL;

		if (builtin && find_line(builtin, wanted[i].name))
			continue;
		if (dependencies)
			line = find_line(dependencies, wanted[i].name);
		if (line) {
			error = add_line(modules, line);
		} else if (wanted[i].must) {
			diag_set(diag, NULL, 0, 0, "the kernel has no module %s%s", wanted[i].name,
				 dependencies ? ""
					      : ", or it was not told by depmod (package kmod)");
			return -ENOENT;
		}
	}
	if (error < 0)
		diag_set(diag, NULL, 0, 0, "modules of the kernel: %s", strerror(-error));
	return error;
}

int guest_modules_find(const char *directory, struct guest_modules *ret_modules, struct diag *diag)
{
	char *builtin, *dependencies;
	int error;

	*ret_modules = (struct guest_modules){0};
	if (!*directory) /* nothing is known: all that is needed may be built in */
		return 0;
	builtin = read_list(directory, "modules.builtin");
	dependencies = read_list(directory, "modules.dep");
	error = find_all(builtin, dependencies, ret_modules, diag);
	if (error < 0)
		guest_modules_fini(ret_modules);
	free(builtin);
	free(dependencies);
	return error;
}

void guest_modules_fini(struct guest_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++)
		free(modules->paths[i]);
	*modules = (struct guest_modules){0};
}
