/* SPDX-License-Identifier: MIT */
/*
 * exec.h - any program, also one that nobody here wrote, under the preload and a schedule.
 *
 * Threads: one thread.
 */
#ifndef EXEC_H
#define EXEC_H

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

#include "eventlog.h"
#include "result.h"

#define EXEC_STATUS_FAILURE (-1) /* any but 0 */

struct exec_options {
	const struct schedule *schedule;
	enum target target;
	uint64_t seed;
	const char *work_dir; /* absolute: file points match below it; NULL: where we are */
	bool arm_at_open;     /* count from the first open below work_dir */
	bool follow_exec;     /* programs that it executes are under the schedule, too */
	const char *under;    /* NULL, "memcheck", "helgrind" */
	int64_t deadline_ns;  /* 0: none. With one, the program has a process group of its own */
	uint64_t sim_deadline_ns;		   /* in virtual time; 0: the preload's own */
	unsigned sector_bytes, memory_align_bytes; /* of sim's device; 0: the preload's own */
	int status;		  /* that a correct program ends with, or EXEC_STATUS_FAILURE */
	const char *directory;	  /* where it runs; NULL: here */
	const int *stdio;	  /* three descriptors; NULL: ours */
	char *const *env;	  /* NAME=VALUE beside our own; NULL: none */
	const char *program;	  /* where argv[0] was found */
	const char *loader;	  /* with @under: the program's dynamic loader */
	const char *preload;	  /* absolute path of libswapfault.so */
	const char *suppressions; /* with @under: what is not the program's fault */
	char *const *argv;	  /* the program and its arguments */
};

/* How it ended. */
struct exec_end {
	int status;	  /* as waitpid says */
	bool overdue;	  /* we killed it when its time was up */
	bool interrupted; /* we were told to end, and passed that on */
	uint64_t duration_ns;
};

/* Start it with the signal mask @mask, and return when it runs. 0; -errno: nothing ran. */
int exec_start(const struct exec_options *options, const sigset_t *mask, int log_fd,
	       pid_t *ret_pid);
/* Run it to its end. 0; -errno with @diag when it cannot be started: then nothing ran. */
int exec_run(const struct exec_options *options, int log_fd, struct eventlog *log,
	     struct exec_end *ret_end, struct diag *diag);

/* Where execvp() would find it; -ENOENT, -EACCES, -EISDIR, -ENAMETOOLONG. */
int exec_find_program(const char *name, char *path, size_t path_bytes);
/* The dynamic loader that the program at @path names; -ENOEXEC if it is no dynamic ELF program. */
int exec_find_loader(const char *path, char *loader, size_t loader_bytes);
/* Why a preload does not reach the program at @path: "it is linked statically". "" if nothing
 * shows. */
void exec_explain_silence(const char *path, char *text, size_t text_bytes);

/* The environment and command line of the child; exits with 127 on failure after writing errno. */
void exec_become(const struct exec_options *options, const char *log_path, int error_fd)
	__attribute__((noreturn));

/* Fill verdict, class, reason, findings and faults of @result. */
void exec_judge(const struct exec_options *options, const struct exec_end *end,
		struct eventlog *log, struct case_result *result);
/* The story, for people. */
void exec_tell(const struct exec_options *options, const struct exec_end *end,
	       const struct case_result *result, FILE *stream);

#endif /* EXEC_H */
