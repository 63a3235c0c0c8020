/* SPDX-License-Identifier: MIT */
/*
 * stage_submit.c - io_submit: the program's batch becomes requests of ours, faults are drawn for
 * each as it is accepted, and the back end gets what they made of it. As in the kernel the batch
 * ends at the first iocb that is refused; its error is seen only when it stands first.
 */
#include <errno.h>
#include <string.h>

#include "backend.h"
#include "ending.h"
#include "files.h"
#include "stage.h"

#define PAGE_LEAST 4096u

struct batch {
	struct stage_req *reqs[STAGE_BATCH];
	long count;
	long error; /* why it ends here, 0: it need not */
};

static bool schedule_needs_path(void)
{
	const struct schedule *schedule = runtime_schedule();

	for (unsigned i = 0; i < schedule->count; i++)
		if (schedule->faults[i].point == POINT_io_event && schedule->faults[i].path[0])
			return true;
	return false;
}

static void draw_faults(struct stage_ctx *ctx, struct stage_req *req)
{
	struct fault_call call = stage_call(POINT_io_event, ctx);
	struct firing firing = {0};

	call.op = (enum fault_op)req->op;
	call.fd = req->fd;
	call.path = schedule_needs_path() ? files_path(req->fd) : NULL;
	if (stage_req_transfers(req)) {
		call.offset = req->offset_bytes;
		call.length = req->length_bytes;
	}
	runtime_decide(&call, &firing);
	req->fault_count = (uint8_t)firing.count;
	memcpy(req->faults, firing.faults, firing.count * sizeof(firing.faults[0]));
}

static void number_request(struct stage_ctx *ctx, struct stage_req *req)
{
	if (!runtime_armed()) {
		req->number = STAGE_UNARMED | ++ctx->accepted_unarmed;
		return;
	}
	req->number = ++ctx->accepted;
	draw_faults(ctx, req);
	stage_check_submit(ctx, req);
	stage_plan_begin(req);
	stage_held_begin(ctx, req);
	if (req->op == FAULT_OP_WRITE && stage_stale_wanted())
		stage_stale_remember(req);
}

/* The list is asked for once a page; @at is the place of @slot in this batch. */
static bool slot_readable(struct iocb **slot, long at)
{
	uintptr_t place = (uintptr_t)slot % PAGE_LEAST;

	if (at && place >= sizeof(*slot) && place <= PAGE_LEAST - sizeof(*slot))
		return true; /* the one before it is in the same page */
	return memory_readable(slot, sizeof(*slot));
}

static long iocb_fetch(struct iocb **slot, long at, struct iocb **ret_obj, struct iocb *ret_copy)
{
	struct iocb *obj;

	if (!slot_readable(slot, at))
		return -EFAULT;
	obj = *slot;
	if (!memory_readable(obj, sizeof(*obj)))
		return -EFAULT;
	memcpy(ret_copy, obj, sizeof(*obj));
	*ret_obj = obj;
	return 0;
}

/* Full as the kernel is full: events that wait in the ring take up places, too. */
static struct stage_req *request_take(struct stage_ctx *ctx)
{
	if (ctx->live + stage_pump_count(ctx) >= ctx->table_count)
		return NULL;
	return stage_req_take(ctx);
}

static long request_make(struct stage_ctx *ctx, struct iocb **slot, long at,
			 struct stage_req **ret_req)
{
	struct stage_req *req;
	struct iocb copy, *obj;
	long err = iocb_fetch(slot, at, &obj, &copy);

	if (err)
		return err;
	if (copy.aio_reserved2 || (int64_t)copy.aio_nbytes < 0)
		return -EINVAL;
	req = request_take(ctx);
	if (!req)
		return -EAGAIN;
	err = stage_req_init(req, &copy, obj);
	if (err) {
		stage_req_release(ctx, req);
		return err;
	}
	if (req->resfd >= 0 && !ctx->pumped)
		stage_pump_want(ctx);
	obj->aio_key = 0;
	req->state = STAGE_INFLIGHT; /* from here on its memory is not the program's */
	*ret_req = req;
	return 0;
}

static void batch_fill(struct stage_ctx *ctx, struct batch *batch, struct iocb **iocbs, long nr)
{
	batch->count = 0;
	batch->error = 0;
	while (batch->count < nr && batch->count < STAGE_BATCH && !batch->error) {
		struct stage_req **slot = &batch->reqs[batch->count];

		batch->error = request_make(ctx, iocbs + batch->count, batch->count, slot);
		if (!batch->error) {
			number_request(ctx, *slot);
			batch->count++;
		}
	}
}

/* What the back end did not take was never accepted; the numbers go to whoever comes next. */
static void batch_give_back(struct stage_ctx *ctx, struct batch *batch, long taken)
{
	for (long i = batch->count - 1; i >= taken; i--) {
		struct stage_req *req = batch->reqs[i];

		for (unsigned j = 0; j < req->fault_count; j++)
			stage_trace_missed(req, j, "io_submit refused the request");
		if (req->number & STAGE_UNARMED)
			ctx->accepted_unarmed--;
		else
			ctx->accepted--;
		stage_req_release(ctx, req);
	}
}

static void batch_accepted(struct stage_ctx *ctx, struct batch *batch, long taken)
{
	for (long i = 0; i < taken; i++) {
		struct stage_req *req = batch->reqs[i];

		if (stage_req_polls(req))
			ctx->polls++;
		else
			ctx->inflight++;
		stage_trace(EVENTLOG_SUBMIT, ctx, req, 0, req->fault_count != 0);
	}
}

/* Up to STAGE_BATCH requests: the number accepted; *ret_error says why no more. */
static long submit_some(struct stage_ctx *ctx, struct iocb **iocbs, long nr, long *ret_error)
{
	struct batch batch;
	long taken = 0;

	batch_fill(ctx, &batch, iocbs, nr);
	*ret_error = batch.error;
	if (batch.count)
		taken = backend()->submit(ctx, batch.reqs, batch.count);
	if (taken < batch.count)
		*ret_error = taken < 0 ? taken : -EAGAIN;
	if (taken < 0)
		taken = 0;
	batch_accepted(ctx, &batch, taken);
	batch_give_back(ctx, &batch, taken);
	return taken;
}

static void note_submitter(struct stage_ctx *ctx)
{
	uint32_t thread = runtime_thread_number();

	if (ctx->submitter != thread)
		ctx->submitter = ctx->submitter ? STAGE_MANY : thread;
}

static long submit_all(struct stage_ctx *ctx, struct iocb **iocbs, long nr)
{
	long done = 0, error = 0;

	if (nr < 0)
		return -EINVAL;
	if (nr > (long)ctx->table_count + 1)
		nr = (long)ctx->table_count + 1;
	stage_lock(ctx);
	while (done < nr && !error)
		done += submit_some(ctx, iocbs + done, nr - done, &error);
	note_submitter(ctx);
	if (ctx->pumped) {
		backend()->reap(ctx);
		stage_pump_ring(ctx);
	}
	stage_unlock(ctx);
	return done ? done : error;
}

static long submit_faulted(struct stage_ctx *ctx, struct iocb **iocbs, long nr,
			   const struct fault *fault, const char **ret_missed)
{
	if (!fault)
		return submit_all(ctx, iocbs, nr);
	if (fault->kind == KIND_io_submit_error)
		return -fault->value;
	if (fault->value >= nr)
		*ret_missed = "the batch is no longer than that";
	return submit_all(ctx, iocbs, fault->value < nr ? (long)fault->value : nr);
}

static long submit_armed(struct stage_ctx *ctx, struct iocb **iocbs, long nr)
{
	struct fault_call call = stage_call(POINT_io_submit, ctx);
	struct firing firing = {0};
	struct fault *fault;
	const char *missed = NULL;
	uint32_t number;
	long result;

	runtime_decide(&call, &firing);
	number = runtime_call_number(POINT_io_submit);
	ending_of(&firing, &call, number);
	fault = firing.count ? firing.faults[0] : NULL;
	result = submit_faulted(ctx, iocbs, nr, fault, &missed);
	for (unsigned i = 1; i < firing.count; i++)
		runtime_log_missed(firing.faults[i], number,
				   "another fault of the call came first");
	if (missed)
		runtime_log_missed(fault, number, missed);
	else if (fault)
		runtime_log_inject(fault, &call, number, result);
	runtime_log_call(&call, number, result, fault && !missed);
	return result;
}

long stage_submit(aio_context_t address, long nr, struct iocb **iocbs)
{
	struct stage_guard guard;
	struct stage_ctx *ctx;
	long result = -EINVAL;

	stage_guard_enter(&guard);
	ctx = stage_get(address);
	if (ctx) {
		result =
			runtime_armed() ? submit_armed(ctx, iocbs, nr) : submit_all(ctx, iocbs, nr);
		stage_put(ctx);
	}
	stage_guard_leave(&guard);
	return result;
}
