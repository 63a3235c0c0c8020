/* SPDX-License-Identifier: MIT */
/*
 * stage_trace.c - the records of requests in the event log: accepted, done, delivered; and of each
 * fault of a request, exactly once, whether it took effect or why not.
 */
#include "case.h"
#include "stage_internal.h"

/* One of the AIO calls as conditions see it. @ctx: NULL for none. */
struct fault_call stage_call(enum point_id point, const struct stage_ctx *ctx)
{
	return (struct fault_call){
		.point = point,
		.fd = -1,
		.offset = SCHEDULE_ANY,
		.length = SCHEDULE_ANY,
		.depth = ctx ? ctx->live : SCHEDULE_ANY,
		.ctx = ctx ? ctx->number : SCHEDULE_ANY,
		.thread = runtime_thread_number(),
		.proc = runtime_process_number(),
	};
}

static struct fault_call request_call(const struct stage_ctx *ctx, const struct stage_req *req)
{
	return (struct fault_call){
		.point = POINT_io_event,
		.op = (enum fault_op)req->op,
		.fd = req->fd,
		.offset = req->offset_bytes,
		.length = req->length_bytes,
		.depth = SCHEDULE_ANY,
		.ctx = ctx->number,
		.thread = runtime_thread_number(),
		.proc = runtime_process_number(),
	};
}

static struct eventlog_record request_record(const struct stage_ctx *ctx,
					     const struct stage_req *req)
{
	return (struct eventlog_record){
		.point = POINT_io_event,
		.op = req->op,
		.ctx = ctx->number,
		.number = req->number,
		.fd = req->fd,
		.offset = req->offset_bytes,
		.length = req->length_bytes,
		.address = req->iov_count ? (uint64_t)(uintptr_t)req->iov[0].iov_base : 0,
	};
}

void stage_trace(enum eventlog_type type, const struct stage_ctx *ctx, const struct stage_req *req,
		 int64_t result, bool injected)
{
	struct eventlog_record record;

	if (!runtime_log())
		return;
	record = request_record(ctx, req);
	record.time_ns = runtime_now_ns();
	record.pid = (uint32_t)runtime_case.pid;
	record.tid = runtime_thread_number();
	record.type = (uint8_t)type;
	record.flags = injected ? EVENTLOG_INJECTED : 0;
	record.result = result;
	runtime_log_append(&record);
}

void stage_trace_taken(struct stage_ctx *ctx, struct stage_req *req, unsigned index)
{
	struct fault_call call = request_call(ctx, req);

	if (stage_trace_told(req, index))
		return;
	req->told |= (uint8_t)(1u << index);
	req->taken |= (uint8_t)(1u << index);
	runtime_log_inject(req->faults[index], &call, req->number, req->result);
}

void stage_trace_missed(struct stage_req *req, unsigned index, const char *why)
{
	if (stage_trace_told(req, index))
		return;
	req->told |= (uint8_t)(1u << index);
	runtime_log_missed(req->faults[index], req->number, why);
}

void stage_trace_check(const struct stage_ctx *ctx, const struct stage_req *req, const char *text)
{
	struct eventlog_record record = request_record(ctx, req);

	runtime_log_check(text, &record);
}

/* Was what the program sees of the request changed by a fault? */
bool stage_trace_injected(const struct stage_req *req)
{
	return req->taken != 0;
}
