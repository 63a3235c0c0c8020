/* SPDX-License-Identifier: MIT */
/*
 * eventlog.h - the shared-memory event log: format, writer (preload), reader (harness).
 *
 * A log is a file that both sides map. It starts with one header page and grows by whole segments
 * of records; record i lives in segment i / EVENTLOG_SEGMENT_RECORDS. The commit word of a record
 * is written last, so a reader sees whole records only, also after the program crashed.
 *
 * Threads: many writers (also in signal handlers and in forked children), one reader.
 */
#ifndef SWAPFAULT_EVENTLOG_H
#define SWAPFAULT_EVENTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENTLOG_MAGIC 0x474f4c4654504157ull
#define EVENTLOG_VERSION 1
#define EVENTLOG_HEADER_BYTES 4096
#define EVENTLOG_RECORD_BYTES 128
#define EVENTLOG_SEGMENT_RECORDS 512u
#define EVENTLOG_SEGMENTS_MAX 4096u /* 2 Mi records; more is an overflow, and that is `broken` */

enum eventlog_type {
	EVENTLOG_NONE,
	EVENTLOG_ARM, /* counting starts */
	EVENTLOG_DISARM,
	EVENTLOG_CALL,	   /* an intercepted call returned: point, number, result (-errno) */
	EVENTLOG_SUBMIT,   /* a request was accepted: ctx, event, op, fd, offset, length, address */
	EVENTLOG_COMPLETE, /* the back end is done with it: result is the real one */
	EVENTLOG_DELIVER,  /* the program was given its event: result is the reported one */
	EVENTLOG_INJECT,   /* a fault took effect where the program can see it: fault, number */
	EVENTLOG_MISSED,   /* a fault fired but could not take effect; text says why */
	EVENTLOG_CHECK,	   /* the preload caught the program: result is an enum eventlog_check, text
			    * says it in words */
	EVENTLOG_FILE,	   /* text is a path; fd is the descriptor it was opened as */
	EVENTLOG_NOTE,	   /* text for the reader of a report */
	EVENTLOG_HANG,	   /* sim: every thread is blocked and nothing can wake one */
};

/* What a program was caught at. */
enum eventlog_check {
	EVENTLOG_CHECK_MEMORY,	   /* memory in flight was changed, shared or given back */
	EVENTLOG_CHECK_LEFT,	   /* a context was left behind at exit */
	EVENTLOG_CHECK_WAIT,	   /* it waits, for ever if need be, for more than can come */
	EVENTLOG_CHECK_TIMED_WAIT, /* the same with a time-out: it loses that time at most */
};

/* Exit status of a process that a `crash` fault ended. */
#define EVENTLOG_EXIT_CRASH 113

#define EVENTLOG_INJECTED 0x1u /* this record was caused by a fault */

struct eventlog_record {
	uint32_t commit; /* EVENTLOG_COMMITTED, written last with release order */
	uint8_t type;	 /* enum eventlog_type */
	uint8_t flags;
	uint8_t point;	   /* enum point_id */
	uint8_t op;	   /* enum fault_op */
	uint64_t time_ns;  /* CLOCK_MONOTONIC, or virtual time in sim */
	uint32_t pid, tid; /* tid: thread number from 1, not the kernel's */
	uint32_t ctx;	   /* context number from 1 */
	uint32_t number;   /* of the call at its point since arming, from 1; or of the event */
	uint32_t fault;	   /* index in the schedule plus 1; 0: none */
	int32_t fd;
	uint64_t offset, length, address;
	int64_t result;
	char text[56]; /* NUL-terminated; longer texts are cut */
};

_Static_assert(sizeof(struct eventlog_record) == EVENTLOG_RECORD_BYTES, "the format is fixed");

#define EVENTLOG_COMMITTED 0x4c4f4721u

/* What the preload asks the harness to do to its process: it cannot do it to itself. */
enum eventlog_request {
	EVENTLOG_REQUEST_NONE,
	EVENTLOG_REQUEST_STOP, /* SIGSTOP, wait until stopped, SIGCONT, once tid sits in the wait */
	EVENTLOG_REQUEST_ATTACH, /* PTRACE_ATTACH, wait, PTRACE_DETACH, likewise */
};

struct eventlog_header {
	uint64_t magic;
	uint32_t version;
	uint32_t segments;  /* segments in the file (grown by writers) */
	uint64_t head;	    /* records reserved so far (atomic) */
	uint32_t overflow;  /* records lost (atomic) */
	uint32_t handshake; /* pid of the program once the preload is in place, 0 before */
	uint32_t backend;   /* 1 kernel, 2 sim: what really ran */
	uint32_t waits_getevents, waits_pgetevents; /* which wait calls the program made */
	uint32_t uring; /* the program set up an io_uring: it is outside our reach */
	/* request channel: preload writes tid, sysnr, then request; the harness carries it out and
	 * writes answer = 1 (done) or negative errno, then request = NONE, then wakes the futex
	 * `request` */
	uint32_t request;
	int32_t request_tid; /* the kernel's */
	int32_t request_pid;
	int32_t answer;
};

struct eventlog; /* an open log */

/* Harness: make a fresh, empty log in the open file @fd (kept by the caller; best a memfd with
 * MFD_ALLOW_SEALING). 0, -errno. */
int eventlog_init(int fd);
/* Harness: empty a log that it has open, as eventlog_init() does, and leave its pages in place for
 * whoever has them mapped. 0, -errno. */
int eventlog_reset(struct eventlog *log);
/* Map a log, to write and to read; the log keeps a descriptor of its own, above 900 where possible,
 * O_CLOEXEC. 0; -EINVAL: no log or another version; -errno. */
int eventlog_open(int fd, struct eventlog **ret_log);
void eventlog_close(struct eventlog *log);
struct eventlog_header *eventlog_header(struct eventlog *log);
/* Append one record, its commit word aside: signal safe, no locks, never blocks on the reader. What
 * has no room counts as overflow. errno may change. */
void eventlog_append(struct eventlog *log, const struct eventlog_record *record);
/* Reader: @index from 0; NULL past the last, and for a record that was never committed or that
 * nobody can have written (a corrupt file). Valid until eventlog_close(). */
const struct eventlog_record *eventlog_get(struct eventlog *log, uint64_t index);
uint64_t eventlog_count(struct eventlog *log);
const char *eventlog_type_name(enum eventlog_type type);

/* How much of the order is part of a hash. */
enum eventlog_scope {
	EVENTLOG_SCOPE_REQUESTS, /* what became of each request: equal on targets that agree */
	EVENTLOG_SCOPE_ORDER,	 /* and all records in their order, for each context and, outside of
				  * contexts, each thread: equal when a case replays */
};
/* Reader: a hash of what happened, without time, pid, thread and address, and whatever the
 * interleaving between contexts, threads and processes was. 0, -ENOMEM. */
int eventlog_hash(struct eventlog *log, enum eventlog_scope scope, uint64_t *ret_hash);

#endif /* SWAPFAULT_EVENTLOG_H */
