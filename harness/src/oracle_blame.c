/* SPDX-License-Identifier: MIT */
/*
 * oracle_blame.c - who was struck and who is blamed: completions that failed, from the event log,
 * against the requests that the library says failed. A request may blame a completion only if one
 * of its own bytes got it, and bytes whose completion failed have not moved, whoever says so.
 *
 * What a completion's descriptor was opened as may be unknown; then it could be any file's, and
 * the doubt is the program's.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "points.h"

struct strike {		/* an event that told of less than was asked for, or of more */
	uint64_t index; /* in the log */
	bool write;
	uint64_t begin, end;
	uint64_t length;
	int64_t result;
	const char *file;			/* NULL: not known */
	const struct outcome_request *claimant; /* whose failure it explains */
	unsigned visit;
};

struct blame {
	const struct observation *seen;
	struct case_result *result;
	struct strike *strikes;
	size_t count, room;
	unsigned visits;
	bool complete; /* there was memory for all */
};

static const struct tensor *tensor_of(const struct blame *blame,
				      const struct outcome_request *request)
{
	return &blame->seen->workload->tensors[request->tensor];
}

/* FILE records hold as much of a path as there is room for. */
static bool is_file(const struct eventlog_record *record, const char *file)
{
	return strncmp(record->text, file, sizeof(record->text) - 1) == 0;
}

static const char *known_file(const struct blame *blame, const struct eventlog_record *record)
{
	const struct workload *workload = blame->seen->workload;

	for (unsigned i = 0; i < workload->tensors_count; i++)
		if (is_file(record, workload->tensors[i].file))
			return workload->tensors[i].file;
	return NULL;
}

static bool same_request(const struct eventlog_record *a, const struct eventlog_record *b)
{
	return a->pid == b->pid && a->ctx == b->ctx && a->number == b->number;
}

/* What the descriptor of a request was opened as, the last time before it was submitted. */
static const char *file_of(const struct blame *blame, uint64_t index,
			   const struct eventlog_record *event)
{
	const struct eventlog_record *submit = NULL;

	while (index--) {
		const struct eventlog_record *record = eventlog_get(blame->seen->log, index);

		if (!record)
			continue;
		if (record->type == EVENTLOG_SUBMIT && !submit && same_request(record, event))
			submit = record;
		if (!submit || record->pid != submit->pid || record->fd != submit->fd)
			continue;
		if (record->type == EVENTLOG_FILE)
			return known_file(blame, record);
		if (record->type == EVENTLOG_CALL && record->point == POINT_close)
			return NULL;
	}
	return NULL;
}

static bool is_strike(const struct eventlog_record *record)
{
	return record->type == EVENTLOG_DELIVER && record->op != FAULT_OP_ANY &&
	       record->result != (int64_t)record->length;
}

static void add_strike(struct blame *blame, uint64_t index, const struct eventlog_record *record)
{
	if (blame->count == blame->room) {
		size_t room = blame->room ? blame->room * 2 : 64;
		struct strike *grown = realloc(blame->strikes, room * sizeof(*grown));

		if (!grown) {
			blame->complete = false;
			return;
		}
		blame->strikes = grown;
		blame->room = room;
	}
	blame->strikes[blame->count++] = (struct strike){
		.index = index,
		.write = record->op == FAULT_OP_WRITE,
		.begin = record->offset,
		.end = record->offset + record->length,
		.length = record->length,
		.result = record->result,
		.file = file_of(blame, index, record),
	};
}

static void collect_strikes(struct blame *blame)
{
	uint64_t count = eventlog_count(blame->seen->log);

	for (uint64_t i = 0; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(blame->seen->log, i);

		if (record && is_strike(record))
			add_strike(blame, i, record);
	}
}

/* A write reads, too: sectors that it shares with its neighbours. */
static bool may_concern(const struct blame *blame, const struct strike *strike,
			const struct outcome_request *request)
{
	if (strike->write && !request->write)
		return false;
	return !strike->file || strcmp(strike->file, tensor_of(blame, request)->file) == 0;
}

static bool meets(const struct strike *strike, uint64_t begin, uint64_t length)
{
	return begin < strike->end && strike->begin < begin + length;
}

/* Causes that come with an event. */
static bool is_of_event(const struct outcome_request *request)
{
	return request->stage == STAGE_DONE && request->error && !request->synchronous &&
	       (strcmp(request->cause, "device") == 0 || strcmp(request->cause, "protocol") == 0 ||
		strcmp(request->cause, "eof") == 0 || strcmp(request->cause, "no-progress") == 0);
}

static bool explains(const struct blame *blame, const struct strike *strike,
		     const struct outcome_request *request)
{
	bool fits;

	if (strcmp(request->cause, "device") == 0)
		fits = strike->result == -(int64_t)request->error;
	else if (strcmp(request->cause, "protocol") == 0)
		fits = strike->result > (int64_t)strike->length;
	else
		fits = strike->result >= 0 && strike->result < (int64_t)strike->length;
	return fits && may_concern(blame, strike, request) &&
	       meets(strike, request->fail_offset, request->fail_length);
}

/*
 * Each request that failed needs an event of its own. Two may have got one each that would explain
 * either, so one that is claimed is taken over where its claimant finds another.
 */
static bool claim(struct blame *blame, const struct outcome_request *request)
{
	for (size_t i = 0; i < blame->count; i++) {
		struct strike *strike = &blame->strikes[i];

		if (!strike->claimant && explains(blame, strike, request)) {
			strike->claimant = request;
			return true;
		}
	}
	for (size_t i = 0; i < blame->count; i++) {
		struct strike *strike = &blame->strikes[i];

		if (strike->visit == blame->visits || !explains(blame, strike, request))
			continue;
		strike->visit = blame->visits;
		if (claim(blame, strike->claimant)) {
			strike->claimant = request;
			return true;
		}
	}
	return false;
}

static void check_blamed(struct blame *blame, const struct outcome_request *request)
{
	blame->visits++;
	if (claim(blame, request))
		return;
	result_add(blame->result, "ledger", CLASS_CONTRACT,
		   "step %u: %s of tensor %s fails with %s, cause %s, in bytes %" PRIu64
		   " + %" PRIu64 ", and no event said so of any of them",
		   request->step + 1, request->write ? "write" : "read",
		   tensor_of(blame, request)->name,
		   errno_name(request->error) ? errno_name(request->error) : "?", request->cause,
		   request->fail_offset, request->fail_length);
}

/* Does the event at @index move the byte at @at of the file for the strike's kind of transfer? */
static bool moves(const struct blame *blame, uint64_t index, const struct strike *strike,
		  uint64_t at, uint64_t *ret_end)
{
	const struct eventlog_record *record = eventlog_get(blame->seen->log, index);
	const char *file;

	if (!record || record->type != EVENTLOG_DELIVER || record->result <= 0 ||
	    (record->op == FAULT_OP_WRITE) != strike->write)
		return false;
	*ret_end = record->offset + (uint64_t)record->result;
	if (record->offset > at || *ret_end <= at)
		return false;
	file = file_of(blame, index, record);
	return !file || strcmp(file, strike->file) == 0;
}

/* Did events that came later, in any order, move all of it after all? */
static bool moved_again(const struct blame *blame, const struct strike *strike)
{
	uint64_t count = eventlog_count(blame->seen->log), at = strike->begin, end;

	for (uint64_t i = strike->index + 1; i < count && at < strike->end; i++) {
		if (!moves(blame, i, strike, at, &end))
			continue;
		at = end;
		i = strike->index;
	}
	return at >= strike->end;
}

/* A request that the strike may have been of, and that failed, or did not. */
static const struct outcome_request *
find_request(const struct blame *blame, const struct strike *strike, bool failed, bool same_op)
{
	const struct outcome *outcome = blame->seen->outcome;

	for (unsigned i = 0; i < outcome->requests_count; i++) {
		const struct outcome_request *request = &outcome->requests[i];
		uint64_t begin = tensor_of(blame, request)->file_offset_bytes;

		if ((request->error != 0) == failed && may_concern(blame, strike, request) &&
		    (!same_op || request->write == strike->write) &&
		    meets(strike, begin, request->length))
			return request;
	}
	return NULL;
}

static void check_struck(struct blame *blame, const struct strike *strike)
{
	const struct outcome_request *whole;

	if (strike->result >= 0 || !strike->file || find_request(blame, strike, true, false) ||
	    moved_again(blame, strike))
		return;
	whole = find_request(blame, strike, false, true);
	if (!whole)
		whole = find_request(blame, strike, false, false);
	if (whole)
		result_add(blame->result, "ledger", CLASS_CONTRACT,
			   "step %u: %s of tensor %s succeeds, although bytes %" PRIu64
			   " + %" PRIu64 " got %s and did not move since",
			   whole->step + 1, whole->write ? "write" : "read",
			   tensor_of(blame, whole)->name, strike->begin, strike->length,
			   errno_name((int)-strike->result) ? errno_name((int)-strike->result)
							    : "an error");
}

/* Requests that nobody waited for, because their handle was closed, are told of nowhere. */
static bool all_are_told(const struct observation *seen)
{
	const struct workload *workload = seen->workload;
	bool started = false;

	for (unsigned i = 0; i < workload->steps_count; i++) {
		enum step_kind kind = workload->steps[i].kind;

		if (started && (kind == STEP_CLOSE || kind == STEP_ABORT))
			return false;
		if (kind == STEP_START || kind == STEP_WAIT)
			started = kind == STEP_START;
	}
	return seen->outcome->ended && !seen->outcome->aborted;
}

void oracle_blame(const struct observation *seen, struct case_result *result)
{
	struct blame blame = {.seen = seen, .result = result, .complete = true};
	const struct outcome *outcome = seen->outcome;

	if (!seen->log)
		return;
	collect_strikes(&blame);
	for (unsigned i = 0; i < outcome->requests_count && blame.complete; i++)
		if (is_of_event(&outcome->requests[i]))
			check_blamed(&blame, &outcome->requests[i]);
	for (size_t i = 0; i < blame.count && all_are_told(seen); i++)
		check_struck(&blame, &blame.strikes[i]);
	free(blame.strikes);
}
