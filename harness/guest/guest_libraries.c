/* SPDX-License-Identifier: MIT */
/*
 * guest_libraries.c - asks the loader: told to trace, a dynamically linked program prints what it
 * would load and ends. What it would be preloaded with is traced along, so that one program answers
 * for all libraries.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "guest_libraries.h"
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

	if (!loaded)
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

static int add_path(struct guest_libraries *libraries, const char *path)
{
	const char *name = strrchr(path, '/') + 1, *directory;

	if (is_loaded(libraries, path))
		return 0; /* it lies where it is loaded from */
	for (unsigned i = 0; i < libraries->count; i++)
		if (strcmp(strrchr(libraries->paths[i], '/') + 1, name) == 0)
			return 0;
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

	if (arrow && strncmp(path, "not found", 9) == 0) {
		diag_set(diag, NULL, 0, 0, "%s needs %.*s, which is not found", program,
			 (int)(arrow - line - 1), line + 1);
		return -ENOENT;
	}
	if (*path != '/' || !address)
		return 0;
	*address = '\0';
	return add_path(libraries, path);
}

static int trace(struct guest_libraries *libraries, const char *program, bool with_loaded,
		 struct diag *diag)
{
	char *argv[] = {(char *)(uintptr_t)program, NULL}, *save = NULL;
	const char *environment[] = {
		"LD_TRACE_LOADED_OBJECTS", "1", "LD_BIND_NOW", "", "LD_PRELOAD",
		libraries->loaded,	   NULL};
	struct spawn_options options = {.argv = argv,
					.environment = environment,
					.deadline_ms = TRACE_DEADLINE_MS,
					.fd = -1};
	struct spawn_result result;
	int error;

	if (!with_loaded || !libraries->loaded)
		environment[4] = NULL;
	error = spawn_run(&options, &result);
	if (error < 0) {
		diag_set(diag, NULL, 0, 0, "libraries of %s: %s", program, strerror(-error));
		return error;
	}
	for (char *line = strtok_r(result.out, "\n", &save); line && error == 0;
	     line = strtok_r(NULL, "\n", &save))
		error = take_line(libraries, line, program, diag);
	spawn_fini(&result);
	return error;
}

/* A static program would run when it is to be traced. */
static bool is_dynamic(const char *path)
{
	char head[4096];
	FILE *file = fopen(path, "re");
	size_t bytes = file ? fread(head, 1, sizeof(head), file) : 0;

	if (file)
		fclose(file);
	return bytes > 4 && memcmp(head, "\177ELF", 4) == 0 &&
	       memmem(head, bytes, "/ld-", 4) != NULL;
}

int guest_libraries_resolve(struct guest_libraries *libraries, struct diag *diag)
{
	bool first = true;
	int error = 0;

	for (unsigned i = 0; i < libraries->wanted_count && error == 0; i++) {
		if (!is_dynamic(libraries->wanted[i]))
			continue;
		error = trace(libraries, libraries->wanted[i], first, diag);
		first = false;
	}
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
