/* SPDX-License-Identifier: MIT */
/*
 * schedule.h - the schedule language: parse, print, match. One library for the preload and
 * the harness; FAULTS in docs/ fixes the meaning.
 *
 *   POINT[#WHEN] {CONDITION} => KIND[:ARGUMENT][ OPTION]      one a line, or separated by ;
 *   WHEN       N | N.. | N..M | N..+S | N..M+S | *      (strace's grammar; default *)
 *   CONDITION  op=read|write  fd=N  path=GLOB  offset=A..B  length=A..B  ready=N  depth=N
 *              ctx=N  thread=N  proc=N  image=N  call=io_getevents|io_pgetevents
 *   numbers of bytes take K M G; ranges are half open, A.. and ..B allowed
 *   the device of a guest (nvme.read, nvme.write, nvme.flush) takes offset=, length=, depth=
 *   OPTION     after (res)   direct (open)   masked | ignored | restart (signal)
 *   a line that starts with # is a comment
 *
 * Threads: a schedule is parsed by one thread; schedule_match() is safe from many.
 */
#ifndef SWAPFAULT_SCHEDULE_H
#define SWAPFAULT_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "points.h"

#define SCHEDULE_FAULTS_MAX 64
#define SCHEDULE_PATH_BYTES 128
#define SCHEDULE_IMAGES_MAX 64
#define SCHEDULE_CONTEXTS 64	/* contexts in use at once that io_event faults count apart */
#define SCHEDULE_ANY UINT64_MAX /* a condition that was not given */

enum fault_op { FAULT_OP_ANY, FAULT_OP_READ, FAULT_OP_WRITE };
enum fault_call_name { FAULT_CALL_ANY, FAULT_CALL_GETEVENTS, FAULT_CALL_PGETEVENTS };
enum fault_until {
	FAULT_UNTIL_NONE,
	FAULT_UNTIL_EVENT,
	FAULT_UNTIL_WAIT,
	FAULT_UNTIL_NEVER,
	FAULT_UNTIL_REQUEST, /* of the device: until_point says of which point */
	FAULT_UNTIL_TIME,    /* of the device, where no time is virtual */
};

/* How a device is pulled out: `remove:surprise`, `remove:orderly`. */
enum fault_removal { FAULT_REMOVAL_SURPRISE, FAULT_REMOVAL_ORDERLY, FAULT_REMOVALS };

struct fault_when {
	uint64_t first; /* >= 1 */
	uint64_t last;	/* SCHEDULE_ANY: open end */
	uint64_t step;	/* >= 1 */
};

struct fault_range {
	uint64_t begin;
	uint64_t end; /* exclusive; SCHEDULE_ANY: open end */
};

struct fault {
	enum point_id point;
	enum kind_id kind;
	struct fault_when when;
	/* conditions */
	enum fault_op op;
	int64_t fd;			/* -1: any */
	char path[SCHEDULE_PATH_BYTES]; /* glob on the path below the work directory; "": any */
	struct fault_range offset;
	struct fault_range length;
	uint64_t ready; /* a state to be made; SCHEDULE_ANY: not given, which means 0 */
	uint64_t depth; /* requests in flight on the context, at least */
	uint64_t ctx;	/* contexts, threads, processes are numbered from 1 in order of creation */
	uint64_t thread;
	uint64_t proc;
	uint64_t image; /* which process image of the case, from 1; SCHEDULE_ANY: the first */
	enum fault_call_name call;
	/* argument of the kind */
	/* errno, count, signal, seed, byte, bytes (negative for lie), offset, enum fault_removal */
	int64_t value;
	enum fault_until until;
	uint64_t until_number; /* event, wait or request number; milliseconds */
	enum point_id until_point;
	bool after, direct, masked, ignored, restart;
	/* where it was written */
	unsigned line, column;
	/* matching state, atomics: calls that passed the conditions; times it fired */
	uint64_t seen;
	uint64_t fired;
	/* the same as seen for each context: its number in the upper half, the count in the lower;
	 * context N stands in slot N modulo their number */
	uint64_t seen_on[SCHEDULE_CONTEXTS];
};

struct schedule {
	unsigned count;
	unsigned image; /* that of this process: faults of others do not fire; 0 means 1 */
	struct fault faults[SCHEDULE_FAULTS_MAX];
};

struct schedule_error {
	unsigned line, column; /* from 1 */
	char text[384];	       /* what is wrong, the value, what is allowed */
};

/* Parse @text. 0; -EINVAL with @error filled (place, value, what is allowed) and nothing else;
 * -ENOMEM, likewise. */
int schedule_parse(const char *text, struct schedule *ret_schedule, struct schedule_error *error);

/* Print one fault canonically (parse of the print gives the same fault); what snprintf returns. */
int fault_print(const struct fault *fault, char *text, size_t text_bytes);
int schedule_print(const struct schedule *schedule, char *text, size_t text_bytes);

/* The effect of one fault as configured (io_submit error:EAGAIN is transparent although error in
 * general is not; lie:-N must be detected, and so on): refines kind_info()->effect. */
enum effect fault_effect(const struct fault *fault);

/* Does it end the process as a loss of power would, or as SIGKILL does? */
bool fault_crashes(const struct fault *fault);
bool fault_kills(const struct fault *fault);
/* Does the device under a guest lose its power, and the guest with it? */
bool fault_cuts_power(const struct fault *fault);
bool schedule_cuts_power(const struct schedule *schedule);
/* Any of the three. */
bool fault_ends_process(const struct fault *fault);

/* Of which process image of a case it is, and up to which there are any; from 1. */
unsigned fault_image(const struct fault *fault);
unsigned schedule_images(const struct schedule *schedule);

/* Does the device under a guest carry it out? Nothing but a guest's device can. */
bool fault_is_device(const struct fault *fault);
/* The first fault that needs a guest's device; NULL: none. */
const struct fault *schedule_find_device(const struct schedule *schedule);
/* Is the device pulled out? */
bool fault_removes(const struct fault *fault);
const char *fault_removal_name(enum fault_removal way); /* "surprise" ... */
/* The first fault that does; NULL: none. */
const struct fault *schedule_find_removal(const struct schedule *schedule);

/* One call or request as the conditions see it; unknown fields: SCHEDULE_ANY, -1, NULL. */
struct fault_call {
	enum point_id point;
	enum fault_op op;
	enum fault_call_name call;
	int64_t fd;
	const char *path; /* relative to the work directory, or NULL */
	uint64_t offset, length;
	uint64_t depth;
	uint64_t ctx, thread, proc;
	bool direct; /* O_DIRECT asked (open) */
	/* io_event: number of the request on its context. Counting is per fault over what
	 * passes the conditions, so `ctx=2` plus `#1` is the first request of context 2. Without
	 * ctx=, #N of io_event counts per context: N-th request of each context. */
};

#define FIRING_MAX 8
struct firing {
	unsigned count;
	struct fault *faults[FIRING_MAX]; /* in schedule order */
};

/* Forget what was counted: the arm barrier. */
void schedule_reset(struct schedule *schedule);

/* Count @call against every fault of its point; collect those that fire now. ready= is not a filter
 * (it is a state to be made): the caller of schedule_match makes it. */
void schedule_match(struct schedule *schedule, const struct fault_call *call,
		    struct firing *ret_firing);

#endif /* SWAPFAULT_SCHEDULE_H */
