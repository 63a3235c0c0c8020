/* SPDX-License-Identifier: MIT */
/*
 * runtime_log.c - records of the event log that every file of the preload writes alike. Signal
 * safe.
 */
#include <errno.h>
#include <string.h>

#include "case.h"

/* Growing the log maps and extends a file: not the program's doing, nor its errno. */
void runtime_log_append(const struct eventlog_record *record)
{
	int kept_errno = errno;

	if (!runtime_case.log)
		return;
	runtime_enter();
	eventlog_append(runtime_case.log, record);
	runtime_leave();
	errno = kept_errno;
}

static void copy_text(struct eventlog_record *record, const char *text)
{
	size_t bytes;

	if (!text)
		return;
	bytes = strnlen(text, sizeof(record->text) - 1);
	memcpy(record->text, text, bytes);
}

static struct eventlog_record new_record(enum eventlog_type type, const char *text)
{
	struct eventlog_record record = {
		.type = (uint8_t)type,
		.time_ns = runtime_now_ns(),
		.pid = (uint32_t)runtime_case.pid,
		.tid = runtime_thread_number(),
		.fd = -1,
	};

	copy_text(&record, text);
	return record;
}

static uint64_t known(uint64_t value)
{
	return value == SCHEDULE_ANY ? 0 : value;
}

static void fill_call(struct eventlog_record *record, const struct fault_call *call)
{
	record->point = (uint8_t)call->point;
	record->op = (uint8_t)call->op;
	record->fd = (int32_t)call->fd;
	record->offset = known(call->offset);
	record->length = known(call->length);
	record->ctx = (uint32_t)known(call->ctx);
}

/* 0 for faults that came through fiu-run or fiu-ctrl: no schedule has them. */
static uint32_t fault_index(const struct fault *fault)
{
	const struct fault *first = runtime_case.schedule.faults;

	if (!fault || fault < first || fault >= first + runtime_case.schedule.count)
		return 0;
	return (uint32_t)(fault - first) + 1;
}

void runtime_log_call(const struct fault_call *call, uint32_t number, int64_t result, bool injected)
{
	struct eventlog_record record;

	if (!runtime_case.log)
		return;
	record = new_record(EVENTLOG_CALL, call->path);
	fill_call(&record, call);
	record.number = number;
	record.result = result;
	record.flags = injected ? EVENTLOG_INJECTED : 0;
	runtime_log_append(&record);
}

void runtime_log_inject(const struct fault *fault, const struct fault_call *call, uint32_t number,
			int64_t result)
{
	struct eventlog_record record;

	if (!runtime_case.log)
		return;
	record = new_record(EVENTLOG_INJECT, kind_info(fault->kind)->fiu_name);
	if (call)
		fill_call(&record, call);
	record.point = (uint8_t)fault->point;
	record.fault = fault_index(fault);
	record.number = number;
	record.result = result;
	record.flags = EVENTLOG_INJECTED;
	runtime_log_append(&record);
}

void runtime_log_missed(const struct fault *fault, uint32_t number, const char *why)
{
	struct eventlog_record record;

	if (!runtime_case.log)
		return;
	record = new_record(EVENTLOG_MISSED, why);
	record.point = (uint8_t)fault->point;
	record.fault = fault_index(fault);
	record.number = number;
	runtime_log_append(&record);
}

void runtime_log_note(const char *text)
{
	struct eventlog_record record;

	if (!runtime_case.log)
		return;
	record = new_record(EVENTLOG_NOTE, text);
	runtime_log_append(&record);
}

void runtime_log_check(const char *text, const struct eventlog_record *about)
{
	struct eventlog_record record, fresh;

	if (!runtime_case.log)
		return;
	fresh = new_record(EVENTLOG_CHECK, text);
	record = about ? *about : fresh;
	record.type = EVENTLOG_CHECK;
	record.time_ns = fresh.time_ns;
	record.pid = fresh.pid;
	record.tid = fresh.tid;
	memcpy(record.text, fresh.text, sizeof(record.text));
	runtime_log_append(&record);
}

void runtime_log_file(int fd, const char *path)
{
	struct eventlog_record record;

	if (!runtime_case.log)
		return;
	record = new_record(EVENTLOG_FILE, path);
	record.fd = fd;
	runtime_log_append(&record);
}
