/* SPDX-License-Identifier: MIT */
/*
 * stage_cancel.c - io_cancel: the kernel knows the request by our address of it. What is done and
 * only kept back from the program can no more be cancelled.
 */
#include <errno.h>

#include "backend.h"
#include "stage.h"

static struct stage_req *find(struct stage_ctx *ctx, const struct iocb *obj)
{
	for (unsigned i = 0; i < ctx->table_used; i++)
		if (ctx->table[i].state == STAGE_INFLIGHT && ctx->table[i].obj == obj)
			return &ctx->table[i];
	return NULL;
}

static long cancel(struct stage_ctx *ctx, struct iocb *iocb, struct io_event *ret_event)
{
	struct stage_req *req;
	long result = -EINVAL;

	if (!memory_readable(iocb, sizeof(*iocb)))
		return -EFAULT;
	if (iocb->aio_key)
		return -EINVAL;
	stage_lock(ctx);
	req = find(ctx, iocb);
	if (req)
		result = backend()->cancel(ctx, req, ret_event);
	stage_unlock(ctx);
	return result;
}

static long cancel_armed(struct stage_ctx *ctx, struct iocb *iocb, struct io_event *ret_event)
{
	struct fault_call call = stage_call(POINT_io_cancel, ctx);
	struct firing firing = {0};
	uint32_t number;
	long result;

	runtime_decide(&call, &firing);
	number = runtime_call_number(POINT_io_cancel);
	result = firing.count ? -firing.faults[0]->value : cancel(ctx, iocb, ret_event);
	if (firing.count)
		runtime_log_inject(firing.faults[0], &call, number, result);
	runtime_log_call(&call, number, result, firing.count != 0);
	return result;
}

long stage_cancel(aio_context_t address, struct iocb *iocb, struct io_event *ret_event)
{
	struct stage_guard guard;
	struct stage_ctx *ctx;
	long result = -EINVAL;

	stage_guard_enter(&guard);
	ctx = stage_get(address);
	if (ctx) {
		result = runtime_armed() ? cancel_armed(ctx, iocb, ret_event)
					 : cancel(ctx, iocb, ret_event);
		stage_put(ctx);
	}
	stage_guard_leave(&guard);
	return result;
}
