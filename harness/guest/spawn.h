/* SPDX-License-Identifier: MIT */
/*
 * spawn.h - runs a small program to its end and keeps what it said.
 *
 * Threads: caller storage. A program dies with the thread that started it.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <sys/types.h>

#include "guest.h"

struct spawn_result {
	int status;	   /* wait status */
	char *out, *error; /* what it wrote; "" if nothing. To be freed by spawn_fini(). */
};

struct spawn_options {
	char *const *argv;		/* searched in PATH */
	const char *const *environment; /* name, value, ... NULL: added to ours; may be NULL */
	unsigned deadline_ms;
	const struct guest_interrupt *interrupt; /* may be NULL */
	int fd; /* stays open in it under the same number; -1 none */
};

/* 0; -ETIMEDOUT or -EINTR: it was killed; -ENOSYS: no pidfd_open here (before Linux 5.3, or under
 * valgrind); -errno. Status 127: there is no such program. */
int spawn_run(const struct spawn_options *options, struct spawn_result *ret_result);
/* Is there such a program in PATH? */
bool spawn_can(const char *program);
void spawn_fini(struct spawn_result *result);

/* In a child, before exec: die with @parent's thread, signals and their mask as a new program
 * expects them. */
void spawn_prepare_child(pid_t parent);

#endif /* SPAWN_H */
