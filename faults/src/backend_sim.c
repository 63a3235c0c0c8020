/* SPDX-License-Identifier: MIT */
/*
 * backend_sim.c - requests are carried out here, in an order drawn from the seed, in virtual time.
 * A request is done at the moment at which its completion is due: until then nothing has moved.
 */
#include <errno.h>

#include "backend.h"
#include "emulated.h"
#include "ending.h"
#include "files.h"
#include "sigmask.h"
#include "sim_io.h"
#include "simclock.h"

#define MIX 0x9e3779b97f4a7c15u
#define LATENCY_LEAST_NS 10000u
#define LATENCY_SPREAD_NS 100000u
#define LOOK_NS 1000u /* what a look at an empty ring costs */
#define POLL_AGAIN_NS 1000000u

#define EVENTS_MAX (0x10000000u / sizeof(struct io_event))
#define AIO_MAX_NR 65536u

static _Atomic unsigned reserved; /* what the contexts of this process asked for */

struct sim_place {
	struct simclock_waiter waiter;
	struct sim_place *next;
};

static uint64_t draw(struct stage_ctx *ctx)
{
	uint64_t x;

	if (!ctx->rng)
		ctx->rng = runtime_seed() * MIX + ctx->number;
	x = ctx->rng += MIX;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* The limits of fs/aio.c, with fs.aio-max-nr as it is by default. */
static int sim_open(struct stage_ctx *ctx, unsigned nr_events)
{
	unsigned cpus = 4 * stage_processors(), wish = nr_events;
	uint64_t events = 2 * (uint64_t)(wish > cpus ? wish : cpus);

	if (events > EVENTS_MAX)
		return -EINVAL;
	if (atomic_fetch_add(&reserved, wish) + wish > AIO_MAX_NR) {
		atomic_fetch_sub(&reserved, wish);
		return -EAGAIN;
	}
	ctx->reserved = wish;
	return 0;
}

static void schedule_request(struct stage_ctx *ctx, struct stage_req *req, uint64_t delay_ns)
{
	struct stage_list *list = &ctx->scheduled;
	struct stage_req **link = &list->first;

	req->due_ns = simclock_now_ns() + delay_ns;
	if (list->last && list->last->due_ns <= req->due_ns) {
		stage_list_add(list, req);
		return;
	}
	while (*link && (*link)->due_ns <= req->due_ns)
		link = &(*link)->next;
	req->next = *link;
	*link = req;
	if (!req->next)
		list->last = req;
	list->count++;
}

static void kick(struct stage_ctx *ctx)
{
	for (struct sim_place *place = ctx->places; place; place = place->next)
		simclock_wake(&place->waiter);
}

/* Nothing returns from an end; from a crash that could not be, the request goes on being in flight.
 */
static void end_at(struct stage_ctx *ctx, struct stage_req *req, unsigned index)
{
	struct fault_call call = stage_call(POINT_io_event, ctx);

	call.op = (enum fault_op)req->op;
	call.fd = req->fd;
	call.offset = req->offset_bytes;
	call.length = req->length_bytes;
	req->told |= (uint8_t)(1u << index);
	stage_list_push(&ctx->scheduled, req);
	stage_unlock(ctx);
	ending_at(req->faults[index], &call, req->number);
	stage_lock(ctx);
}

static bool end_if_told(struct stage_ctx *ctx, struct stage_req *req)
{
	for (unsigned i = 0; i < req->fault_count; i++)
		if (fault_ends_process(req->faults[i]) && !stage_trace_told(req, i)) {
			end_at(ctx, req, i);
			return true;
		}
	return false;
}

static void carry_out(struct stage_ctx *ctx, struct stage_req *req)
{
	int64_t result;

	if (end_if_told(ctx, req))
		return;
	result = sim_io(req);
	if (result == SIM_IO_LATER) {
		schedule_request(ctx, req, POLL_AGAIN_NS);
		return;
	}
	stage_completed(ctx, req, result);
	stage_req_drop_fd(req);
}

static void carry_out_due(struct stage_ctx *ctx)
{
	uint64_t now = simclock_now_ns();

	while (ctx->scheduled.first && ctx->scheduled.first->due_ns <= now)
		carry_out(ctx, stage_list_take(&ctx->scheduled));
	if (ctx->pumped)
		stage_pump_ring(ctx);
}

static long sim_submit(struct stage_ctx *ctx, struct stage_req **reqs, long nr)
{
	long taken = 0;
	int err = 0;

	for (; taken < nr && !err; taken += !err) {
		struct stage_req *req = reqs[taken];

		err = sim_io_check(req);
		if (err)
			break;
		req->direct = files_direct(req->fd);
		stage_req_keep_fd(req);
		/* Programs that make no wait give virtual time no chance to pass. */
		schedule_request(ctx, req,
				 ctx->pumped ? 0
					     : LATENCY_LEAST_NS + draw(ctx) % LATENCY_SPREAD_NS);
	}
	kick(ctx);
	return taken ? taken : err;
}

static void place_enter(struct stage_ctx *ctx, struct sim_place *place)
{
	*place = (struct sim_place){.next = ctx->places};
	ctx->places = place;
	ctx->blocked++;
}

static void place_leave(struct stage_ctx *ctx, struct sim_place *place)
{
	struct sim_place **link = &ctx->places;

	while (*link != place)
		link = &(*link)->next;
	*link = place->next;
	ctx->blocked--;
	emulated_is_ours_again(place, sizeof(*place));
}

/* When the @need-th completion from now is due, or the last if there are fewer. */
static uint64_t due_of(const struct stage_ctx *ctx, long need, uint64_t deadline_ns)
{
	const struct stage_req *req = ctx->scheduled.first;

	while (req && req->next && --need > 0)
		req = req->next;
	return req && req->due_ns < deadline_ns ? req->due_ns : deadline_ns;
}

/* Sleep until @need completions are due, @deadline_ns, or a kick; what is due is carried out. */
static int sleep_here(struct stage_ctx *ctx, uint64_t deadline_ns, uint64_t mask, long need)
{
	uint64_t due_ns = due_of(ctx, need, deadline_ns);
	struct sim_place place;
	int ended;

	place_enter(ctx, &place);
	stage_unlock(ctx);
	ended = simclock_block_open(&place.waiter, due_ns, mask);
	stage_lock(ctx);
	place_leave(ctx, &place);
	carry_out_due(ctx);
	return ended;
}

static long sim_block(struct stage_wait *wait, long need)
{
	int ended;

	if (simclock_now_ns() >= wait->deadline_ns)
		return -ETIMEDOUT;
	ended = sleep_here(wait->ctx, wait->deadline_ns, wait->mask, need);
	return ended == -EINTR ? -EINTR : 0;
}

/* A program that only looks must see time pass, or it would look for ever. */
static void sim_look(struct stage_ctx *ctx)
{
	sleep_here(ctx, simclock_now_ns() + LOOK_NS, UINT64_MAX, 1);
}

static void sim_reap(struct stage_ctx *ctx)
{
	carry_out_due(ctx);
}

static int sim_make_ready(struct stage_wait *wait, uint64_t events)
{
	struct stage_ctx *ctx = wait->ctx;

	carry_out_due(ctx);
	while (stage_available(ctx) < events) {
		if (!ctx->inflight)
			return -ENOENT;
		sleep_here(ctx, UINT64_MAX, UINT64_MAX, 1);
	}
	return 0;
}

/* The lock is dropped: a handler may call us again. */
static int sim_interrupt(struct stage_wait *wait, int signal)
{
	stage_signal_raise(signal);
	stage_unlock(wait->ctx);
	sigmask_set(wait->mask & ~stage_signal_bit(signal));
	sigmask_set(SIGMASK_ALL);
	stage_lock(wait->ctx);
	return 0;
}

/* Nobody outside can stop virtual time: only what the kernel makes of it is shown. */
static int sim_stop(struct stage_wait *wait, enum eventlog_request request)
{
	(void)wait;
	(void)request;
	return 0;
}

static long sim_cancel(struct stage_ctx *ctx, struct stage_req *req, struct io_event *ret_event)
{
	(void)ret_event;
	if (!stage_req_polls(req))
		return -EINVAL;
	stage_list_remove(&ctx->scheduled, req);
	stage_completed(ctx, req, 0);
	stage_req_drop_fd(req);
	return -EINPROGRESS;
}

static void sim_drain(struct stage_ctx *ctx)
{
	while (ctx->scheduled.first) {
		struct stage_req *req = stage_list_take(&ctx->scheduled);

		if (!stage_req_polls(req))
			carry_out(ctx, req);
	}
}

static void sim_close(struct stage_ctx *ctx)
{
	atomic_fetch_sub(&reserved, ctx->reserved);
	kick(ctx);
}

const struct backend backend_sim = {
	.open = sim_open,
	.drain = sim_drain,
	.close = sim_close,
	.submit = sim_submit,
	.reap = sim_reap,
	.look = sim_look,
	.block = sim_block,
	.kick = kick,
	.make_ready = sim_make_ready,
	.interrupt = sim_interrupt,
	.stop = sim_stop,
	.cancel = sim_cancel,
};
