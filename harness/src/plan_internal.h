/* SPDX-License-Identifier: MIT */
/*
 * plan_internal.h - the parts of planning: which files, what the machine lacks, how to repeat a
 * case.
 *
 * Threads: one thread.
 */
#ifndef PLAN_INTERNAL_H
#define PLAN_INTERNAL_H

#include <stdio.h>

#include "case.h"

struct plan_files {
	unsigned count;
	char **paths;
};

/* Scenario files of the paths, directories searched in order of names, each file once. A directory
 * named meta is entered only when a path names it or lies in it. */
int plan_files_find(const char *const *paths, unsigned count, struct plan_files *ret_files,
		    struct diag *diag);
void plan_files_fini(struct plan_files *files);

/* Ask the machine. 0 when it has @need, 1 with a sentence in @reason when it does not. */
int plan_need_check(const char *need, enum target target, const char *work_root, char *reason,
		    size_t reason_bytes);

/* Of "program-NAME" the name; NULL: @need is none of those. */
const char *plan_need_program(const char *need);

/* @text as one word of a POSIX shell, appended to an open stream. */
void plan_quote(FILE *stream, const char *text);
/* "signal/two-of-four-ready" of ".../signal/two-of-four-ready.yaml" into @text. */
void plan_scenario_name(const char *path, char *text, size_t text_bytes);

#endif /* PLAN_INTERNAL_H */
