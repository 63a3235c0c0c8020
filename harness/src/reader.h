/* SPDX-License-Identifier: MIT */
/*
 * reader.h - the independent reader: another process than the one that wrote reads the files
 * itself, with plain buffered reads, and compares. Large files are read by a child, so that the run
 * goes on.
 *
 * Threads: one thread.
 */
#ifndef READER_H
#define READER_H

#include <sys/types.h>

#include "reader_look.h"
#include "result.h"
#include "run_outcome.h"

struct reader_job {
	const char *work_dir;
	const struct workload *workload;
	const struct outcome *outcome;
	uint64_t seed;
	bool from_medium;	 /* real files: drop the page cache first */
	unsigned step;		 /* whose writes are looked at */
	unsigned request_first;	 /* in the outcome; what came before was looked at */
	struct store_look *look; /* to be filled in, of a step verify; else NULL */
	bool before;		 /* the step is still to come */
	const char *after;	 /* reader_check_crash(): what ended the process, "the crash" */
};

/* Steps behind which the case has to pause, because a later step changes what is to be read, or
 * the library just judged it. */
uint64_t reader_pause_steps(const struct workload *workload);
/* The step whose files are read after the end of that process of the case, or -1. */
int reader_last_step(const struct workload *workload, unsigned image);

/* Bytes that reader_check() would read. */
uint64_t reader_bytes(const struct reader_job *job);
/* Read and compare; what is wrong is added to @result. */
void reader_check(const struct reader_job *job, struct case_result *result);

/* reader_crash.c: the power was cut, or the process killed. Compare what the files hold with what
 * was begun and what was made durable; @kept, one for each tensor, learns what is known to be
 * there. */
void reader_check_crash(const struct reader_job *job, enum expect_data expect,
			struct wire_kept *kept, struct case_result *result);

struct reader {	   /* a child that does it */
	pid_t pid; /* 0: none */
	int pipe;
};
int reader_fork(struct reader *reader, const struct reader_job *job); /* 0, -errno */
/* The pipe is readable: take what the child found. */
void reader_take(struct reader *reader, struct case_result *result);
void reader_kill(struct reader *reader);

#endif /* READER_H */
