/* SPDX-License-Identifier: MIT */
/*
 * eventlog.c - makes, opens, writes and reads an event log. How its file grows is in
 * eventlog_segments.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventlog_segments.h"
#include "points.h"
#include "schedule.h"

/* A fresh log is that long, without blocks: a program under RLIMIT_FSIZE could not extend it. */
#define SEGMENTS_FRESH 64
#define RECORDS_MAX ((uint64_t)EVENTLOG_SEGMENTS_MAX * EVENTLOG_SEGMENT_RECORDS)
#define PRIVATE_FD_MIN 900

_Static_assert(sizeof(struct eventlog_header) <= EVENTLOG_HEADER_BYTES, "it has one page");
_Static_assert(offsetof(struct eventlog_record, commit) == 0, "the rest is copied in one piece");

/* A log that is used again cannot be shortened; holes read as zeros, too. */
static int clear(int fd)
{
	struct stat status;

	if (ftruncate(fd, 0) == 0)
		return 0;
	if (errno != EPERM || fstat(fd, &status) < 0 ||
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, status.st_size) < 0)
		return -errno;
	return 0;
}

int eventlog_init(int fd)
{
	struct eventlog_header header = {.magic = EVENTLOG_MAGIC, .version = EVENTLOG_VERSION};
	int result = clear(fd);
	struct stat status;
	ssize_t written;

	if (result < 0)
		return result;
	if (fstat(fd, &status) < 0 || (status.st_size < segment_end(SEGMENTS_FRESH - 1) &&
				       ftruncate(fd, segment_end(SEGMENTS_FRESH - 1)) < 0))
		return -errno;
	written = pwrite(fd, &header, sizeof(header), 0);
	if (written != (ssize_t)sizeof(header))
		return written < 0 ? -errno : -ENOSPC;
	/* Whoever shortened it would kill all that have it mapped. Only a memfd can say no. */
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	return 0;
}

/* What is longer is given back to the system. */
#define RESET_SEGMENTS_MAX 4u

int eventlog_reset(struct eventlog *log)
{
	uint64_t left = __atomic_load_n(&log->header->head, __ATOMIC_ACQUIRE);

	if (left > RESET_SEGMENTS_MAX * EVENTLOG_SEGMENT_RECORDS)
		return eventlog_init(log->fd);
	for (unsigned i = 0; left; i++) {
		struct eventlog_record *segment = segment_for_reading(log, i);
		uint64_t part = left < EVENTLOG_SEGMENT_RECORDS ? left : EVENTLOG_SEGMENT_RECORDS;

		if (!segment)
			return eventlog_init(log->fd);
		memset(segment, 0, part * sizeof(*segment));
		left -= part;
	}
	*log->header = (struct eventlog_header){
		.magic = EVENTLOG_MAGIC,
		.version = EVENTLOG_VERSION,
		.segments = log->header->segments,
	};
	return 0;
}

/* Far up, where programs that count on descriptor numbers do not meet it. */
static int private_fd(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, PRIVATE_FD_MIN);

	if (copy < 0 && (errno == EINVAL || errno == EMFILE))
		copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return copy < 0 ? -errno : copy;
}

static int map_header(struct eventlog *log)
{
	struct eventlog_header *header;
	struct stat status;

	if (fstat(log->fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size < EVENTLOG_HEADER_BYTES)
		return -EINVAL;
	header = mmap(NULL, EVENTLOG_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd, 0);
	if (header == MAP_FAILED)
		return -errno;
	log->header = header;
	log->dev = status.st_dev;
	log->inode = status.st_ino;
	return header->magic == EVENTLOG_MAGIC && header->version == EVENTLOG_VERSION ? 0 : -EINVAL;
}

int eventlog_open(int fd, struct eventlog **ret_log)
{
	/* Not malloc: that may be the program's own. */
	struct eventlog *log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result;

	if (log == MAP_FAILED)
		return -errno;
	log->fd = private_fd(fd);
	result = log->fd < 0 ? log->fd : map_header(log);
	if (result < 0) {
		eventlog_close(log);
		return result;
	}
	*ret_log = log;
	return 0;
}

void eventlog_close(struct eventlog *log)
{
	if (!log)
		return;
	segments_unmap(log);
	if (log->header)
		munmap(log->header, EVENTLOG_HEADER_BYTES);
	if (log->fd >= 0)
		close(log->fd);
	munmap(log, sizeof(*log));
}

struct eventlog_header *eventlog_header(struct eventlog *log)
{
	return log->header;
}

void eventlog_append(struct eventlog *log, const struct eventlog_record *record)
{
	uint64_t index = __atomic_fetch_add(&log->header->head, 1, __ATOMIC_RELAXED);
	struct eventlog_record *segment, *slot;

	segment = segment_for_writing(log, index / EVENTLOG_SEGMENT_RECORDS);
	if (!segment) {
		__atomic_fetch_add(&log->header->overflow, 1, __ATOMIC_RELAXED);
		return;
	}
	slot = &segment[index % EVENTLOG_SEGMENT_RECORDS];
	memcpy(&slot->type, &record->type, sizeof(*slot) - offsetof(struct eventlog_record, type));
	slot->text[sizeof(slot->text) - 1] = '\0';
	__atomic_store_n(&slot->commit, EVENTLOG_COMMITTED, __ATOMIC_RELEASE);
}

/* Readers look names up by these numbers: whatever a broken program wrote must not lead them
 * astray. */
static bool is_possible(const struct eventlog_record *record)
{
	return record->type <= EVENTLOG_HANG && record->point < POINT_COUNT &&
	       record->op <= FAULT_OP_WRITE && record->text[sizeof(record->text) - 1] == '\0';
}

const struct eventlog_record *eventlog_get(struct eventlog *log, uint64_t index)
{
	const struct eventlog_record *segment, *record;

	if (index >= __atomic_load_n(&log->header->head, __ATOMIC_ACQUIRE))
		return NULL;
	segment = segment_for_reading(log, index / EVENTLOG_SEGMENT_RECORDS);
	if (!segment)
		return NULL;
	record = &segment[index % EVENTLOG_SEGMENT_RECORDS];
	if (__atomic_load_n(&record->commit, __ATOMIC_ACQUIRE) != EVENTLOG_COMMITTED)
		return NULL;
	return is_possible(record) ? record : NULL;
}

uint64_t eventlog_count(struct eventlog *log)
{
	uint64_t head = __atomic_load_n(&log->header->head, __ATOMIC_ACQUIRE);
	uint64_t room;

	if (head > RECORDS_MAX)
		head = RECORDS_MAX;
	if (head == 0 || log->segments[(head - 1) / EVENTLOG_SEGMENT_RECORDS])
		return head;
	room = segments_in_file(log) * EVENTLOG_SEGMENT_RECORDS;
	return head < room ? head : room;
}

const char *eventlog_type_name(enum eventlog_type type)
{
	switch (type) {
	case EVENTLOG_NONE:
		return "none";
	case EVENTLOG_ARM:
		return "arm";
	case EVENTLOG_DISARM:
		return "disarm";
	case EVENTLOG_CALL:
		return "call";
	case EVENTLOG_SUBMIT:
		return "submit";
	case EVENTLOG_COMPLETE:
		return "complete";
	case EVENTLOG_DELIVER:
		return "deliver";
	case EVENTLOG_INJECT:
		return "inject";
	case EVENTLOG_MISSED:
		return "missed";
	case EVENTLOG_CHECK:
		return "check";
	case EVENTLOG_FILE:
		return "file";
	case EVENTLOG_NOTE:
		return "note";
	case EVENTLOG_HANG:
		return "hang";
	}
	return "unknown";
}
