/* SPDX-License-Identifier: MIT */
/*
 * observed.h - a made-up case for tests of oracles and verdicts: two tensors out and in, everything
 * as it should be; a test spoils one thing and asks.
 *
 * Threads: one thread.
 */
#ifndef OBSERVED_H
#define OBSERVED_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oracle.h"
#include "verdict.h"

#define OBSERVED_BYTES 4096u

struct observed {
	struct test_case test_case;
	struct outcome outcome;
	struct observation seen;
	struct case_result result;
	int log_fd;
};

static inline void observed_schedule(struct observed *it, const char *text)
{
	struct schedule_error error;
	int failed = schedule_parse(text, &it->test_case.schedule, &error);

	assert(!failed);
	(void)failed;
}

/* One whole transfer of each tensor in each step. */
static inline void observed_request(struct observed *it, unsigned step, unsigned tensor)
{
	struct outcome_request *request = &it->outcome.requests[it->outcome.requests_count++];

	*request = (struct outcome_request){
		.step = step,
		.tensor = tensor,
		.write = step == 0,
		.stage = STAGE_DONE,
		.length = OBSERVED_BYTES,
		.bytes = OBSERVED_BYTES,
		.generation = 1,
	};
	snprintf(request->cause, sizeof(request->cause), "none");
}

static inline void observed_workload(struct workload *workload)
{
	workload_defaults(workload);
	workload->tensors_count = 2;
	workload->steps_count = 2;
	step_defaults(&workload->steps[0], STEP_SWAP_OUT);
	step_defaults(&workload->steps[1], STEP_SWAP_IN);
	for (unsigned i = 0; i < 2; i++) {
		tensor_defaults(&workload->tensors[i]);
		workload->tensors[i].numel = OBSERVED_BYTES / 4;
		snprintf(workload->tensors[i].name, WORKLOAD_NAME_BYTES, "tensor%u", i);
		snprintf(workload->tensors[i].file, WORKLOAD_FILE_BYTES, "tensor%u.swp", i);
	}
}

static inline void observed_log(struct observed *it)
{
	int failed;

	it->log_fd = memfd_create("log", MFD_CLOEXEC);
	failed = it->log_fd < 0 || eventlog_init(it->log_fd) < 0 ||
		 eventlog_open(it->log_fd, &it->seen.log) < 0;
	assert(!failed);
	(void)failed;
	eventlog_header(it->seen.log)->handshake = 1;
}

static inline struct observed *observed_make(void)
{
	struct observed *it = calloc(1, sizeof(*it));

	assert(it);
	observed_workload(&it->test_case.workload);
	it->test_case.expect.data = EXPECT_DATA_EXACT;
	it->test_case.expect.deadline_ns = 5000000000;
	it->outcome.requests = calloc(64, sizeof(*it->outcome.requests));
	it->outcome.calls = calloc(64, sizeof(*it->outcome.calls));
	it->outcome.data = calloc(64, sizeof(*it->outcome.data));
	it->outcome.wrong = calloc(64, sizeof(*it->outcome.wrong));
	for (unsigned i = 0; i < 4; i++)
		observed_request(it, i / 2, i % 2);
	it->outcome.opened = it->outcome.ended = true;
	it->outcome.before.known = it->outcome.after.known = true;
	it->seen.workload = &it->test_case.workload;
	it->seen.outcome = &it->outcome;
	it->seen.deadline_ns = it->test_case.expect.deadline_ns;
	it->seen.image = 1;
	it->seen.story = "";
	it->seen.work_dir = "/cases";
	observed_log(it);
	return it;
}

static inline void observed_free(struct observed *it)
{
	eventlog_close(it->seen.log);
	close(it->log_fd);
	outcome_free(&it->outcome);
	free(it);
}

static inline void observed_append(struct observed *it, enum eventlog_type type, uint32_t number,
				   bool injected)
{
	struct eventlog_record record = {
		.type = (uint8_t)type,
		.flags = injected ? EVENTLOG_INJECTED : 0,
		.point = POINT_io_event,
		.pid = 1,
		.ctx = 1,
		.number = number,
		.length = OBSERVED_BYTES,
	};

	eventlog_append(it->seen.log, &record);
}

/* A block at the start of a file, from submission to its event. */
static inline void observed_block(struct observed *it, uint32_t number, int fd, enum fault_op op,
				  int64_t result)
{
	struct eventlog_record record = {.type = EVENTLOG_SUBMIT,
					 .op = (uint8_t)op,
					 .point = POINT_io_event,
					 .pid = 1,
					 .ctx = 1,
					 .number = number,
					 .fd = fd,
					 .length = OBSERVED_BYTES};

	eventlog_append(it->seen.log, &record);
	record.result = result;
	record.type = EVENTLOG_COMPLETE;
	eventlog_append(it->seen.log, &record);
	record.type = EVENTLOG_DELIVER;
	eventlog_append(it->seen.log, &record);
}

/* A fault of the schedule, from 1, that took effect or missed. */
static inline void observed_fault(struct observed *it, enum eventlog_type type, uint32_t fault,
				  const char *why)
{
	struct eventlog_record record = {
		.type = (uint8_t)type, .point = POINT_io_event, .pid = 1, .fault = fault};

	snprintf(record.text, sizeof(record.text), "%s", why);
	eventlog_append(it->seen.log, &record);
}

static inline void observed_judge(struct observed *it)
{
	oracle_ask_all(&it->seen, &it->result);
	verdict_count_faults(&it->test_case, it->seen.log, &it->result);
	verdict_decide(&it->test_case, &it->seen, &it->result);
}

#endif /* OBSERVED_H */
