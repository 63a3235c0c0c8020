/* SPDX-License-Identifier: MIT */
/*
 * backend.h - who carries out the requests that the stage lets through: the kernel, or sim.
 *
 * Threads: every call but `open` is made with the context's lock held and returns with it held;
 *          `block`, `make_ready`, `interrupt` and `drain` drop it meanwhile. All signals are
 * blocked at the call; a handler of the program runs inside `block` and `interrupt` only.
 */
#ifndef SWAPFAULT_BACKEND_H
#define SWAPFAULT_BACKEND_H

#include "stage_internal.h"

struct backend {
	/* Make what the context needs. 0, or what io_setup answers. */
	int (*open)(struct stage_ctx *ctx, unsigned nr_events);
	/* End every request, each through stage_completed(). */
	void (*drain)(struct stage_ctx *ctx);
	void (*close)(struct stage_ctx *ctx);
	/* Hand @nr requests over: the number taken, or the errno of the first. */
	long (*submit)(struct stage_ctx *ctx, struct stage_req **reqs, long nr);
	/* Take the completions that are there: stage_completed() for each. */
	void (*reap)(struct stage_ctx *ctx);
	/* Optional. A wait of no time found nothing: let a moment pass. */
	void (*look)(struct stage_ctx *ctx);
	/* Block until @need completions, the deadline, or a signal; what came is completed. 0 to
	 * look again, -EINTR (a handler ran), -ETIMEDOUT, or what else the kernel answers. */
	long (*block)(struct stage_wait *wait, long need);
	/* Something became ready otherwise: wake who is blocked. */
	void (*kick)(struct stage_ctx *ctx);
	/* Complete until @events can be taken. 0; -ENOENT: not enough is in flight. */
	int (*make_ready)(struct stage_wait *wait, uint64_t events);
	/* Be in the wait while @signal arrives, open if @open. 0, or -errno: it could not be. */
	int (*interrupt)(struct stage_wait *wait, int signal);
	/* Be in the wait while the process is stopped or traced. 0 no effect, -EINTR the call that
	 * the program made is ended by it; other -errno: nobody did it. */
	int (*stop)(struct stage_wait *wait, enum eventlog_request request);
	/* io_cancel; the kernel's answer. */
	long (*cancel)(struct stage_ctx *ctx, struct stage_req *req, struct io_event *ret_event);
};

extern const struct backend backend_kernel;
extern const struct backend backend_sim;

static inline const struct backend *backend(void)
{
	return runtime_sim() ? &backend_sim : &backend_kernel;
}

#endif /* SWAPFAULT_BACKEND_H */
