/* SPDX-License-Identifier: MIT */
/*
 * guest_modules.c - which modules a guest loads, and in which order: modules.builtin says what
 * needs none, modules.dep what a module depends on, modules.softdep (with modules.alias) what it
 * has the kernel ask modprobe for, which no guest has.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest_kernel.h"

#define DEPTH_MAX 32u

/* Some are asked for though no list says so. They differ from release to release. */
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

/* A word of a list, which is not copied. */
struct word {
	const char *text;
	int length;
};

struct search {
	const char *directory;
	char *builtin, *dep, *softdep, *alias; /* the lists; NULL: not there */
	struct guest_modules *modules;
	struct word open[DEPTH_MAX]; /* modules whose needs are being looked for */
	unsigned depth;
	struct diag *diag;
};

static int add_module(struct search *search, struct word path);

/* ---- lists ---- */

/* The first word at or behind @at on its line; of length 0 if there is none. */
static struct word word_at(const char *at)
{
	at += strspn(at, " \t");
	return (struct word){at, (int)strcspn(at, " \t\n:")};
}

static struct word word_behind(struct word word)
{
	return word_at(word.text + word.length);
}

static bool word_is(struct word word, const char *text)
{
	return (int)strlen(text) == word.length && strncmp(word.text, text, strlen(text)) == 0;
}

static bool words_are_same(struct word a, struct word b)
{
	return a.length == b.length && strncmp(a.text, b.text, (size_t)a.length) == 0;
}

/* Hyphens and underscores are the same to the kernel. */
static bool is_same_letter(char a, char b)
{
	return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

/* Of "kernel/nvme-core.ko.xz" "nvme-core"; a name stays as it is. */
static struct word module_name(struct word path)
{
	struct word name = path;

	for (int i = 0; i < path.length; i++)
		if (path.text[i] == '/')
			name = (struct word){path.text + i + 1, path.length - i - 1};
	for (int i = 0; i + 3 <= name.length; i++)
		if (strncmp(name.text + i, ".ko", 3) == 0)
			name.length = i;
	return name;
}

static bool names_are_same(struct word a, struct word b)
{
	a = module_name(a);
	b = module_name(b);
	for (int i = 0; a.length == b.length && i < a.length; i++)
		if (!is_same_letter(a.text[i], b.text[i]))
			return false;
	return a.length == b.length;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* The path in @list, one of modules.dep or modules.builtin; of length 0 if it is not there. */
static struct word find_path(const char *list, struct word name)
{
	for (const char *line = list ? list : ""; *line; line = next_line(line))
		if (names_are_same(word_at(line), name))
			return word_at(line);
	return (struct word){"", 0};
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

/* ---- what a module needs ---- */

static int damaged(struct search *search, struct word path, const char *why, int error)
{
	diag_set(search->diag, NULL, 0, 0, "%s/modules.dep: %.*s %s", search->directory,
		 path.length, path.text, why);
	return error;
}

static bool has_module(const struct guest_modules *modules, struct word path)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (word_is(path, modules->paths[i]))
			return true;
	return false;
}

static bool is_open(const struct search *search, struct word path)
{
	for (unsigned i = 0; i < search->depth; i++)
		if (words_are_same(search->open[i], path))
			return true;
	return false;
}

/* What is not there can be done without, or the module says so itself. */
static int add_soft_one(struct search *search, struct word name)
{
	struct word path = find_path(search->dep, name);
	const char *line = search->alias ? search->alias : "";
	int error = 0;

	if (path.length && !is_open(search, path))
		return add_module(search, path);
	for (; *line && error == 0; line = next_line(line)) {
		struct word alias = word_behind(word_at(line));

		if (!words_are_same(alias, name))
			continue;
		path = find_path(search->dep, word_behind(alias));
		if (path.length && !is_open(search, path))
			error = add_module(search, path);
	}
	return error;
}

/* "softdep ext4 pre: crypto-crc32c post: x" */
static int add_soft(struct search *search, struct word path)
{
	const char *line = search->softdep ? search->softdep : "";
	int error = 0;

	for (; *line && error == 0; line = next_line(line)) {
		struct word word = word_behind(word_at(line));
		bool before = false;

		if (!word_is(word_at(line), "softdep") || !names_are_same(word, path))
			continue;
		for (word = word_behind(word); word.length && error == 0;
		     word = word_behind(word)) {
			bool marks = word.text[word.length] == ':';

			if (!marks && before)
				error = add_soft_one(search, word);
			before = marks ? word_is(word, "pre") : before;
			word.length += marks;
		}
	}
	return error;
}

/* "a.ko: b.ko c.ko": what has to be loaded first is named last. */
static int add_hard(struct search *search, struct word path)
{
	struct word words[GUEST_MODULES_MAX], word = path;
	unsigned count = 0;
	int error = 0;

	word.length++; /* the colon */
	for (word = word_behind(word); word.length; word = word_behind(word)) {
		if (count == GUEST_MODULES_MAX)
			return -E2BIG;
		words[count++] = word;
	}
	while (count > 0 && error == 0)
		error = add_module(search, words[--count]);
	return error;
}

static int check_module(struct search *search, struct word path, struct word line)
{
	char file[2 * PATH_MAX];

	if (is_open(search, path) || search->depth == DEPTH_MAX)
		return damaged(search, path, "needs itself, by way of what it needs", -ELOOP);
	if (!line.length || line.text[line.length] != ':')
		return damaged(search, path, "has no line of its own; is the list cut off?",
			       -EINVAL);
	if (!strchr(line.text, '\n'))
		return damaged(search, path, "ends in the middle of its line", -EINVAL);
	snprintf(file, sizeof(file), "%s/%.*s", search->directory, path.length, path.text);
	if (access(file, R_OK) == 0)
		return 0;
	diag_set(search->diag, NULL, 0, 0, "module %s: %s", file, strerror(errno));
	return -ENOENT;
}

/* Behind all that it needs. */
static int add_module(struct search *search, struct word path)
{
	struct guest_modules *modules = search->modules;
	struct word line = find_path(search->dep, path);
	int error;

	if (has_module(modules, path))
		return 0;
	error = check_module(search, path, line);
	if (error < 0)
		return error;
	search->open[search->depth++] = path;
	error = add_soft(search, path);
	if (error == 0)
		error = add_hard(search, line);
	search->depth--;
	if (error < 0)
		return error;
	if (modules->count == GUEST_MODULES_MAX)
		return -E2BIG;
	modules->paths[modules->count] = strndup(path.text, (size_t)path.length);
	return modules->paths[modules->count++] ? 0 : -ENOMEM;
}

/* ---- all of them ---- */

static int find_all(struct search *search)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < sizeof(wanted) / sizeof(*wanted); i++) {
		struct word name = word_at(wanted[i].name), path;

		if (find_path(search->builtin, name).length)
			continue;
		path = find_path(search->dep, name);
		if (path.length) {
			error = add_module(search, path);
		} else if (wanted[i].must) {
			diag_set(search->diag, NULL, 0, 0, "the kernel has no module %s in %s%s%s",
				 wanted[i].name, search->directory,
				 search->builtin ? "" : ": no modules.builtin",
				 search->dep ? ""
					     : ": no modules.dep, which depmod makes (package "
					       "kmod)");
			return -ENOENT;
		}
	}
	if (error < 0 && !search->diag->text[0])
		diag_set(search->diag, NULL, 0, 0, "modules of the kernel: %s", strerror(-error));
	return error;
}

int guest_modules_find(const char *directory, struct guest_modules *ret_modules, struct diag *diag)
{
	struct search search = {.directory = directory, .modules = ret_modules, .diag = diag};
	int error;

	*ret_modules = (struct guest_modules){0};
	if (!*directory) /* nothing is known: all that is needed may be built in */
		return 0;
	search.builtin = read_list(directory, "modules.builtin");
	search.dep = read_list(directory, "modules.dep");
	search.softdep = read_list(directory, "modules.softdep");
	search.alias = read_list(directory, "modules.alias");
	error = find_all(&search);
	if (error < 0)
		guest_modules_fini(ret_modules);
	free(search.builtin);
	free(search.dep);
	free(search.softdep);
	free(search.alias);
	return error;
}

void guest_modules_fini(struct guest_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++)
		free(modules->paths[i]);
	*modules = (struct guest_modules){0};
}
