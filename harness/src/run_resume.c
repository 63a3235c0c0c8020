/* SPDX-License-Identifier: MIT */
/*
 * run_resume.c - a case whose machine lost its power goes on in another one: the lines of its
 * worker, its event log and what was found so far cross as one JSON object.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result_json.h"
#include "run_job.h"

/* ---- out ---- */

static json_t *hex_of(const void *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = bytes;
	char text[2 * EVENTLOG_RECORD_BYTES];

	for (size_t i = 0; i < count; i++) {
		text[2 * i] = digits[from[i] >> 4];
		text[2 * i + 1] = digits[from[i] & 15];
	}
	return json_stringn(text, 2 * count);
}

static json_t *records_json(struct eventlog *log)
{
	uint64_t count = eventlog_count(log);
	json_t *list = json_array();

	for (uint64_t i = 0; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		if (record)
			json_array_append_new(list, hex_of(record, sizeof(*record)));
	}
	return list;
}

static json_t *log_json(struct eventlog *log)
{
	const struct eventlog_header *header = eventlog_header(log);

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "handshake",
			 (json_int_t)header->handshake, "overflow", (json_int_t)header->overflow,
			 "waits_getevents", (json_int_t)header->waits_getevents, "waits_pgetevents",
			 (json_int_t)header->waits_pgetevents, "uring", (json_int_t)header->uring,
			 "records", records_json(log));
}

json_t *job_state(const struct job *job)
{
	uint64_t used = __atomic_load_n(&job->outcome_file->used, __ATOMIC_ACQUIRE);
	uint64_t room = WIRE_OUTCOME_BYTES_MAX - sizeof(*job->outcome_file);

	return json_pack("{s:s, s:s%, s:b, s:s, s:b, s:o, s:o}", "work_dir", job->work_dir,
			 "outcome", job->outcome_file->text, (size_t)(used < room ? used : room),
			 "outcome_is_full", job->outcome_file->full || used > room, "broken",
			 job->outcome.broken, "overdue", job->overdue, "result",
			 result_to_json(&job->result), "log", log_json(job->log));
}

/* ---- in ---- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_record(struct eventlog *log, const json_t *text)
{
	const char *digits = json_string_value(text);
	struct eventlog_record record;
	uint8_t bytes[sizeof(record)];

	if (!digits || strlen(digits) != 2 * sizeof(bytes))
		return -EBADMSG;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		int high = digit_of(digits[2 * i]), low = digit_of(digits[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EBADMSG;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(&record, bytes, sizeof(record));
	eventlog_append(log, &record);
	return 0;
}

static int take_log(struct eventlog *log, json_t *state)
{
	struct eventlog_header *header = eventlog_header(log);
	json_int_t handshake, overflow, getevents, pgetevents, uring;
	json_t *records;
	int error = 0;

	if (json_unpack(state, "{s:I, s:I, s:I, s:I, s:I, s:o}", "handshake", &handshake,
			"overflow", &overflow, "waits_getevents", &getevents, "waits_pgetevents",
			&pgetevents, "uring", &uring, "records", &records) < 0 ||
	    !json_is_array(records))
		return -EBADMSG;
	header->handshake = (uint32_t)handshake;
	header->overflow = (uint32_t)overflow;
	header->waits_getevents = (uint32_t)getevents;
	header->waits_pgetevents = (uint32_t)pgetevents;
	header->uring = (uint32_t)uring;
	for (size_t i = 0; error == 0 && i < json_array_size(records); i++)
		error = take_record(log, json_array_get(records, i));
	return error;
}

static int take_outcome(struct job *job, const char *text, size_t bytes, bool is_full)
{
	if (bytes > WIRE_OUTCOME_BYTES_MAX - sizeof(*job->outcome_file))
		return -EBADMSG;
	if (ftruncate(job->outcome_fd,
		      (off_t)(bytes + sizeof(*job->outcome_file) + WIRE_OUTCOME_BYTES_STEP)) < 0)
		return -errno;
	memcpy(job->outcome_file->text, text, bytes);
	job->outcome_file->full = is_full;
	__atomic_store_n(&job->outcome_file->used, bytes, __ATOMIC_RELEASE);
	return 0;
}

/* What is left of the directory takes the place of ours. None may be left. */
static int take_directory(const struct job *job, const char *left)
{
	if (access(left, F_OK) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (rmdir(job->work_dir) < 0 || rename(left, job->work_dir) < 0)
		return -errno;
	return 0;
}

static int take_result(struct job *job, const json_t *state)
{
	struct diag diag = {.text = ""};
	int error = result_from_json(state, job->test_case, &job->result, &diag);

	if (error < 0)
		fprintf(stderr, "swaptorture: %s\n", diag.text);
	return error;
}

int job_take_state(struct job *job, const json_t *state)
{
	const char *work_dir = NULL, *outcome = NULL, *broken = NULL;
	json_t *result = NULL, *log = NULL;
	int is_full = 0, overdue = 0, error;
	size_t bytes = 0;

	/* The library takes no const, and changes nothing. */
	if (json_unpack((json_t *)(uintptr_t)state, "{s:s, s:s%, s:b, s:s, s:b, s:o, s:o}",
			"work_dir", &work_dir, "outcome", &outcome, &bytes, "outcome_is_full",
			&is_full, "broken", &broken, "overdue", &overdue, "result", &result, "log",
			&log) < 0)
		return -EBADMSG;
	error = take_outcome(job, outcome, bytes, is_full);
	if (error == 0)
		error = take_log(job->log, log);
	if (error == 0)
		error = take_result(job, result);
	if (error == 0)
		error = take_directory(job, work_dir);
	if (error == 0)
		snprintf(job->outcome.broken, sizeof(job->outcome.broken), "%s", broken);
	job->overdue = overdue;
	return error;
}
