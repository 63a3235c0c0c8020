/* SPDX-License-Identifier: MIT */
/*
 * test_eventlog.c - the event log keeps what was written, grows, counts what it cannot hold, and is
 * not led astray by files that are broken.
 */
#undef NDEBUG
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventlog_segments.h"
#include "points.h"

static int new_fd(void)
{
	int fd = memfd_create("eventlog", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	return fd;
}

static struct eventlog *new_log(void)
{
	struct eventlog *log;
	int fd = new_fd();

	assert_int_equal(eventlog_init(fd), 0);
	assert_int_equal(eventlog_open(fd, &log), 0);
	close(fd); /* the log has its own */
	return log;
}

static struct eventlog_record record_number(uint32_t number)
{
	struct eventlog_record record = {.type = EVENTLOG_CALL,
					 .flags = EVENTLOG_INJECTED,
					 .point = POINT_io_submit,
					 .op = 1,
					 .time_ns = number * 3ull,
					 .pid = 1,
					 .tid = 2,
					 .ctx = 3,
					 .number = number,
					 .fault = 4,
					 .fd = -1,
					 .offset = number * 5ull,
					 .length = number * 7ull,
					 .address = number * 11ull,
					 .result = -(int64_t)number};

	snprintf(record.text, sizeof(record.text), "record %u", number);
	return record;
}

static void append_numbers(struct eventlog *log, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		struct eventlog_record record = record_number(i);

		eventlog_append(log, &record);
	}
}

static void check_number(struct eventlog *log, uint64_t index, uint32_t number)
{
	const struct eventlog_record *record = eventlog_get(log, index);
	struct eventlog_record expected = record_number(number);

	assert_non_null(record);
	expected.commit = EVENTLOG_COMMITTED;
	assert_memory_equal(record, &expected, sizeof(expected));
}

static void a_fresh_log_is_empty(void **state)
{
	struct eventlog *log = new_log();

	(void)state;
	assert_int_equal(eventlog_count(log), 0);
	assert_null(eventlog_get(log, 0));
	assert_int_equal(eventlog_header(log)->overflow, 0);
	assert_int_equal(eventlog_header(log)->handshake, 0);
	eventlog_close(log);
}

static void what_was_appended_is_read(void **state)
{
	struct eventlog *log = new_log();

	(void)state;
	append_numbers(log, 100, 3);
	assert_int_equal(eventlog_count(log), 3);
	for (uint32_t i = 0; i < 3; i++)
		check_number(log, i, 100 + i);
	assert_null(eventlog_get(log, 3));
	eventlog_close(log);
}

static void another_mapping_reads_the_same(void **state)
{
	struct eventlog *writer = new_log(), *reader;

	(void)state;
	assert_int_equal(eventlog_open(writer->fd, &reader), 0);
	append_numbers(writer, 0, 2000);
	assert_int_equal(eventlog_count(reader), 2000);
	for (uint32_t i = 0; i < 2000; i++)
		check_number(reader, i, i);
	eventlog_close(reader);
	eventlog_close(writer);
}

static void a_fresh_log_again_is_empty_again(void **state)
{
	struct eventlog *log = new_log();

	(void)state;
	append_numbers(log, 0, 1000);
	assert_int_equal(eventlog_init(log->fd), 0);
	assert_int_equal(eventlog_count(log), 0);
	assert_int_equal(log->segments[1][3].commit, 0);
	append_numbers(log, 5, 1);
	assert_int_equal(eventlog_count(log), 1);
	check_number(log, 0, 5);
	eventlog_close(log);
}

/* Few records are wiped where they are; many are given back, and the pages with them. */
static void a_log_that_is_reset_is_empty_for_who_has_it_mapped(void **state)
{
	static const uint32_t counts[] = {0, 3, 512, 1000, 5000};
	struct eventlog *log = new_log(), *writer;

	(void)state;
	assert_int_equal(eventlog_open(log->fd, &writer), 0);
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		append_numbers(writer, 7, counts[i]);
		eventlog_header(writer)->waits_getevents = 1;
		assert_int_equal(eventlog_count(log), counts[i]);
		assert_int_equal(eventlog_reset(log), 0);
		assert_int_equal(eventlog_count(log), 0);
		assert_int_equal(eventlog_count(writer), 0);
		assert_int_equal(eventlog_header(log)->waits_getevents, 0);
		for (uint32_t at = 0; at < counts[i]; at++)
			assert_int_equal(writer->segments[at / 512][at % 512].commit, 0);
	}
	append_numbers(writer, 5, 1);
	check_number(log, 0, 5);
	eventlog_close(writer);
	eventlog_close(log);
}

static void the_file_grows_with_the_records(void **state)
{
	struct eventlog *log = new_log();
	uint32_t room = (uint32_t)segments_in_file(log) * EVENTLOG_SEGMENT_RECORDS;

	(void)state;
	append_numbers(log, 0, room + 2 * EVENTLOG_SEGMENT_RECORDS);
	assert_int_equal(eventlog_header(log)->overflow, 0);
	assert_int_equal(eventlog_count(log), room + 2 * EVENTLOG_SEGMENT_RECORDS);
	for (uint32_t i = 0; i < room + 2 * EVENTLOG_SEGMENT_RECORDS; i += 101)
		check_number(log, i, i);
	assert_int_equal(eventlog_header(log)->segments, segments_in_file(log));
	eventlog_close(log);
}

static void a_text_that_is_not_terminated_is_cut(void **state)
{
	struct eventlog *log = new_log();
	struct eventlog_record record = record_number(1);

	(void)state;
	memset(record.text, 'x', sizeof(record.text));
	eventlog_append(log, &record);
	assert_int_equal(strlen(eventlog_get(log, 0)->text), sizeof(record.text) - 1);
	eventlog_close(log);
}

/* The last segment only: what lies before it stays a hole in the file. */
static void past_the_last_segment_records_are_counted_as_lost(void **state)
{
	struct eventlog *log = new_log();
	uint64_t max = (uint64_t)EVENTLOG_SEGMENTS_MAX * EVENTLOG_SEGMENT_RECORDS;

	(void)state;
	eventlog_header(log)->head = max - 1;
	append_numbers(log, 7, 3);
	assert_int_equal(eventlog_count(log), max);
	check_number(log, max - 1, 7);
	assert_null(eventlog_get(log, max));
	assert_int_equal(eventlog_header(log)->overflow, 2);
	eventlog_close(log);
}

static void under_a_file_size_limit_records_are_lost_and_nobody_is_killed(void **state)
{
	struct eventlog *log = new_log();
	uint32_t room = (uint32_t)segments_in_file(log) * EVENTLOG_SEGMENT_RECORDS;
	int status;
	pid_t child;

	(void)state;
	eventlog_header(log)->head = room - 1;
	child = fork();
	if (child == 0) {
		struct rlimit limit = {4096, 4096};

		setrlimit(RLIMIT_FSIZE, &limit);
		append_numbers(log, 0, 2);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	check_number(log, room - 1, 0);
	assert_null(eventlog_get(log, room));
	assert_int_equal(eventlog_header(log)->overflow, 1);
	eventlog_close(log);
}

static void the_descriptor_is_far_up_and_closed_on_exec(void **state)
{
	struct eventlog *log = new_log();

	(void)state;
	assert_true(log->fd >= 900);
	assert_true(fcntl(log->fd, F_GETFD) & FD_CLOEXEC);
	eventlog_close(log);
}

static void with_few_descriptors_it_is_where_there_is_room(void **state)
{
	struct rlimit limit, few;
	struct eventlog *log;
	int fd = new_fd();

	(void)state;
	assert_int_equal(eventlog_init(fd), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){64, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(eventlog_open(fd, &log), 0);
	assert_true(log->fd > STDERR_FILENO && log->fd < 64);
	eventlog_close(log);
	few.rlim_cur = (rlim_t)fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	log = NULL;
	assert_int_equal(eventlog_open(fd, &log), -EMFILE);
	assert_null(log);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(fd);
}

/* Programs that close all descriptors and open files of their own: those are not to be written to.
 */
static void a_file_that_took_over_the_descriptor_is_left_alone(void **state)
{
	struct eventlog *log = new_log();
	uint32_t room = EVENTLOG_SEGMENT_RECORDS;
	struct stat status;
	int other = new_fd();

	(void)state;
	append_numbers(log, 0, 1);
	assert_true(dup2(other, log->fd) >= 0);
	append_numbers(log, 1, room);
	assert_int_equal(eventlog_header(log)->overflow, 1);
	check_number(log, room - 1, room - 1);
	assert_int_equal(fstat(other, &status), 0);
	assert_int_equal(status.st_size, 0);
	close(other);
	eventlog_close(log);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void refuse(int fd)
{
	unsigned before = open_descriptors();
	struct eventlog *log = NULL;

	assert_int_equal(eventlog_open(fd, &log), -EINVAL);
	assert_null(log);
	assert_int_equal(open_descriptors(), before);
}

static void what_is_no_log_is_refused(void **state)
{
	struct eventlog_header header = {.magic = EVENTLOG_MAGIC, .version = EVENTLOG_VERSION};
	struct eventlog *log = NULL;
	int fd = new_fd(), pipes[2];

	(void)state;
	refuse(fd); /* empty */
	assert_int_equal(ftruncate(fd, EVENTLOG_HEADER_BYTES), 0);
	refuse(fd); /* zeros */
	header.version++;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	refuse(fd); /* another version */
	header.version--;
	header.magic++;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	refuse(fd); /* another magic */
	header.magic--;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(ftruncate(fd, EVENTLOG_HEADER_BYTES - 1), 0);
	refuse(fd); /* cut off in the header */
	assert_int_equal(pipe(pipes), 0);
	refuse(pipes[0]);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
	assert_int_equal(eventlog_open(fd, &log), -EBADF);
	assert_int_equal(eventlog_init(fd), -EBADF);
}

static void a_file_that_is_cut_off_is_read_as_far_as_it_goes(void **state)
{
	struct eventlog *log = new_log(), *reader;
	char bytes[EVENTLOG_HEADER_BYTES];
	int fd = new_fd();

	(void)state;
	append_numbers(log, 0, 3 * EVENTLOG_SEGMENT_RECORDS);
	assert_int_equal(pread(log->fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(ftruncate(fd, segment_end(1) - 1), 0);
	assert_int_equal(eventlog_open(fd, &reader), 0);
	assert_int_equal(eventlog_count(reader), EVENTLOG_SEGMENT_RECORDS);
	for (uint64_t i = 0; i < 4 * EVENTLOG_SEGMENT_RECORDS; i++)
		assert_null(eventlog_get(reader, i));
	eventlog_header(reader)->head = UINT64_MAX;
	assert_int_equal(eventlog_count(reader), EVENTLOG_SEGMENT_RECORDS);
	assert_null(eventlog_get(reader, UINT64_MAX - 1));
	eventlog_close(reader);
	eventlog_close(log);
	close(fd);
}

static void a_log_cannot_be_shortened_under_its_readers(void **state)
{
	struct eventlog *log = new_log();

	(void)state;
	assert_int_equal(ftruncate(log->fd, EVENTLOG_HEADER_BYTES), -1);
	assert_int_equal(errno, EPERM);
	eventlog_close(log);
}

static void records_that_nobody_can_have_written_are_not_shown(void **state)
{
	struct eventlog *log = new_log();
	struct eventlog_record *records;

	(void)state;
	append_numbers(log, 0, 6);
	records = log->segments[0];
	records[0].type = EVENTLOG_HANG + 1;
	records[1].point = POINT_COUNT;
	records[2].op = 3;
	records[3].text[sizeof(records[3].text) - 1] = 'x';
	records[4].commit = 0;
	for (uint64_t i = 0; i < 5; i++)
		assert_null(eventlog_get(log, i));
	check_number(log, 5, 5);
	eventlog_close(log);
}

static void closing_no_log_is_nothing(void **state)
{
	(void)state;
	eventlog_close(NULL);
}

static void types_have_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i <= EVENTLOG_HANG; i++)
		assert_string_not_equal(eventlog_type_name((enum eventlog_type)i), "unknown");
	assert_string_equal(eventlog_type_name(EVENTLOG_INJECT), "inject");
	assert_string_equal(eventlog_type_name((enum eventlog_type)200), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fresh_log_is_empty),
		cmocka_unit_test(what_was_appended_is_read),
		cmocka_unit_test(another_mapping_reads_the_same),
		cmocka_unit_test(a_fresh_log_again_is_empty_again),
		cmocka_unit_test(a_log_that_is_reset_is_empty_for_who_has_it_mapped),
		cmocka_unit_test(the_file_grows_with_the_records),
		cmocka_unit_test(a_text_that_is_not_terminated_is_cut),
		cmocka_unit_test(past_the_last_segment_records_are_counted_as_lost),
		cmocka_unit_test(under_a_file_size_limit_records_are_lost_and_nobody_is_killed),
		cmocka_unit_test(the_descriptor_is_far_up_and_closed_on_exec),
		cmocka_unit_test(with_few_descriptors_it_is_where_there_is_room),
		cmocka_unit_test(a_file_that_took_over_the_descriptor_is_left_alone),
		cmocka_unit_test(what_is_no_log_is_refused),
		cmocka_unit_test(a_file_that_is_cut_off_is_read_as_far_as_it_goes),
		cmocka_unit_test(a_log_cannot_be_shortened_under_its_readers),
		cmocka_unit_test(records_that_nobody_can_have_written_are_not_shown),
		cmocka_unit_test(closing_no_log_is_nothing),
		cmocka_unit_test(types_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
