/* SPDX-License-Identifier: MIT */
/*
 * stage_deliver.c - from done to the program: what came of a request is settled, its event is
 * shown, kept back or dropped, and whatever can be taken is taken in the order of readiness.
 */
#include <errno.h>

#include "backend.h"

/* An event of no request: what a program finds there must not be followed. */
#define STRAY_DATA 0x5741595354524159u

static struct iocb stray;

static int fault_of(const struct stage_req *req, enum kind_id kind)
{
	for (int i = 0; i < req->fault_count; i++)
		if (req->faults[i]->kind == kind)
			return i;
	return -1;
}

static bool dropped(struct stage_ctx *ctx, struct stage_req *req)
{
	int index = fault_of(req, KIND_io_event_drop);

	if (index < 0)
		return false;
	req->state = STAGE_DROPPED;
	stage_trace_taken(ctx, req, (unsigned)index);
	return true;
}

void stage_ready_add(struct stage_ctx *ctx, struct stage_req *req)
{
	req->state = STAGE_READY;
	ctx->ready_events += req->copies + req->stray_first;
	stage_list_add(&ctx->ready, req);
}

/**
 * stage_completed() - the back end is done with a request
 * @ctx:    its context, locked
 * @req:    in flight
 * @result: what the back end answers: bytes or -errno
 */
void stage_completed(struct stage_ctx *ctx, struct stage_req *req, int64_t result)
{
	req->real_result = result;
	if (stage_req_polls(req))
		ctx->polls--;
	else
		ctx->inflight--;
	stage_trace(EVENTLOG_COMPLETE, ctx, req, result, false);
	stage_check_complete(ctx, req);
	stage_plan_end(ctx, req);
	if (dropped(ctx, req) || stage_held_keep(ctx, req) || stage_shuffle_keep(ctx, req))
		return;
	stage_ready_add(ctx, req);
}

unsigned stage_available(struct stage_ctx *ctx)
{
	stage_shuffle_settle(ctx);
	return ctx->ready_events + stage_pump_count(ctx);
}

static void tell(struct stage_ctx *ctx, struct stage_req *req, enum kind_id kind)
{
	int index = fault_of(req, kind);

	if (index >= 0)
		stage_trace_taken(ctx, req, (unsigned)index);
}

static void take_stray(struct stage_ctx *ctx, struct stage_req *req, struct io_event *event)
{
	*event = (struct io_event){.data = STRAY_DATA,
				   .obj = (uint64_t)(uintptr_t)&stray,
				   .res = (int64_t)req->length_bytes};
	req->stray_first = false;
	tell(ctx, req, KIND_io_event_unknown);
}

static void take_event(struct stage_ctx *ctx, struct stage_req *req, struct io_event *event)
{
	*event = (struct io_event){
		.data = req->data, .obj = (uint64_t)(uintptr_t)req->obj, .res = req->result};
	if (--req->copies == 0)
		tell(ctx, req, KIND_io_event_dup);
	stage_trace(EVENTLOG_DELIVER, ctx, req, req->result, stage_trace_injected(req));
}

/* The next event, if there is one. @ret_resfd: the eventfd to be signalled for it, or -1. */
bool stage_take_one(struct stage_ctx *ctx, struct io_event *event, int *ret_resfd)
{
	struct stage_req *req = ctx->ready.first;
	uint32_t number;

	if (!req)
		return false;
	ctx->ready_events--;
	*ret_resfd = req->resfd;
	if (req->stray_first) {
		take_stray(ctx, req, event);
		return true;
	}
	take_event(ctx, req, event);
	if (req->copies)
		return true;
	number = req->number;
	stage_list_take(&ctx->ready);
	stage_req_release(ctx, req);
	stage_held_check_event(ctx, number);
	return true;
}

static long take_ready(struct stage_ctx *ctx, struct io_event *events, long nr)
{
	int resfd;
	long got = 0;

	while (got < nr && stage_take_one(ctx, &events[got], &resfd))
		got++;
	return got;
}

long stage_take(struct stage_ctx *ctx, struct io_event *events, long nr)
{
	long available = (long)stage_available(ctx), got;

	if (nr > available)
		nr = available;
	if (nr <= 0)
		return 0;
	if (!memory_writable(events, (size_t)nr * sizeof(*events)))
		return -EFAULT;
	got = ctx->pumped ? stage_pump_take(ctx, events, nr) : 0;
	return got + take_ready(ctx, events + got, nr - got);
}
