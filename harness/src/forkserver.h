/* SPDX-License-Identifier: MIT */
/*
 * forkserver.h - worker programs that wait for cases: one for each faulty core and tool, started
 * when the first case needs it, started again when it died.
 *
 * Threads: one thread.
 */
#ifndef FORKSERVER_H
#define FORKSERVER_H

#include <sys/types.h>

#include "run_paths.h"
#include "run_signal.h"
#include "wire.h"

struct forkserver {
	pid_t pid; /* 0: not running */
	int socket;
	char core[64]; /* "": the library as it is */
	unsigned restarts;
};

#define FORKSERVERS_MAX 64u

/* Those of a run; they can serve several runs, one after the other. */
struct forkserver_pool {
	struct forkserver servers[FORKSERVERS_MAX];
	unsigned count;
	uint32_t next_id; /* of a case: what a server says late must not be taken for another's */
};

struct forkserver_options {
	const struct run_paths *paths;
	const char *under;		  /* valgrind's tool: NULL, "memcheck", "helgrind" */
	const char *log_dir;		  /* of tool or sanitizer: one file for each process */
	const struct run_signal *signals; /* what may interrupt the start */
};

/* Start, and wait for its first word. 0; -EINTR: a signal came; -EPIPE: it ended before, which may
 * not be its fault; -errno with @diag. */
int forkserver_start(struct forkserver *server, const struct forkserver_options *options,
		     struct diag *diag);
/* Close the socket, so that it ends by itself, and wait for that. Its wait status. */
int forkserver_stop(struct forkserver *server);
void forkserver_pool_stop(struct forkserver_pool *pool);
/* 1 and a report; 0: nothing there; -EPIPE: it is dead. */
int forkserver_receive(struct forkserver *server, struct wire_report *ret_report);

#endif /* FORKSERVER_H */
