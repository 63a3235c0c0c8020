/* SPDX-License-Identifier: MIT */
/*
 * durable_inflight.c - requests that the program has in flight when the power goes: each of their
 * sectors may have arrived. They are carried out into the journal, like writes that nobody made
 * durable, and the draw does the rest. Those of another process are lost.
 */
#include "durable_internal.h"
#include "sim_io.h"

static void carry_out(struct stage_ctx *ctx)
{
	for (const struct stage_req *req = ctx->scheduled.first; req; req = req->next)
		if (req->op == FAULT_OP_WRITE)
			sim_io_in_flight(req);
}

void durable_carry_out_inflight(void)
{
	struct stage_guard guard;
	struct stage_ctx *ctx;

	stage_guard_enter(&guard);
	for (unsigned i = 0; (ctx = stage_context_at(i)) != NULL; i++) {
		ctx = stage_get((aio_context_t)(uintptr_t)atomic_load(&ctx->ring));
		if (!ctx)
			continue;
		stage_lock(ctx);
		carry_out(ctx);
		stage_unlock(ctx);
		stage_put(ctx);
	}
	stage_guard_leave(&guard);
}
