/* SPDX-License-Identifier: MIT */
/*
 * stage_plan.c - what the faults of a request do to the transfer: before, when the request is
 * accepted (what is the back end asked for), and after (what is reported, what is in memory).
 * When the program may see the event is stage_deliver.c's.
 */
#include <errno.h>

#include "stage_internal.h"

/* Ask the back end for no byte at all: a real request, a real event, and nothing moves. */
static void move_nothing(struct stage_req *req)
{
	req->nothing = true;
	req->real.aio_nbytes = 0; /* of a vector: no segments */
	req->move_bytes = 0;
}

/* Let the first @bytes move and no more. NULL, or why that cannot be. */
static const char *move_only(struct stage_req *req, uint64_t bytes)
{
	bool flat = req->opcode == IOCB_CMD_PREAD || req->opcode == IOCB_CMD_PWRITE;

	req->move_bytes = bytes;
	if (!bytes)
		move_nothing(req);
	else if (!req->shadow && flat && bytes % stage_sector_bytes(req) == 0)
		req->real.aio_nbytes = bytes;
	else if (req->shadow || stage_shadow_make(req, bytes))
		return "the shadow of the transfer cannot be made";
	return NULL;
}

static const char *begin_short(struct stage_req *req, const struct fault *fault)
{
	uint64_t less = (uint64_t)fault->value;

	return move_only(req, less < req->length_bytes ? req->length_bytes - less : 0);
}

static const char *begin_torn(struct stage_req *req, const struct fault *fault)
{
	if ((uint64_t)fault->value >= req->length_bytes)
		return "the transfer is not longer than that";
	return move_only(req, (uint64_t)fault->value);
}

static const char *begin_flip(struct stage_req *req, const struct fault *fault)
{
	if ((uint64_t)fault->value >= req->length_bytes)
		return "the transfer has no such byte";
	if (req->op == FAULT_OP_READ)
		return NULL; /* afterwards, in memory */
	if (!req->shadow && stage_shadow_make(req, req->length_bytes))
		return "the shadow of the transfer cannot be made";
	return stage_shadow_flip(req, (uint64_t)fault->value) ? "that byte does not move" : NULL;
}

static const char *begin_misdirect(struct stage_req *req, const struct fault *fault)
{
	int64_t offset = req->real.aio_offset + fault->value;

	if (offset < 0)
		return "it would be before the start of the file";
	if (fault->value % (int64_t)stage_sector_bytes(req))
		return "direct I/O cannot be misdirected by part of a sector";
	req->real.aio_offset = offset;
	return NULL;
}

static const char *begin_lost(struct stage_req *req)
{
	if (req->op != FAULT_OP_WRITE)
		return "it is not a write";
	move_nothing(req);
	return NULL;
}

static const char *begin_one(struct stage_req *req, const struct fault *fault)
{
	switch ((unsigned)fault->kind) {
	case KIND_io_event_short:
		return begin_short(req, fault);
	case KIND_io_event_zero:
		move_nothing(req);
		return NULL;
	case KIND_io_event_res:
		if (!fault->after)
			move_nothing(req);
		return NULL;
	case KIND_io_event_torn:
		return begin_torn(req, fault);
	case KIND_io_event_flip:
		return begin_flip(req, fault);
	case KIND_io_event_misdirect:
		return begin_misdirect(req, fault);
	case KIND_io_event_lost:
		return begin_lost(req);
	case KIND_io_event_stale:
		return req->op == FAULT_OP_READ ? NULL : "it is not a read";
	}
	return NULL;
}

/* Kinds that say something about the events, whatever the request does. */
static bool kind_needs_transfer(enum kind_id kind)
{
	switch ((unsigned)kind) {
	case KIND_io_event_res:
	case KIND_io_event_hold:
	case KIND_io_event_drop:
	case KIND_io_event_dup:
	case KIND_io_event_unknown:
	case KIND_io_event_reorder:
	case KIND_io_event_crash:
	case KIND_io_event_kill:
		return false;
	}
	return true;
}

static void begin_events(struct stage_req *req, const struct fault *fault)
{
	if (fault->kind == KIND_io_event_dup)
		req->copies = 2;
	else if (fault->kind == KIND_io_event_unknown)
		req->stray_first = true;
}

/* The kernel does not say when a request is due. */
static const char *why_not_end(const struct fault *fault)
{
	if (runtime_sim())
		return NULL;
	return fault_kills(fault) ? "only sim knows when a request is about to be done"
				  : "only sim can lose what is not durable";
}

void stage_plan_begin(struct stage_req *req)
{
	unsigned i;

	for (i = 0; i < req->fault_count; i++) {
		const struct fault *fault = req->faults[i];
		const char *why = NULL;

		if (fault_ends_process(fault))
			why = why_not_end(fault);
		else if (stage_req_transfers(req))
			why = begin_one(req, fault);
		else if (kind_needs_transfer(fault->kind))
			why = "the request moves no data";
		if (why)
			stage_trace_missed(req, i, why);
		else
			begin_events(req, fault);
	}
}

/* What was really moved, as far as the program may know: short of a sector, nothing of the rest. */
static int64_t moved(struct stage_req *req)
{
	int64_t result = req->real_result;

	if (result < 0)
		return result;
	if ((uint64_t)result > req->move_bytes && stage_req_transfers(req))
		result = (int64_t)req->move_bytes;
	if (req->shadow && req->op == FAULT_OP_READ && stage_shadow_out(req, (uint64_t)result))
		return -EFAULT;
	return result;
}

static const char *end_flip(struct stage_req *req, const struct fault *fault)
{
	if (req->op == FAULT_OP_WRITE)
		return req->result > fault->value ? NULL : "that byte did not move";
	if (req->result <= fault->value)
		return "that byte did not move";
	return stage_memory_flip(req, (uint64_t)fault->value) ? NULL : "the memory is gone";
}

static const char *end_stale(struct stage_req *req)
{
	switch (stage_stale_apply(req)) {
	case 0:
		return NULL;
	case -ENOENT:
		return "the range was not written before";
	case -EALREADY:
		return "the range held the same before";
	}
	return "the memory cannot be reached";
}

/* Report @result in place of what really came; an error of the device comes first. */
static const char *report(struct stage_req *req, int64_t result)
{
	if (req->real_result < 0)
		return "the request failed by itself";
	req->result = result;
	return NULL;
}

/* A file that ends before would have made it short anyway. */
static const char *end_short(struct stage_req *req)
{
	if (!req->nothing && (uint64_t)req->real_result < req->move_bytes)
		return "the file ends before that";
	return report(req, req->result);
}

static const char *end_lie(struct stage_req *req, const struct fault *fault)
{
	int64_t result = req->result - fault->value;

	return report(req, result < 0 ? 0 : result);
}

static const char *end_one(struct stage_req *req, const struct fault *fault)
{
	switch ((unsigned)fault->kind) {
	case KIND_io_event_short:
		return end_short(req);
	case KIND_io_event_zero:
		return report(req, 0);
	case KIND_io_event_lie:
		return end_lie(req, fault);
	case KIND_io_event_res:
		req->result = -fault->value;
		return NULL;
	case KIND_io_event_torn:
	case KIND_io_event_lost:
		return report(req, (int64_t)req->length_bytes);
	case KIND_io_event_flip:
		return end_flip(req, fault);
	case KIND_io_event_stale:
		return end_stale(req);
	case KIND_io_event_misdirect:
		return report(req, req->result);
	}
	return NULL;
}

/* Kinds that stage_deliver.c logs, when the program could see them. */
static bool kind_is_delivery(enum kind_id kind)
{
	return !kind_needs_transfer(kind) && kind != KIND_io_event_res;
}

/* The back end is done: settle what is in memory and what will be reported. */
void stage_plan_end(struct stage_ctx *ctx, struct stage_req *req)
{
	unsigned i;

	req->result = moved(req);
	for (i = 0; i < req->fault_count; i++) {
		const char *why;

		if (stage_trace_told(req, i) || kind_is_delivery(req->faults[i]->kind))
			continue;
		why = end_one(req, req->faults[i]);
		if (why)
			stage_trace_missed(req, i, why);
		else
			stage_trace_taken(ctx, req, i);
	}
}
