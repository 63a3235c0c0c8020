/* SPDX-License-Identifier: MIT */
/*
 * fuzz_eventlog.c - any file as an event log: refused, or read to its end without a wrong step.
 *
 * The input is a header (its first bytes; a valid start is put in front when its first byte is odd)
 * followed by the bytes of the first records; the file is as long as the input says.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eventlog.h"
#include "points.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER_INPUT_BYTES 64u

static void write_all(int fd, const void *bytes, size_t count, off_t offset)
{
	assert(pwrite(fd, bytes, count, offset) == (ssize_t)count);
}

static void make_file(int fd, const uint8_t *data, size_t size)
{
	struct eventlog_header valid = {.magic = EVENTLOG_MAGIC, .version = EVENTLOG_VERSION};
	static const uint8_t zeros[7];
	size_t header = size < HEADER_INPUT_BYTES ? size : HEADER_INPUT_BYTES;
	off_t length = size > 1 ? (off_t)data[1] * 1021 : (off_t)size;

	write_all(fd, data, header, 0);
	if (size && data[0] & 1)
		write_all(fd, &valid, offsetof(struct eventlog_header, segments), 0);
	if (size && data[0] & 2) /* mostly few records: reading millions takes its time */
		write_all(fd, zeros, sizeof(zeros), offsetof(struct eventlog_header, head) + 1);
	if (size > header)
		write_all(fd, data + header, size - header, EVENTLOG_HEADER_BYTES);
	if (size > 1)
		assert(ftruncate(fd, length) == 0);
}

static void read_all(struct eventlog *log)
{
	uint64_t count = eventlog_count(log), hash;

	for (uint64_t i = 0; i <= count; i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		if (!record)
			continue;
		assert(point_info((enum point_id)record->point)->name);
		assert(eventlog_type_name((enum eventlog_type)record->type));
		assert(memchr(record->text, '\0', sizeof(record->text)));
	}
	assert(eventlog_hash(log, EVENTLOG_SCOPE_ORDER, &hash) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eventlog_record record = {.type = EVENTLOG_NOTE, .text = "appended"};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct eventlog *log;

	assert(fd >= 0);
	make_file(fd, data, size);
	if (eventlog_open(fd, &log) == 0) {
		read_all(log);
		eventlog_append(log, &record);
		read_all(log);
		eventlog_close(log);
	}
	close(fd);
	return 0;
}
