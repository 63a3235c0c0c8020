/* SPDX-License-Identifier: MIT */
/*
 * run_outcome.h - what the worker told, line by line, as data. Judging it is the oracles' work.
 *
 * Threads: one owner.
 */
#ifndef RUN_OUTCOME_H
#define RUN_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"
#include "workload.h"

#define OUTCOME_TEXT_BYTES 512

enum outcome_stage { STAGE_SUBMIT, STAGE_WAIT, STAGE_DONE }; /* where its error comes from */

struct outcome_request {
	unsigned step, tensor;
	bool write, synchronous, buffered;
	enum outcome_stage stage;
	int error; /* positive errno, 0: none */
	char cause[16];
	uint64_t length, bytes, fail_offset, fail_length;
	uint32_t generation;
	int64_t size_before; /* of a file that is written; negative: it was not there */
	char text[OUTCOME_TEXT_BYTES];

	/* A swap of several tensors of a store. */
	bool swap;
	bool unnamed;	  /* a failure names no tensor: @tensor is the first one */
	uint64_t tensors; /* bit per tensor, those of `as` included */
	uint64_t stored;  /* generation: committed, read, or still there after a failure */
	uint64_t staged;  /* bytes that went through the pool */
	char place[WORKLOAD_PLACE_BYTES];
};

struct outcome_call {
	unsigned step;
	char call[16];
	int error;
	char text[OUTCOME_TEXT_BYTES];
};

/* Bytes of a store that the library says are damaged. */
struct outcome_damage {
	bool named; /* a tensor is; else it is the manifest, or the volume */
	char group[WORKLOAD_NAME_BYTES], tensor[WORKLOAD_NAME_BYTES];
	uint64_t offset, length;
	int error;
	char text[OUTCOME_TEXT_BYTES];
};

/* A verify of the whole store, and what it handed out: these of @damages. */
struct outcome_verify {
	unsigned step, damages_first, damages_count;
	int error;
	char place[WORKLOAD_PLACE_BYTES];
	char text[OUTCOME_TEXT_BYTES];
};

/* A group that was removed, or a removal that failed: then it may be there or not. */
struct outcome_removal {
	unsigned step, requests_before; /* those were told before it */
	int error;
	char place[WORKLOAD_PLACE_BYTES];
};

/* What the worker itself saw go wrong: bytes (data), or promises of the interface. */
struct outcome_remark {
	unsigned step, tensor;
	uint64_t begin, end, bad; /* of data */
	char text[OUTCOME_TEXT_BYTES];
};

/* What may be in a tensor's file once a later process looks. */
struct outcome_write {
	unsigned tensor;
	uint32_t generation;
	uint64_t length;
	bool gone;    /* of a group: it is no more, whatever its length was */
	bool durable; /* the program was promised to find it again */
};

#define OUTCOME_COUNTS 6
extern const char *const outcome_count_names[OUTCOME_COUNTS]; /* "fds", "threads", ... */
#define OUTCOME_STATS 12
extern const char *const outcome_stat_names[OUTCOME_STATS]; /* members of struct swapio_stats */

struct outcome_counts {
	bool known;
	int64_t values[OUTCOME_COUNTS];
};

struct outcome {
	struct outcome_request *requests;
	struct outcome_call *calls;
	struct outcome_remark *data, *wrong;
	struct outcome_write *writes;
	struct outcome_damage *damages;
	struct outcome_verify *verifies;
	struct outcome_removal *removals;
	unsigned requests_count, calls_count, data_count, wrong_count, writes_count;
	unsigned requests_room, calls_room, data_room, wrong_room, writes_room;
	unsigned damages_count, verifies_count, damages_room, verifies_room;
	unsigned removals_count, removals_room;
	unsigned damages_told;			 /* of them belong to a verify that is over */
	struct wire_kept kept[WIRE_TENSORS_MAX]; /* for the next process of the case */
	struct outcome_counts before, after;
	int64_t stats[OUTCOME_STATS]; /* summed over the handles that were closed */
	unsigned last_step;
	bool opened, aborted, ended;
	char wait_call[24];		 /* as the library said at open */
	char broken[OUTCOME_TEXT_BYTES]; /* "": the worker could do its work */
	size_t parsed;			 /* bytes of the text that were read */
};

/* Read the lines that came since the last time. 0, -ENOMEM, -EBADMSG (said in ->broken). */
int outcome_read(struct outcome *outcome, const struct wire_outcome *file);
/* The next process of the case begins: what is told of a whole one is to come anew. */
void outcome_next_process(struct outcome *outcome);
void outcome_reset(struct outcome *outcome); /* keeps its memory for the next case */
void outcome_free(struct outcome *outcome);

/* A swap-out to a store that succeeded. */
bool outcome_is_commit(const struct outcome_request *request);

#endif /* RUN_OUTCOME_H */
