/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - a fresh directory for a test, and scripts that run in it.
 *
 * Include after cmocka.h. Threads: one.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Below TMPDIR; its name ends in -XXXXXX or the like. 0, -1 with errno. */
static inline int scratch_make(char ret_path[PATH_MAX], const char *name)
{
	const char *place = getenv("TMPDIR");

	snprintf(ret_path, PATH_MAX, "%s/%s", place ? place : "/tmp", name);
	return mkdtemp(ret_path) ? 0 : -1;
}

/* sh -ec @script in @directory; it must succeed. */
static inline void scratch_run(const char *directory, const char *script)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (chdir(directory) == 0)
			execl("/bin/sh", "sh", "-ec", script, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#endif /* SCRATCH_H */
