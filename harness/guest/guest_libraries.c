/* SPDX-License-Identifier: MIT */
/*
 * guest_libraries.c - asks the loader of each program, which can list what it would load without
 * running the program. What it would be preloaded with is listed along, so that one program answers
 * for all libraries.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "guest_libraries.h"
#include "same_file.h"
#include "spawn.h"

#define TRACE_DEADLINE_MS 20000u

static int add_word(char ***words, unsigned *count, const char *word)
{
	char **grown = reallocarray(*words, *count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*words = grown;
	grown[*count] = strdup(word);
	return grown[(*count)++] ? 0 : -ENOMEM;
}

int guest_libraries_want(struct guest_libraries *libraries, const char *path, bool loaded)
{
	char *list;

	/* A list for LD_PRELOAD knows no way to quote: such a library is asked for by itself. */
	if (!loaded || strpbrk(path, " :"))
		return add_word(&libraries->wanted, &libraries->wanted_count, path);
	if (asprintf(&list, "%s%s%s", libraries->loaded ? libraries->loaded : "",
		     libraries->loaded ? ":" : "", path) < 0)
		return -ENOMEM;
	free(libraries->loaded);
	libraries->loaded = list;
	return 0;
}

static bool is_loaded(const struct guest_libraries *libraries, const char *path)
{
	size_t length = strlen(path);

	for (const char *at = libraries->loaded; at && (at = strstr(at, path)); at += length)
		if ((at == libraries->loaded || at[-1] == ':') &&
		    (at[length] == ':' || at[length] == '\0'))
			return true;
	return false;
}

/* A guest has one directory for all of them. */
static int add_path(struct guest_libraries *libraries, const char *path, struct diag *diag)
{
	const char *name = strrchr(path, '/') + 1, *directory;

	if (is_loaded(libraries, path))
		return 0; /* it lies where it is loaded from */
	for (unsigned i = 0; i < libraries->count; i++) {
		const char *other = libraries->paths[i];

		if (strcmp(strrchr(other, '/') + 1, name) != 0)
			continue;
		if (same_file(other, path))
			return 0;
		diag_set(diag, NULL, 0, 0, "%s and %s: a guest has room for one library of a name",
			 other, path);
		return -EEXIST;
	}
	directory = name - 1;
	while (directory > path && directory[-1] != '/')
		directory--;
	if (strncmp(name, "libc.so", 7) == 0 && strstr(path, "-linux-"))
		snprintf(libraries->triplet, sizeof(libraries->triplet), "%.*s",
			 (int)(name - 1 - directory), directory);
	return add_word(&libraries->paths, &libraries->count, path);
}

/* "	libc.so.6 => /lib/libc.so.6 (0x...)", "	/lib64/ld-linux-x86-64.so.2 (0x...)",
 * "	libx.so => not found", "	linux-vdso.so.1 (0x...)", "	statically linked" */
static int take_line(struct guest_libraries *libraries, char *line, const char *program,
		     struct diag *diag)
{
	char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line + strspn(line, " \t");
	char *address = strstr(path, " (0x");

	if (arrow && *path != '/') {
		diag_set(diag, NULL, 0, 0, "%s needs %.*s, which is %s", program,
			 (int)(arrow - line - 1), line + 1,
			 address ? "found from some directories only" : "not found");
		return -ENOENT;
	}
	if (*path != '/' || !address)
		return 0;
	*address = '\0';
	return add_path(libraries, path, diag);
}

static int take_lines(struct guest_libraries *libraries, const struct spawn_result *result,
		      const char *loader, const char *program, struct diag *diag)
{
	char *save = NULL;
	int error = 0;

	for (char *line = strtok_r(result->out, "\n", &save); line && error == 0;
	     line = strtok_r(NULL, "\n", &save))
		error = take_line(libraries, line, program, diag);
	if (error == 0 && (!WIFEXITED(result->status) || WEXITSTATUS(result->status) != 0)) {
		result->error[strcspn(result->error, "\n")] = '\0';
		if (*result->error) /* it names the program and the library */
			diag_set(diag, NULL, 0, 0, "%s", result->error);
		else
			diag_set(diag, NULL, 0, 0, "%s: its loader %s does not run", program,
				 loader);
		error = -ENOENT;
	}
	return error;
}

static int trace(struct guest_libraries *libraries, const char *loader, const char *program,
		 const char *preloaded, struct diag *diag)
{
	char *argv[] = {(char *)(uintptr_t)loader, (char *)(uintptr_t) "--list",
			(char *)(uintptr_t)program, NULL};
	const char *environment[] = {"LD_PRELOAD", preloaded ? preloaded : "", NULL};
	struct spawn_options options = {.argv = argv,
					.environment = environment,
					.deadline_ms = TRACE_DEADLINE_MS,
					.fd = -1};
	struct spawn_result result;
	int error = spawn_run(&options, &result);

	if (error < 0) {
		diag_set(diag, NULL, 0, 0, "libraries of %s: %s", program, strerror(-error));
		return error;
	}
	error = take_lines(libraries, &result, loader, program, diag);
	spawn_fini(&result);
	return error;
}

/* 1: @program is dynamic, and this its loader; 0: it is something else; -errno. */
static int find_loader(const char *program, char loader[PATH_MAX])
{
	int fd = open(program, O_RDONLY | O_CLOEXEC), found = 0;
	Elf64_Ehdr header;
	Elf64_Phdr part;

	if (fd < 0)
		return -errno;
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
		header.e_phnum = 0;
	for (unsigned i = 0; i < header.e_phnum && !found; i++) {
		off_t place = (off_t)(header.e_phoff + i * sizeof(part));

		if (pread(fd, &part, sizeof(part), place) != (ssize_t)sizeof(part))
			break;
		if (part.p_type != PT_INTERP || part.p_filesz == 0 || part.p_filesz > PATH_MAX)
			continue;
		found = pread(fd, loader, part.p_filesz, (off_t)part.p_offset) ==
			(ssize_t)part.p_filesz;
		loader[part.p_filesz - 1] = '\0';
	}
	close(fd);
	return found;
}

/* Libraries have no loader of their own: the last program's will load them. */
int guest_libraries_resolve(struct guest_libraries *libraries, struct diag *diag)
{
	const char *preloaded = libraries->loaded;
	char loader[PATH_MAX] = "";
	int error = 0;

	for (unsigned i = 0; i < libraries->wanted_count && error == 0; i++) {
		const char *program = libraries->wanted[i];
		bool library = strstr(program, ".so") != NULL;
		int found = find_loader(program, loader);

		if (found < 0) {
			diag_set(diag, NULL, 0, 0, "libraries of %s: %s", program,
				 strerror(-found));
			error = found;
		} else if (found || (library && *loader)) {
			error = trace(libraries, loader, program, preloaded, diag);
			preloaded = NULL; /* once is enough */
		}
	}
	return error;
}

int guest_libraries_check(const char *path, struct diag *diag)
{
	struct guest_libraries libraries = {0};
	int error = guest_libraries_want(&libraries, path, false);

	if (error == 0)
		error = guest_libraries_resolve(&libraries, diag);
	guest_libraries_fini(&libraries);
	return error;
}

void guest_libraries_fini(struct guest_libraries *libraries)
{
	for (unsigned i = 0; i < libraries->wanted_count; i++)
		free(libraries->wanted[i]);
	for (unsigned i = 0; i < libraries->count; i++)
		free(libraries->paths[i]);
	free(libraries->wanted);
	free(libraries->paths);
	free(libraries->loaded);
	*libraries = (struct guest_libraries){0};
}
