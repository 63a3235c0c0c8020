/* SPDX-License-Identifier: MIT */
/*
 * run_job.h - one place where cases run, one after the other: its event log, outcome file, work
 * directory and sockets serve case after case. A case with a step restart takes several processes,
 * one after the other.
 *
 *   IDLE -> STARTING (sent) -> RUNNING -> ENDED -> judged -> IDLE
 *                               |  ^
 *                               v  |
 *                              READING (the case pauses, or has ended, while files are read)
 *
 * A process whose case left nothing behind stays for the next one: a fork costs more than a case.
 * What comes of a case that was not the first of its process counts only when it passed. Anything
 * else is run again in a new process, and that is what is reported.
 *
 * Threads: one thread.
 */
#ifndef RUN_JOB_H
#define RUN_JOB_H

#include "forkserver.h"
#include "oracle.h"
#include "reader.h"
#include "run.h"
#include "work_dir.h"

enum job_state { JOB_IDLE, JOB_STARTING, JOB_RUNNING, JOB_READING, JOB_ENDED };

#define JOB_STORY_BYTES 600

struct job {
	unsigned number;
	const struct run_options *options;
	bool in_memory; /* for sim: its work directory needs no disk */
	enum job_state state;
	const struct test_case *test_case;
	struct forkserver *server;
	uint32_t id; /* of the case with its server */
	int log_fd, outcome_fd, pause_ours, pause_theirs, journal_fd;
	int stdout_fd, stderr_fd; /* of a program while its case lasts, else -1 */
	struct eventlog *log;
	struct wire_outcome *outcome_file;
	struct outcome outcome;
	struct case_result result;
	unsigned image;	    /* which of the case's processes this is, from 0 */
	uint64_t log_first; /* its first record */
	bool cut;	    /* a fault of the schedule ended it */
	uint64_t steps_cut; /* bit per step that a process so ended did not come to the end of */
	pid_t pids[WORKLOAD_STEPS_MAX]; /* of all of them */
	pid_t pid;
	pid_t stays;   /* waits for its next case; 0: none does */
	bool may_stay; /* the process of this case, when it is over */
	bool again;    /* this case is not the first of its process */
	int status;
	bool ended, overdue, asks_jobctl;
	bool armed;		 /* the device's faults fire */
	uint64_t steps_returned; /* bit per step that put the device back */
	uint64_t began_ns, due_ns, patience;
	uint64_t pause_steps;
	bool paused; /* the case waits for an answer */
	bool pause_before;
	unsigned pause_step, requests_read;
	struct store_look *look; /* of the verify that runs; a child of ours sees it, too */
	struct store_looks looks;
	struct reader reader;
	char story[JOB_STORY_BYTES];
	char work_dir[WORK_DIR_BYTES];
};

uint64_t job_now_ns(void);

/* Make a job's files and its directory; -errno. */
int job_init(struct job *job, const struct run_options *options, const struct work_root *root,
	     bool in_memory, unsigned number);
void job_fini(struct job *job);

/* Send the case, to the process that stays if @may_stay. 0; -errno: it is not running, say so.
 * @patience: factor on deadlines of real time. */
int job_start(struct job *job, const struct test_case *test_case, struct forkserver *server,
	      uint32_t id, unsigned patience, bool may_stay);
/* run_device.c: the device of the case, while it has one with faults. */
bool job_heeds_device(const struct job *job);
/* Nothing that lies on it can be read. */
bool job_device_is_out(const struct job *job);
/* Its faults begin, or end; nobody is left for whom they could fire. */
void job_switch_device(struct job *job, bool arm);
void job_disarm_device(struct job *job);
/* What the faults did that it keeps. */
void job_ask_device(struct job *job);
/* The case waits for it to be put back. */
void job_return_device(struct job *job);
/* What a reader is told who looks behind that step. */
struct reader_job job_reader_job(const struct job *job, unsigned step);

/* run_share.c: can its process be shared with other cases? */
bool job_case_shares(const struct test_case *test_case);
/* The process that stays is not wanted any more. */
void job_dismiss(struct job *job);
int job_reset(struct job *job, const struct test_case *test_case);
/* Things that happen to it. */
void job_started(struct job *job, pid_t pid);
void job_ended(struct job *job, int status);
void job_pause_readable(struct job *job);
void job_reader_readable(struct job *job);
void job_device_readable(struct job *job);
void job_check_deadline(struct job *job, uint64_t now_ns);
void job_kill(struct job *job);
/* The process ended, and everything was read. */
/* Does its process say where its faults begin and end? */
bool job_tells_arming(const struct job *job);
bool job_is_done(const struct job *job);
/* The case has steps for another process, and the last one ended as it had to. */
bool job_goes_on(const struct job *job);
/* Judge what is of the process alone, and send the case again for the next one. 0, -errno. */
int job_next_process(struct job *job, struct forkserver *server, uint32_t id, bool emulated);
/* Its device may have lost its power: then this machine's part in the case is over. */
void job_check_power(struct job *job);
/* Its case is over: the verdict. */
void job_judge(struct job *job, bool emulated);

/* run_program.c: likewise for a case whose scenario names a program. */
static inline bool job_is_program(const struct job *job)
{
	return job->test_case && job->test_case->program;
}
int job_start_program(struct job *job, const struct test_case *test_case, const char *preload,
		      unsigned patience, const sigset_t *mask);
void job_poll_program(struct job *job);
void job_judge_program(struct job *job);
void job_end_program(struct job *job); /* forget its words, once it is judged or was killed */

/* run_resume.c: what a case has come to, for another machine (a new reference, NULL: no memory);
 * and there, into a job that was reset. 0; -EBADMSG, -ENOMEM, -errno of its directory. */
json_t *job_state(const struct job *job);
int job_take_state(struct job *job, const json_t *state);

/* What the kernel complained of, and no fault explains, is found. */
void job_ask_kernel(struct job *job);

/* run_keep.c: what a person needs to look into a case that did not pass. */
void job_keep(struct job *job, struct work_root *root);
#define RUN_KEEP_NAME_BYTES 120
/* The case's name as a file name: "0007-signal-two-of-four-ready-workers=1-sim". */
void run_keep_name(const struct test_case *test_case, char name[RUN_KEEP_NAME_BYTES]);

#endif /* RUN_JOB_H */
