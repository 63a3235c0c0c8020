/* SPDX-License-Identifier: MIT */
/*
 * eventlog_segments.h - the file of an event log, mapped piece by piece as it grows.
 *
 * Threads: any; safe in signal handlers. Forked children keep what was mapped and map more alone.
 */
#ifndef SWAPFAULT_EVENTLOG_SEGMENTS_H
#define SWAPFAULT_EVENTLOG_SEGMENTS_H

#include <sys/types.h>

#include "eventlog.h"

#define EVENTLOG_SEGMENT_BYTES ((size_t)EVENTLOG_RECORD_BYTES * EVENTLOG_SEGMENT_RECORDS)

struct eventlog {
	struct eventlog_header *header;
	int fd;	   /* private */
	dev_t dev; /* whether it is still ours: programs close what they do not know */
	ino_t inode;
	struct eventlog_record *segments[EVENTLOG_SEGMENTS_MAX]; /* atomic; NULL: not mapped */
};

/* Where segment @index ends in the file. */
static inline off_t segment_end(uint64_t index)
{
	return (off_t)(EVENTLOG_HEADER_BYTES + (index + 1) * EVENTLOG_SEGMENT_BYTES);
}

/* To write to: the file is extended to hold it. NULL: no room, or the file is gone. */
struct eventlog_record *segment_for_writing(struct eventlog *log, uint64_t index);
/* To read from: NULL when the file does not hold all of it. */
struct eventlog_record *segment_for_reading(struct eventlog *log, uint64_t index);
/* How many whole segments the file holds now. */
uint64_t segments_in_file(struct eventlog *log);
void segments_unmap(struct eventlog *log);

#endif /* SWAPFAULT_EVENTLOG_SEGMENTS_H */
