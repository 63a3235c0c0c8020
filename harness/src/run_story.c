/* SPDX-License-Identifier: MIT */
/*
 * run_story.c - tells what a case was doing: which threads sit in which calls, what is in flight,
 * which wait was the last.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "points.h"
#include "run_story.h"
#include "schedule.h"

#define THREADS_TOLD_MAX 6u

struct story {
	char *text;
	size_t room, used;
};

static __attribute__((format(printf, 2, 3))) void tell(struct story *story, const char *format, ...)
{
	size_t room = story->room - story->used;
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsnprintf(story->text + story->used, room, format, arguments);
	va_end(arguments);
	if (count > 0)
		story->used += (size_t)count < room ? (size_t)count : room - 1;
}

static void read_line(pid_t pid, const char *tid, const char *name, char *line, size_t bytes)
{
	char path[128];
	ssize_t got = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", (int)pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, line, bytes - 1);
		close(fd);
	}
	line[got > 0 ? got : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

/* The first field of /proc/PID/task/TID/syscall. */
static const char *call_name(const char *line)
{
	static const struct {
		long number;
		const char *name;
	} calls[] = {
		{SYS_io_getevents, "io_getevents"},
		{SYS_io_pgetevents, "io_pgetevents"},
		{SYS_io_submit, "io_submit"},
		{SYS_io_destroy, "io_destroy"},
		{SYS_futex, "a lock or condition"},
		{SYS_read, "read"},
		{SYS_nanosleep, "a sleep"},
		{SYS_clock_nanosleep, "a sleep"},
		{SYS_poll, "poll"},
		{SYS_wait4, "wait4"},
		{SYS_pread64, "pread"},
		{SYS_pwrite64, "pwrite"},
	};
	char *end;
	long number = strtol(line, &end, 10);

	if (end == line)
		return strncmp(line, "running", 7) == 0 ? "user code, running" : "an unknown place";
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return number < 0 ? "user code" : "a system call";
}

static void tell_threads(struct story *story, pid_t pid)
{
	char path[64], line[256], wchan[64];
	struct dirent *entry;
	unsigned count = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.' || count++ >= THREADS_TOLD_MAX)
			continue;
		read_line(pid, entry->d_name, "syscall", line, sizeof(line));
		read_line(pid, entry->d_name, "wchan", wchan, sizeof(wchan));
		tell(story, "%sthread %u in %s", count > 1 ? ", " : "", count, call_name(line));
		if (wchan[0] && strcmp(wchan, "0") != 0)
			tell(story, " (%s)", wchan);
	}
	if (tasks)
		closedir(tasks);
	if (count > THREADS_TOLD_MAX)
		tell(story, " and %u more", count - THREADS_TOLD_MAX);
}

/* Is there a later record of that type for the block of @submit? */
static const struct eventlog_record *later(struct eventlog *log, uint64_t index, uint64_t count,
					   const struct eventlog_record *submit,
					   enum eventlog_type type)
{
	for (uint64_t i = index; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		if (record && record->type == type && record->ctx == submit->ctx &&
		    record->number == submit->number && record->pid == submit->pid)
			return record;
	}
	return NULL;
}

/* Only the end of a long log is looked at: what hangs is there. */
#define RECORDS_LOOKED_AT 4096u

static void tell_blocks(struct story *story, struct eventlog *log)
{
	uint64_t count = eventlog_count(log), flying = 0, waiting = 0;
	const struct eventlog_record *first = NULL;

	for (uint64_t i = count > RECORDS_LOOKED_AT ? count - RECORDS_LOOKED_AT : 0; i < count;
	     i++) {
		const struct eventlog_record *record = eventlog_get(log, i);
		bool done;

		if (!record || record->type != EVENTLOG_SUBMIT ||
		    later(log, i, count, record, EVENTLOG_DELIVER))
			continue;
		done = later(log, i, count, record, EVENTLOG_COMPLETE);
		flying += !done;
		waiting += done;
		first = first ? first : record;
	}
	tell(story, "%" PRIu64 " blocks in flight, %" PRIu64 " done and not taken", flying,
	     waiting);
	if (first)
		tell(story,
		     " (first: event %u of context %u, %s of bytes %" PRIu64 " + %" PRIu64 ")",
		     first->number & INT32_MAX, first->ctx,
		     first->op == FAULT_OP_WRITE ? "write" : "read", first->offset, first->length);
}

static void tell_last_wait(struct story *story, struct eventlog *log)
{
	uint64_t count = eventlog_count(log);

	while (count--) {
		const struct eventlog_record *record = eventlog_get(log, count);

		if (!record || record->type != EVENTLOG_CALL || record->point != POINT_io_getevents)
			continue;
		tell(story, "; the last wait that ended was number %u, with %" PRId64,
		     record->number, record->result);
		return;
	}
	tell(story, "; no wait has ended");
}

void run_story(pid_t pid, struct eventlog *log, char *text, size_t text_bytes)
{
	struct story story = {text, text_bytes, 0};

	text[0] = '\0';
	if (log) {
		tell_blocks(&story, log);
		tell_last_wait(&story, log);
	}
	if (pid) {
		tell(&story, "; ");
		tell_threads(&story, pid);
	}
}

static void write_record(int fd, uint64_t index, const struct eventlog_record *record)
{
	dprintf(fd,
		"%6" PRIu64 " %12" PRIu64 ".%03" PRIu64 " %-8s %-14s ctx=%u number=%u pid=%u "
		"thread=%u fd=%d offset=%" PRIu64 " length=%" PRIu64 " result=%" PRId64 "%s%s%s\n",
		index, record->time_ns / 1000000, record->time_ns / 1000 % 1000,
		eventlog_type_name((enum eventlog_type)record->type),
		point_info((enum point_id)record->point)->name, record->ctx,
		record->number & INT32_MAX, record->pid, record->tid, record->fd, record->offset,
		record->length, record->result, record->text[0] ? " " : "", record->text,
		record->flags & EVENTLOG_INJECTED ? " (INJECTED)" : "");
}

void run_story_log(struct eventlog *log, int fd)
{
	uint64_t count = eventlog_count(log);

	for (uint64_t i = 0; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		if (record)
			write_record(fd, i, record);
	}
}
