/* SPDX-License-Identifier: MIT */
/*
 * stage_held.c - events that the program may not see yet: held until another event was delivered or
 * a wait began, and shuffled ones, which wait until all that is in flight together is done.
 *
 * Everything here is called with the context's lock held.
 */
#include "backend.h"
#include "stage.h"

#define GOLDEN 0x9e3779b97f4a7c15u

/* Is the event of that number still to come: in flight, done and kept back, or not yet submitted?
 */
static bool event_to_come(const struct stage_ctx *ctx, uint64_t number)
{
	if (number > ctx->accepted)
		return true;
	for (unsigned i = 0; i < ctx->table_used; i++)
		if (ctx->table[i].state != STAGE_FREE && ctx->table[i].number == number)
			return true;
	return false;
}

static bool hold_lasts(const struct stage_ctx *ctx, const struct fault *fault)
{
	switch (fault->until) {
	case FAULT_UNTIL_EVENT:
		return event_to_come(ctx, fault->until_number);
	case FAULT_UNTIL_WAIT:
		return ctx->waits_begun < fault->until_number;
	case FAULT_UNTIL_NEVER:
	case FAULT_UNTIL_REQUEST: /* these two are the device's, and no hold of an event */
	case FAULT_UNTIL_TIME:
	case FAULT_UNTIL_NONE:
		return true;
	}
	return false;
}

static const struct fault *hold_of(const struct stage_req *req, unsigned *ret_index)
{
	for (unsigned i = 0; i < req->fault_count; i++) {
		*ret_index = i;
		if (req->faults[i]->kind == KIND_io_event_hold)
			return req->faults[i];
	}
	return NULL;
}

/* Accepted too late: what the event is to be held for has been before. */
void stage_held_begin(struct stage_ctx *ctx, struct stage_req *req)
{
	unsigned index;
	const struct fault *fault = hold_of(req, &index);

	if (fault && !hold_lasts(ctx, fault))
		stage_trace_missed(req, index, "what it is held for has come before");
}

bool stage_held_keep(struct stage_ctx *ctx, struct stage_req *req)
{
	unsigned index;
	const struct fault *fault = hold_of(req, &index);

	if (!fault || stage_trace_told(req, index))
		return false;
	if (!runtime_armed()) {
		stage_trace_missed(req, index, "disarmed before it was done");
		return false;
	}
	stage_trace_taken(ctx, req, index);
	if (!hold_lasts(ctx, fault))
		return false; /* done only now, so it comes after what it was to be held for */
	req->state = STAGE_HELD;
	stage_list_add(&ctx->held, req);
	return true;
}

static void let_go_if(struct stage_ctx *ctx, bool (*ended)(const struct fault *, uint64_t),
		      uint64_t number)
{
	struct stage_req *req = ctx->held.first, *next;
	unsigned index;

	for (; req; req = next) {
		next = req->next;
		if (!ended(hold_of(req, &index), number))
			continue;
		stage_list_remove(&ctx->held, req);
		stage_ready_add(ctx, req);
	}
}

static bool ended_by_event(const struct fault *fault, uint64_t number)
{
	return fault->until == FAULT_UNTIL_EVENT && fault->until_number == number;
}

static bool ended_by_wait(const struct fault *fault, uint64_t number)
{
	return fault->until == FAULT_UNTIL_WAIT && fault->until_number <= number;
}

static bool ended_by_disarm(const struct fault *fault, uint64_t number)
{
	(void)fault;
	(void)number;
	return true;
}

void stage_held_check_event(struct stage_ctx *ctx, uint32_t number)
{
	if (ctx->held.first)
		let_go_if(ctx, ended_by_event, number);
}

void stage_held_check_wait(struct stage_ctx *ctx)
{
	if (ctx->held.first)
		let_go_if(ctx, ended_by_wait, ctx->waits_begun);
}

void stage_held_let_go(struct stage_ctx *ctx)
{
	let_go_if(ctx, ended_by_disarm, 0);
	stage_shuffle_settle(ctx);
}

static int shuffle_of(const struct stage_req *req)
{
	for (int i = 0; i < req->fault_count; i++)
		if (req->faults[i]->kind == KIND_io_event_reorder)
			return i;
	return -1;
}

bool stage_shuffle_keep(struct stage_ctx *ctx, struct stage_req *req)
{
	struct stage_req **link = &ctx->shuffled.first, *last;

	if (shuffle_of(req) < 0)
		return false;
	req->state = STAGE_SHUFFLED;
	/* By number: the order drawn must not depend on the order of completion. */
	while (*link && (*link)->number < req->number)
		link = &(*link)->next;
	req->next = *link;
	*link = req;
	ctx->shuffled.count++;
	for (last = req; last->next; last = last->next)
		;
	ctx->shuffled.last = last;
	return true;
}

static uint64_t draw(uint64_t *state)
{
	uint64_t x = (*state += GOLDEN);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* The one at @index, counted from the first. */
static struct stage_req *take_at(struct stage_list *list, uint64_t index)
{
	struct stage_req *req = list->first;

	while (index--)
		req = req->next;
	stage_list_remove(list, req);
	return req;
}

static void shuffle_out(struct stage_ctx *ctx)
{
	unsigned alone = ctx->shuffled.count == 1;
	const struct fault *fault = ctx->shuffled.first->faults[shuffle_of(ctx->shuffled.first)];
	uint64_t state =
		(uint64_t)fault->value * GOLDEN + ctx->number + ((uint64_t)++ctx->shuffles << 32);

	/* Never the order of submission: the first to go is not the first that came. */
	for (uint64_t least = 1; ctx->shuffled.first; least = 0) {
		uint64_t count = ctx->shuffled.count;
		uint64_t index = count == 1 ? 0 : least + draw(&state) % (count - least);
		struct stage_req *req = take_at(&ctx->shuffled, index);

		if (alone)
			stage_trace_missed(req, (unsigned)shuffle_of(req),
					   "nothing else was in flight with it");
		else
			stage_trace_taken(ctx, req, (unsigned)shuffle_of(req));
		stage_ready_add(ctx, req);
	}
}

void stage_shuffle_settle(struct stage_ctx *ctx)
{
	if (ctx->shuffled.first && !ctx->inflight)
		shuffle_out(ctx);
}

static void release_held(struct stage_ctx *ctx)
{
	stage_lock(ctx);
	stage_held_let_go(ctx);
	if (ctx->pumped)
		stage_pump_ring(ctx);
	if (ctx->blocked && stage_available(ctx))
		backend()->kick(ctx);
	stage_unlock(ctx);
}

void stage_release_held(void)
{
	struct stage_guard guard;
	struct stage_ctx *ctx;

	stage_guard_enter(&guard);
	for (unsigned i = 0; (ctx = stage_context_at(i)) != NULL; i++) {
		aio_context_t address = (aio_context_t)(uintptr_t)atomic_load(&ctx->ring);

		ctx = stage_get(address);
		if (!ctx)
			continue;
		release_held(ctx);
		stage_put(ctx);
	}
	stage_guard_leave(&guard);
}
