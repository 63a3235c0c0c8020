/* SPDX-License-Identifier: MIT */
/*
 * run_guest_files.c - the scenarios of the plan, the files that they name, and the programs that
 * they run, as they go into a guest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_guest_internal.h"

struct list {
	struct guest_file *files;
	unsigned count, room;
};

static bool has_file(const struct list *list, const char *path)
{
	for (unsigned i = 0; i < list->count; i++)
		if (strcmp(list->files[i].path, path) == 0)
			return true;
	return false;
}

/* There is always room for one more. */
static int make_room(struct list *list)
{
	unsigned room = 2 * list->room + 16;
	struct guest_file *grown;

	if (list->count + 1 < list->room)
		return 0;
	grown = reallocarray(list->files, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->files = grown;
	list->room = room;
	return 0;
}

static int add_file(struct list *list, const char *path, const char *source)
{
	struct guest_file file = {strdup(path), strdup(source)};

	if (!file.path || !file.source || make_room(list) < 0)
		return -ENOMEM;
	list->files[list->count++] = file;
	return 0;
}

static int add_given(struct list *list, const char *path)
{
	char *there = guest_program_given(path);
	int error = 0;

	if (!there)
		return -errno;
	if (!has_file(list, there))
		error = add_file(list, there, path);
	free(there);
	return error;
}

static int add_programs(struct list *list, const struct test_case *test_case)
{
	char reason[GUEST_PROGRAM_REASON_BYTES] = "";
	struct guest_program_files *found = malloc(sizeof(*found));
	int error =
		found ? guest_program_find(test_case->scenario, test_case->program, found, reason)
		      : -ENOMEM;

	for (unsigned i = 0; error == 0 && i < found->count; i++)
		if (!has_file(list, found->files[i].path))
			error = add_file(list, found->files[i].path, found->files[i].source);
	free(found);
	return error;
}

static int add_case(struct list *list, const struct test_case *test_case, bool first)
{
	int error = first ? add_given(list, test_case->scenario->path) : 0;

	if (error == 0 && test_case->checkpoint)
		error = add_given(list, test_case->checkpoint);
	return error < 0 || !test_case->program ? error : add_programs(list, test_case);
}

int guest_files_find(const struct plan *plan, struct guest_file **ret_files, unsigned *ret_count)
{
	const struct scenario *last = NULL;
	struct list list = {0};
	int error = make_room(&list);

	for (unsigned i = 0; error == 0 && i < plan->count; i++) {
		const struct test_case *test_case = &plan->cases[i];

		if (!guest_lane_has(test_case))
			continue;
		error = add_case(&list, test_case, test_case->scenario != last);
		last = test_case->scenario;
	}
	*ret_files = list.files;
	*ret_count = list.count;
	return error;
}
