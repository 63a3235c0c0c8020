/* SPDX-License-Identifier: MIT */
/*
 * wire.h - what harness and worker say to each other. Both come from one build; version and magic
 * catch a stray worker.
 *
 *   harness -> fork server  a process is wanted: struct wire_case, three texts, descriptors
 *   fork server -> harness  struct wire_report: it began, it ended
 *   case -> harness         lines of JSON in a shared file (wire_outcome), kept up to a crash
 *   case <-> harness        struct wire_pause: "I stand at step N, look at the files"
 *   harness -> case         struct wire_return, to a pause of WIRE_STEP_RETURN
 *   case -> harness         the same with WIRE_STEP_DONE: this process can serve another case
 *   harness -> case         that other: struct wire_case and its texts
 *
 * Threads: caller storage.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC 0x53575457u
#define WIRE_VERSION 7u
#define WIRE_MESSAGE_BYTES (160u * 1024)

/* Descriptors that come with a case, in this order. */
enum wire_fd { WIRE_FD_LOG, WIRE_FD_OUTCOME, WIRE_FD_PAUSE, WIRE_FD_JOURNAL, WIRE_FD_COUNT };

#define WIRE_TENSORS_MAX 64u

/* What an earlier process of the case left in the file of a tensor. */
struct wire_kept {
	uint32_t drawn;	       /* generations so far */
	uint32_t stored;       /* the one that the file holds; 0: unknown */
	uint64_t stored_bytes; /* its length */
};

/* The texts follow it, each with its NUL: work directory, schedule, workload as JSON. */
struct wire_case {
	uint32_t magic, version;
	uint32_t id;	      /* of the case with its sender */
	uint32_t may_stay;    /* its process may serve another case, if this one leaves nothing */
	uint32_t tell_arming; /* pause where the faults begin and where they are over, too */
	uint32_t backend;
	uint32_t sector_bytes, memory_align_bytes;
	uint64_t seed;
	uint64_t deadline_ns; /* virtual, in sim */
	uint64_t pause_steps; /* bit per step: pause behind it; before it, too, if it verifies */
	uint32_t image;	      /* which process of the case this is, from 1 */
	uint32_t step_first, step_end; /* its steps */
	struct wire_kept kept[WIRE_TENSORS_MAX];
	uint32_t work_dir_bytes, schedule_bytes, workload_bytes;
};

enum wire_report_kind { WIRE_HELLO, WIRE_STARTED, WIRE_ENDED, WIRE_REFUSED };

struct wire_report {
	uint32_t magic, version;
	uint32_t kind; /* enum wire_report_kind */
	uint32_t id;
	int32_t pid;	/* of the case */
	int32_t status; /* ended: wait status; refused: -errno */
};

struct wire_pause {
	uint32_t id, step; /* or WIRE_STEP_DONE */
	uint32_t before;   /* the step is still to come */
};
#define WIRE_STEP_DONE UINT32_MAX
#define WIRE_STEP_ARM (UINT32_MAX - 1)	  /* counting begins: faults of a device, too */
#define WIRE_STEP_DISARM (UINT32_MAX - 2) /* and ends */
#define WIRE_STEP_RETURN (UINT32_MAX - 3) /* the device is wanted back: struct wire_return */

/* Whether it had been out, and what of the tensors is known to lie on it. */
struct wire_return {
	uint32_t id, is_back;
	struct wire_kept kept[WIRE_TENSORS_MAX]; /* without what was drawn */
};

/* The outcome file: this header, then text. It is mapped whole and grows by steps below it. */
#define WIRE_OUTCOME_BYTES_MAX ((size_t)256 << 20)
#define WIRE_OUTCOME_BYTES_STEP ((size_t)1 << 20)
struct wire_outcome {
	uint64_t used; /* bytes of whole lines (atomic) */
	uint32_t full; /* lines were lost: the case is broken */
	uint32_t unused;
	char text[];
};

/* The probe that is written and read once the faults are over. */
#define WIRE_PROBE_FILE "aftermath.probe"
#define WIRE_PROBE_BYTES 8191u
#define WIRE_PROBE_TENSOR 127u

/* Send with @count descriptors, none of which is closed. 0, -errno. */
int wire_send(int socket, const void *message, size_t bytes, const int *fds, unsigned count);
/* Receive at most @bytes and @count descriptors (-1 where none came). Bytes, 0 at the end, -errno.
 */
long wire_receive(int socket, void *message, size_t bytes, int *ret_fds, unsigned count);
/* Is it a case, of this version, with as many texts as it says? */
bool wire_case_is_whole(const void *message, size_t bytes);

#endif /* WIRE_H */
