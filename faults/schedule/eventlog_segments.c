/* SPDX-License-Identifier: MIT */
/*
 * eventlog_segments.c - extends and maps the file of an event log.
 *
 * Whoever needs a segment first extends the file and maps it; others of the process find the
 * pointer. Nothing is ever made smaller, so nobody has to wait for anybody.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "eventlog_segments.h"

/* The size of the file; -EBADF when the descriptor is not that of the log any more. */
static off_t file_bytes(const struct eventlog *log)
{
	struct stat status;

	if (fstat(log->fd, &status) < 0)
		return -errno;
	if (status.st_dev != log->dev || status.st_ino != log->inode)
		return -EBADF;
	return status.st_size;
}

/* Extending a file past the limit would not only fail: the program would get SIGXFSZ. */
static bool limit_allows(off_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	       limit.rlim_cur >= (rlim_t)end;
}

/*
 * Room for the segment, blocks included: a mapped hole of a full file system would be SIGBUS. Where
 * that cannot be asked for, one byte makes the file longer. It is the last of a record's text,
 * which is always zero: ftruncate() in its place would cut off what another process has added by
 * now. Neither goes through libc, whose calls are points where a thread of the program can be
 * cancelled.
 */
static int extend(const struct eventlog *log, uint64_t index)
{
	off_t end = segment_end(index), bytes = file_bytes(log);

	if (bytes < 0)
		return (int)bytes;
	if (bytes < end && !limit_allows(end))
		return -EFBIG;
	if (syscall(SYS_fallocate, log->fd, 0, end - (off_t)EVENTLOG_SEGMENT_BYTES,
		    (off_t)EVENTLOG_SEGMENT_BYTES) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	return bytes >= end || syscall(SYS_pwrite64, log->fd, "", 1, end - 1) == 1 ? 0 : -errno;
}

static struct eventlog_record *map(struct eventlog *log, uint64_t index)
{
	struct eventlog_record *expected = NULL, *segment;

	segment = mmap(NULL, EVENTLOG_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd,
		       segment_end(index) - (off_t)EVENTLOG_SEGMENT_BYTES);
	if (segment == MAP_FAILED)
		return NULL;
	if (__atomic_compare_exchange_n(&log->segments[index], &expected, segment, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return segment;
	munmap(segment, EVENTLOG_SEGMENT_BYTES); /* another thread was first */
	return expected;
}

static void announce(struct eventlog_header *header, uint64_t index)
{
	uint32_t known = __atomic_load_n(&header->segments, __ATOMIC_RELAXED);

	while (known < index + 1 &&
	       !__atomic_compare_exchange_n(&header->segments, &known, (uint32_t)index + 1, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

struct eventlog_record *segment_for_writing(struct eventlog *log, uint64_t index)
{
	struct eventlog_record *segment;

	if (index >= EVENTLOG_SEGMENTS_MAX)
		return NULL;
	segment = __atomic_load_n(&log->segments[index], __ATOMIC_ACQUIRE);
	if (segment)
		return segment;
	if (extend(log, index) < 0)
		return NULL;
	announce(log->header, index);
	return map(log, index);
}

struct eventlog_record *segment_for_reading(struct eventlog *log, uint64_t index)
{
	struct eventlog_record *segment;

	if (index >= EVENTLOG_SEGMENTS_MAX)
		return NULL;
	segment = __atomic_load_n(&log->segments[index], __ATOMIC_ACQUIRE);
	if (segment)
		return segment;
	return file_bytes(log) >= segment_end(index) ? map(log, index) : NULL;
}

uint64_t segments_in_file(struct eventlog *log)
{
	off_t bytes = file_bytes(log);

	if (bytes < EVENTLOG_HEADER_BYTES)
		return 0;
	return (uint64_t)(bytes - EVENTLOG_HEADER_BYTES) / EVENTLOG_SEGMENT_BYTES;
}

void segments_unmap(struct eventlog *log)
{
	for (unsigned i = 0; i < EVENTLOG_SEGMENTS_MAX; i++) {
		if (log->segments[i])
			munmap(log->segments[i], EVENTLOG_SEGMENT_BYTES);
		log->segments[i] = NULL;
	}
}
