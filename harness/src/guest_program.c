/* SPDX-License-Identifier: MIT */
/*
 * guest_program.c - what of this machine a program takes along into a guest. It finds there itself,
 * the programs that its scenario needs, the shells of scripts, and all their libraries; nothing
 * else. What would miss more than that is told here, so that no program fails there for what only
 * the guest lacks.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec.h"
#include "guest.h"
#include "guest_program.h"
#include "plan_internal.h"

#define GIVEN "/opt/swaptorture/given"
#define HEAD_BYTES 256

struct search {
	struct guest_program_files *files;
	char *reason;
};

static __attribute__((format(printf, 3, 4))) int refuse(const struct search *search, int error,
							const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(search->reason, GUEST_PROGRAM_REASON_BYTES, format, arguments);
	va_end(arguments);
	return error;
}

static int add_file(struct search *search, const char *path, const char *source)
{
	struct guest_program_files *files = search->files;

	for (unsigned i = 0; i < files->count; i++)
		if (strcmp(files->files[i].path, path) == 0)
			return 0;
	if (files->count == GUEST_PROGRAM_FILES_MAX)
		return refuse(search, -E2BIG, "more than %u programs for a guest",
			      GUEST_PROGRAM_FILES_MAX);
	snprintf(files->files[files->count].path, PATH_MAX, "%s", path);
	snprintf(files->files[files->count++].source, PATH_MAX, "%s", source);
	return 0;
}

/* ---- scripts ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What is in these lies in /bin of a guest, where all their names lead. */
static bool is_common_place(const char *path)
{
	static const char *const places[] = {"/bin", "/usr/bin", "/sbin", "/usr/sbin"};
	size_t length = (size_t)(base_of(path) - path) - 1;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (*path == '/' && strlen(places[i]) == length &&
		    strncmp(path, places[i], length) == 0)
			return true;
	return false;
}

static bool is_shell(const char *name)
{
	return strcmp(name, "sh") == 0 || strcmp(name, "dash") == 0 || strcmp(name, "bash") == 0;
}

static int add_common(struct search *search, const char *script, const char *source)
{
	char path[NAME_MAX + 16];

	if (!is_common_place(source))
		return refuse(search, -ENOTSUP, "%s: its interpreter %s is not in /bin or /usr/bin",
			      base_of(script), source);
	if (access(source, X_OK) < 0)
		return refuse(search, -ENOENT, "%s: its interpreter %s: %s", base_of(script),
			      source, strerror(errno));
	snprintf(path, sizeof(path), "/bin/%s", base_of(source));
	return add_file(search, path, source);
}

/* "#!/bin/sh -e", "#!/usr/bin/env bash" */
static int add_interpreter(struct search *search, const char *script, char *line)
{
	char *save = NULL, *interpreter = strtok_r(line, " \t", &save);
	char *word = strtok_r(NULL, " \t", &save), found[PATH_MAX];
	bool by_env = interpreter && strcmp(base_of(interpreter), "env") == 0;
	const char *name = by_env ? word : interpreter;
	int error;

	if (!name || !is_shell(base_of(name)))
		return refuse(search, -ENOTSUP,
			      "%s is a script for %s: only those of sh, dash and bash run in a "
			      "guest",
			      base_of(script), name ? base_of(name) : "nobody");
	error = add_common(search, script, interpreter);
	if (error < 0 || !by_env)
		return error;
	error = exec_find_program(name, found, sizeof(found));
	if (error < 0)
		return refuse(search, -ENOENT, "%s: its interpreter %s: %s", base_of(script), name,
			      strerror(-error));
	return add_common(search, script, found);
}

/* ---- programs ---- */

static int check_elf(struct search *search, const char *path, const char *head, ssize_t bytes)
{
	Elf64_Ehdr header;

	memcpy(&header, head, sizeof(header));
	if (bytes < (ssize_t)sizeof(header) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return refuse(search, -ENOTSUP, "%s is neither an ELF file nor a script",
			      base_of(path));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
		return refuse(search, -ENOTSUP, "%s is no program for x86-64", base_of(path));
	return 0;
}

/* What kind of program it is, and what more it takes for that. */
static int add_kind(struct search *search, const char *path)
{
	char head[HEAD_BYTES + 1] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : pread(fd, head, HEAD_BYTES, 0);
	int error = got < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (error < 0)
		return refuse(search, error, "%s: %s", base_of(path), strerror(-error));
	if (strncmp(head, "#!", 2) != 0)
		return check_elf(search, path, head, got);
	head[strcspn(head, "\n")] = '\0';
	return add_interpreter(search, path, head + 2);
}

static int add_program(struct search *search, const char *name)
{
	char source[PATH_MAX], path[NAME_MAX + 16];
	int error = exec_find_program(name, source, sizeof(source));
	char *given;

	if (error < 0)
		return refuse(search, -ENOENT, "program %s: %s", name, strerror(-error));
	error = add_kind(search, source);
	if (error < 0)
		return error;
	if (!strchr(name, '/')) {
		snprintf(path, sizeof(path), "/bin/%.250s", name);
		return add_file(search, path, source);
	}
	given = guest_program_given(source);
	error = given ? add_file(search, given, source) : -ENOMEM;
	free(given);
	return error;
}

/* ---- words ---- */

/* What there is in a guest under the same name. */
static bool is_everywhere(const char *path, bool directory)
{
	static const char *const trees[] = {"/dev/", "/proc/", "/sys/"};
	static const char *const places[] = {"/",    "/dev", "/proc", "/sys",	 "/tmp",
					     "/run", "/mnt", "/root", "/var/tmp"};

	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++)
		if (strncmp(path, trees[i], strlen(trees[i])) == 0)
			return true;
	for (size_t i = 0; directory && i < sizeof(places) / sizeof(*places); i++)
		if (strcmp(path, places[i]) == 0)
			return true;
	return false;
}

/* "/etc/passwd" or "--config=/etc/fio.conf": a file of this machine. What is not here is none. */
static int check_word(const struct search *search, const char *word)
{
	const char *path = *word == '/' ? word : strchr(word, '=');
	struct stat status;

	path += path && *path == '=';
	if (!path || *path != '/' || stat(path, &status) < 0 ||
	    is_everywhere(path, S_ISDIR(status.st_mode)))
		return 0;
	return refuse(search, -ENOTSUP, "'%s' names what lies on this machine, and not in a guest",
		      word);
}

static int check_words(const struct search *search, const struct program_words *words,
		       const char *word)
{
	int error = 0;

	for (; word && error == 0; word = program_words_next(words, word))
		error = check_word(search, word);
	return error;
}

/* ---- all of it ---- */

int guest_program_find(const struct scenario *scenario, const struct program *program,
		       struct guest_program_files *ret_files,
		       char reason[GUEST_PROGRAM_REASON_BYTES])
{
	struct search search = {ret_files, reason};
	const char *name = program->argv.text;
	int error;

	ret_files->count = 0;
	error = add_program(&search, name);
	for (unsigned i = 0; i < scenario->needs_count && error == 0; i++) {
		const char *needed = plan_need_program(scenario->needs[i]);

		if (needed)
			error = add_program(&search, needed);
	}
	if (error == 0)
		error = check_words(&search, &program->argv,
				    program_words_next(&program->argv, name));
	if (error == 0)
		error = check_words(&search, &program->env,
				    program_words_next(&program->env, NULL));
	return error;
}

int guest_program_check(const struct scenario *scenario, const struct program *program,
			char reason[GUEST_PROGRAM_REASON_BYTES])
{
	struct guest_program_files *files = malloc(sizeof(*files));
	struct diag diag = {.text = ""};
	int error = -ENOMEM;

	if (files)
		error = guest_program_find(scenario, program, files, reason);
	for (unsigned i = 0; error == 0 && i < files->count; i++) {
		error = guest_libraries_check(files->files[i].source, &diag);
		if (error < 0)
			snprintf(reason, GUEST_PROGRAM_REASON_BYTES, "%.*s",
				 (int)GUEST_PROGRAM_REASON_BYTES - 1, diag.text);
	}
	free(files);
	return error;
}

char *guest_program_given(const char *path)
{
	char *whole = realpath(path, NULL), *there = NULL;

	if (whole && asprintf(&there, GIVEN "%s", whole) < 0)
		there = NULL;
	free(whole);
	return there;
}

char *guest_program_path(const struct program *program)
{
	return strchr(program->argv.text, '/') ? guest_program_given(program->argv.text) : NULL;
}
