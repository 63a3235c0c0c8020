/* SPDX-License-Identifier: MIT */
/*
 * backend_kernel.c - the kernel carries out the requests, in a context of its own that the program
 * never sees. The program's own thread blocks in the real wait, in the call that it made.
 */
#include <errno.h>
#include <linux/memfd.h>

#include "backend.h"
#include "kernel_wait.h"
#include "rawcall.h"

#define PATIENCE_NS 2000000000u
#define STOP_SLICE_NS 50000000u

static int kernel_open(struct stage_ctx *ctx, unsigned nr_events)
{
	return (int)raw_call(SYS_io_setup, nr_events, &ctx->kernel);
}

/* Ends what never completes by itself, and the waits of other threads. */
static void kernel_close(struct stage_ctx *ctx)
{
	raw_call(SYS_io_destroy, ctx->kernel);
}

/* The completion of a pumped context wakes the pump through an eventfd. */
static void add_eventfd(const struct stage_ctx *ctx, struct stage_req *req)
{
	int fd = ctx->pumped || req->resfd >= 0 ? stage_pump_eventfd() : -1;

	if (fd < 0)
		return;
	req->real.aio_flags |= IOCB_FLAG_RESFD;
	req->real.aio_resfd = (uint32_t)fd;
}

static long kernel_submit(struct stage_ctx *ctx, struct stage_req **reqs, long nr)
{
	struct iocb *iocbs[STAGE_BATCH];
	long done = 0;

	for (long i = 0; i < nr; i++) {
		add_eventfd(ctx, reqs[i]);
		iocbs[i] = &reqs[i]->real;
	}
	while (done < nr) {
		long taken = raw_call(SYS_io_submit, ctx->kernel, nr - done, iocbs + done);

		if (taken <= 0)
			return done ? done : taken;
		done += taken;
	}
	return done;
}

static void complete(struct stage_ctx *ctx, const struct io_event *events, long count)
{
	for (long i = 0; i < count; i++) {
		/* The request begins with the iocb that the kernel was given. */
		struct stage_req *req = (struct stage_req *)(uintptr_t)events[i].obj;

		if (&req->real != &ctx->wake)
			stage_completed(ctx, req, events[i].res);
	}
	if (ctx->pumped)
		stage_pump_ring(ctx);
}

static void kernel_reap(struct stage_ctx *ctx)
{
	struct timespec none = {0, 0};
	struct io_event events[STAGE_BATCH];
	long count = STAGE_BATCH;

	while (count == STAGE_BATCH && kernel_has_events(ctx)) {
		count = raw_call(SYS_io_getevents, ctx->kernel, 0, STAGE_BATCH, events, &none);
		complete(ctx, events, count);
	}
}

/* Be in the real wait with the lock dropped; what came is completed. The call's answer. */
static long enter(struct stage_wait *wait, struct kernel_wait *real)
{
	struct stage_ctx *ctx = wait->ctx;
	struct io_event events[STAGE_BATCH];
	long count;

	if (real->min > STAGE_BATCH)
		real->min = STAGE_BATCH;
	real->context = ctx->kernel;
	real->nr = STAGE_BATCH;
	real->events = events;
	ctx->blocked++;
	if (real->min > ctx->blocked_need)
		ctx->blocked_need = (unsigned)real->min;
	stage_unlock(ctx);
	count = kernel_wait(real);
	stage_lock(ctx);
	if (--ctx->blocked == 0)
		ctx->blocked_need = 0;
	complete(ctx, events, count);
	return count;
}

/* Until armed nothing is kept back, and nobody need be woken but by the kernel's own events. */
static long enough(const struct stage_wait *wait, long need)
{
	return runtime_armed() || wait->ctx->pumped ? 1 : need;
}

static long kernel_block(struct stage_wait *wait, long need)
{
	struct kernel_wait real = {
		.min = enough(wait, need), .call = wait->call, .mask = wait->mask};
	uint64_t now = wait->deadline_ns == STAGE_FOREVER ? 0 : runtime_now_ns();
	long count;

	if (now >= wait->deadline_ns)
		return -ETIMEDOUT;
	real.timeout_ns =
		wait->deadline_ns == STAGE_FOREVER ? STAGE_FOREVER : wait->deadline_ns - now;
	count = enter(wait, &real);
	if (count == 0)
		return -ETIMEDOUT;
	/* Fewer than asked: as in the kernel a handler or the time ended it. */
	return count < 0 ? count : count < real.min ? -EINTR : 0;
}

/* A read of nothing completes at once; as many as the neediest wait asks for. */
static void kernel_kick(struct stage_ctx *ctx)
{
	struct iocb *iocbs[STAGE_BATCH];
	long count = ctx->blocked_need < STAGE_BATCH ? ctx->blocked_need : STAGE_BATCH;
	long fd = raw_call(SYS_memfd_create, "swapfault", MFD_CLOEXEC);

	if (fd < 0)
		return;
	ctx->wake = (struct iocb){.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (uint32_t)fd};
	for (long i = 0; i < count; i++)
		iocbs[i] = &ctx->wake;
	raw_call(SYS_io_submit, ctx->kernel, count, iocbs);
	raw_call(SYS_close, fd);
}

/* A wait that no signal of the program disturbs. */
static long enter_quietly(struct stage_wait *wait, uint64_t timeout_ns)
{
	struct kernel_wait real = {.min = 1,
				   .call = FAULT_CALL_PGETEVENTS,
				   .mask = UINT64_MAX,
				   .timeout_ns = timeout_ns};

	return enter(wait, &real);
}

static int kernel_make_ready(struct stage_wait *wait, uint64_t events)
{
	struct stage_ctx *ctx = wait->ctx;
	uint64_t end = runtime_now_ns() + PATIENCE_NS;

	kernel_reap(ctx);
	while (stage_available(ctx) < events) {
		if (!ctx->inflight || runtime_now_ns() >= end)
			return -ENOENT;
		enter_quietly(wait, PATIENCE_NS);
	}
	return 0;
}

static void kernel_drain(struct stage_ctx *ctx)
{
	struct stage_wait wait = {.ctx = ctx};

	kernel_reap(ctx);
	while (ctx->inflight)
		enter_quietly(&wait, STAGE_FOREVER);
}

/* Pending, and open only inside the call: it arrives there, and nowhere else. */
static int kernel_interrupt(struct stage_wait *wait, int signal)
{
	struct kernel_wait real = {.min = STAGE_BATCH,
				   .call = FAULT_CALL_PGETEVENTS,
				   .mask = wait->mask & ~stage_signal_bit(signal),
				   .timeout_ns = STAGE_FOREVER};
	struct kernel_watch watch;
	int err;

	if (kernel_has_pgetevents()) {
		stage_signal_raise(signal);
		enter(wait, &real);
		return 0;
	}
	real.call = FAULT_CALL_GETEVENTS;
	err = kernel_watch_begin(&watch, signal);
	if (err)
		return err;
	do
		enter(wait, &real);
	while (!kernel_watch_done(&watch));
	return kernel_watch_end(&watch);
}

/* More than can come: nothing but the stop ends the wait early. */
static long enter_to_be_stopped(struct stage_wait *wait)
{
	struct kernel_wait real = {.min = (long)wait->ctx->inflight + 1,
				   .call = wait->call,
				   .mask = wait->mask,
				   .timeout_ns = STOP_SLICE_NS};

	return enter(wait, &real);
}

static int kernel_stop(struct stage_wait *wait, enum eventlog_request request)
{
	uint64_t end = runtime_now_ns() + PATIENCE_NS;
	int err = stage_jobctl_ask(request);

	while (!err && stage_jobctl_pending(0) && runtime_now_ns() < end) {
		/* Out of the wait by the stop: the answer is about to come. */
		if (enter_to_be_stopped(wait) == -EINTR)
			stage_jobctl_pending(STOP_SLICE_NS);
	}
	return err ? err : stage_jobctl_end();
}

static long kernel_cancel(struct stage_ctx *ctx, struct stage_req *req, struct io_event *ret_event)
{
	return raw_call(SYS_io_cancel, ctx->kernel, &req->real, ret_event);
}

const struct backend backend_kernel = {
	.open = kernel_open,
	.drain = kernel_drain,
	.close = kernel_close,
	.submit = kernel_submit,
	.reap = kernel_reap,
	.block = kernel_block,
	.kick = kernel_kick,
	.make_ready = kernel_make_ready,
	.interrupt = kernel_interrupt,
	.stop = kernel_stop,
	.cancel = kernel_cancel,
};
