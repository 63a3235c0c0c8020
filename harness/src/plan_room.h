/* SPDX-License-Identifier: MIT */
/*
 * plan_room.h - does a case fit into this machine's memory and onto its disk?
 *
 * Threads: one thread.
 */
#ifndef PLAN_ROOM_H
#define PLAN_ROOM_H

#include "case.h"

/* What there is, asked once for a plan. What cannot be asked counts as plenty. */
struct plan_room {
	const char *disk;      /* where the files of host lie */
	uint64_t memory_bytes; /* of all processes */
	uint64_t files_bytes;  /* of files in memory: where those of sim lie */
	uint64_t disk_bytes;
};

void plan_room_measure(struct plan_room *room, const char *disk);
/* "" if the case fits, else a sentence with both numbers. */
void plan_room_check(const struct plan_room *room, const struct workload *workload,
		     enum target target, char *reason, size_t reason_bytes);

#endif /* PLAN_ROOM_H */
