/* SPDX-License-Identifier: MIT */
/*
 * plan_files.c - from paths on the command line to scenario files.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plan_internal.h"
#include "same_file.h"

#define DEPTH_MAX 8
#define FILES_MAX 4096

struct search {
	struct plan_files *files;
	struct diag *diag;
	unsigned named; /* bit per name of by_name_only: it stands in the path that was given */
};

/* Directories that nobody enters who did not name them: one holds what must fail, the other what
 * takes minutes. */
static const char *const by_name_only[] = {"meta", "soak"};

#define BY_NAME_ONLY (sizeof(by_name_only) / sizeof(*by_name_only))

/* Bit of a directory's name; 0 for others. */
static unsigned bit_of(const char *name)
{
	for (unsigned i = 0; i < BY_NAME_ONLY; i++)
		if (strcmp(name, by_name_only[i]) == 0)
			return 1u << i;
	return 0;
}

static int refuse(struct search *search, const char *path, int error)
{
	diag_set(search->diag, path, 0, 0, "%s", strerror(error));
	return -error;
}

static int add_file(struct search *search, const char *path)
{
	struct plan_files *files = search->files;
	char **grown;

	for (unsigned i = 0; i < files->count; i++)
		if (same_file(files->paths[i], path))
			return 0;
	if (files->count == FILES_MAX)
		return diag_set(search->diag, path, 0, 0, "more than %d scenarios", FILES_MAX);
	grown = realloc(files->paths, (files->count + 1) * sizeof(*grown));
	if (!grown)
		return refuse(search, path, ENOMEM);
	files->paths = grown;
	grown[files->count] = strdup(path);
	if (!grown[files->count])
		return refuse(search, path, ENOMEM);
	files->count++;
	return 0;
}

static bool is_scenario(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && name[0] != '.' && strcmp(name + length - 5, ".yaml") == 0;
}

static int add_directory(struct search *search, const char *path, unsigned depth);

static int add_entry(struct search *search, const char *directory, const char *name, unsigned depth)
{
	size_t length = strlen(directory);
	bool slash = length && directory[length - 1] == '/';
	struct stat status;
	char *path;
	int result = 0;

	if (name[0] == '.')
		return 0;
	if (asprintf(&path, "%s%s%s", directory, slash ? "" : "/", name) < 0)
		return refuse(search, directory, ENOMEM);
	if (lstat(path, &status) < 0)
		result = refuse(search, path, errno);
	else if (S_ISDIR(status.st_mode) && !(bit_of(name) & ~search->named))
		result = add_directory(search, path, depth + 1);
	else if (!S_ISDIR(status.st_mode) && is_scenario(name))
		result = add_file(search, path);
	free(path);
	return result;
}

static int add_directory(struct search *search, const char *path, unsigned depth)
{
	struct dirent **entries;
	int count, result = 0;

	if (depth > DEPTH_MAX)
		return diag_set(search->diag, path, 0, 0, "more than %d directories deep",
				DEPTH_MAX);
	count = scandir(path, &entries, NULL, alphasort);
	if (count < 0)
		return refuse(search, path, errno);
	for (int i = 0; i < count; i++) {
		if (result == 0)
			result = add_entry(search, path, entries[i]->d_name, depth);
		free(entries[i]);
	}
	free(entries);
	return result;
}

static unsigned names_in(const char *path)
{
	char copy[DIAG_FILE_BYTES], *rest = copy, *word;
	unsigned named = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((word = strsep(&rest, "/")) != NULL)
		named |= bit_of(word);
	return named;
}

static int add_path(struct search *search, const char *path)
{
	unsigned before = search->files->count;
	struct stat status;
	int result;

	if (stat(path, &status) < 0)
		return refuse(search, path, errno);
	if (!S_ISDIR(status.st_mode))
		return add_file(search, path);
	search->named = names_in(path);
	result = add_directory(search, path, 0);
	if (result == 0 && search->files->count == before && before == 0)
		return diag_set(search->diag, path, 0, 0, "no scenario in it, files end in .yaml");
	return result;
}

int plan_files_find(const char *const *paths, unsigned count, struct plan_files *ret_files,
		    struct diag *diag)
{
	struct plan_files files = {0};
	struct search search = {.files = &files, .diag = diag};
	int result = 0;

	for (unsigned i = 0; result == 0 && i < count; i++)
		result = add_path(&search, paths[i]);
	if (result < 0)
		plan_files_fini(&files);
	else
		*ret_files = files;
	return result;
}

void plan_files_fini(struct plan_files *files)
{
	for (unsigned i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
	*files = (struct plan_files){0};
}
