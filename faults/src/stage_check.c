/* SPDX-License-Identifier: MIT */
/*
 * stage_check.c - what a correct program does not do: change what is being written, read twice into
 * the same memory at once, give memory back that is in flight, wait for what cannot come, leave a
 * context behind.
 */
#include <stdio.h>
#include <string.h>

#include "stage.h"
#include "stage_internal.h"

#define MIX 0x9e3779b97f4a7c15u

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * MIX;
	return hash ^ (hash >> 29);
}

/* Four lanes: memory is read as fast as it comes. */
static uint64_t hash_bytes(const char *bytes, size_t count)
{
	uint64_t lanes[4] = {1, 2, 3, 4}, words[4], last = 0;
	size_t at = 0;

	for (; at + sizeof(words) <= count; at += sizeof(words)) {
		memcpy(words, bytes + at, sizeof(words));
		for (unsigned i = 0; i < 4; i++)
			lanes[i] = mix(lanes[i], words[i]);
	}
	for (; at < count; at++)
		last = mix(last, (unsigned char)bytes[at]);
	return mix(mix(lanes[0], lanes[1]), mix(lanes[2], lanes[3])) ^ last;
}

/* False: a part of it cannot be read. */
static bool hash_request(const struct stage_req *req, uint64_t *ret_hash)
{
	*ret_hash = 0;
	for (unsigned i = 0; i < req->iov_count; i++) {
		const struct iovec *iov = &req->iov[i];

		if (!memory_readable(iov->iov_base, iov->iov_len))
			return false;
		*ret_hash = mix(*ret_hash, hash_bytes(iov->iov_base, iov->iov_len));
	}
	return true;
}

static bool overlap(const struct iovec *iov, const void *start, size_t bytes)
{
	uintptr_t a = (uintptr_t)iov->iov_base, b = (uintptr_t)start;

	return a < b + bytes && b < a + iov->iov_len;
}

static bool request_overlaps(const struct stage_req *req, const void *start, size_t bytes)
{
	for (unsigned i = 0; i < req->iov_count; i++)
		if (overlap(&req->iov[i], start, bytes))
			return true;
	return false;
}

static bool requests_overlap(const struct stage_req *a, const struct stage_req *b)
{
	for (unsigned i = 0; i < b->iov_count; i++)
		if (request_overlaps(a, b->iov[i].iov_base, b->iov[i].iov_len))
			return true;
	return false;
}

/* Not yet shown to the program: the memory is still the kernel's. */
static bool owns_memory(const struct stage_req *req)
{
	return req->state != STAGE_FREE && req->state != STAGE_DROPPED && stage_req_transfers(req);
}

static void check_reads(struct stage_ctx *ctx, const struct stage_req *req)
{
	for (unsigned i = 0; i < ctx->table_used; i++) {
		const struct stage_req *other = &ctx->table[i];

		if (other == req || other->op != FAULT_OP_READ || !owns_memory(other))
			continue;
		if (requests_overlap(other, req)) {
			stage_trace_check(ctx, req, "reads in flight share memory");
			return;
		}
	}
}

void stage_check_submit(struct stage_ctx *ctx, struct stage_req *req)
{
	if (!runtime_log())
		return;
	if (req->op == FAULT_OP_WRITE)
		req->hashed = hash_request(req, &req->hash);
	else if (req->op == FAULT_OP_READ)
		check_reads(ctx, req);
}

void stage_check_complete(struct stage_ctx *ctx, struct stage_req *req)
{
	uint64_t now;

	if (!req->hashed || req->gone)
		return;
	if (!hash_request(req, &now))
		stage_trace_check(ctx, req, "memory in flight is gone");
	else if (now != req->hash)
		stage_trace_check(ctx, req, "write buffer changed in flight");
}

static void check_gone(struct stage_ctx *ctx, const void *start, size_t bytes)
{
	for (unsigned i = 0; i < ctx->table_used; i++) {
		struct stage_req *req = &ctx->table[i];

		if (req->gone || !owns_memory(req) || !request_overlaps(req, start, bytes))
			continue;
		req->gone = true;
		stage_trace_check(ctx, req, "memory unmapped or freed in flight");
	}
}

/* Programs free often, and have I/O in flight rarely. */
static bool anything_live(void)
{
	const struct stage_ctx *ctx;

	for (unsigned i = 0; (ctx = stage_context_at(i)) != NULL; i++)
		if (__atomic_load_n(&ctx->live, __ATOMIC_RELAXED))
			return true;
	return false;
}

void stage_memory_gone(const void *start, size_t bytes)
{
	struct stage_guard guard;
	struct stage_ctx *ctx;

	if (!anything_live())
		return;
	stage_guard_enter(&guard);
	for (unsigned i = 0; (ctx = stage_context_at(i)) != NULL; i++) {
		ctx = stage_get((aio_context_t)(uintptr_t)atomic_load(&ctx->ring));
		if (!ctx)
			continue;
		stage_lock(ctx);
		check_gone(ctx, start, bytes);
		stage_unlock(ctx);
		stage_put(ctx);
	}
	stage_guard_leave(&guard);
}

static void report_wait(const struct stage_wait *wait, unsigned in_flight)
{
	bool timed = wait->deadline_ns != STAGE_FOREVER;
	struct eventlog_record about = {
		.point = POINT_io_getevents,
		.ctx = wait->ctx->number,
		.number = wait->number,
		.fd = -1,
		.result = timed ? EVENTLOG_CHECK_TIMED_WAIT : EVENTLOG_CHECK_WAIT,
	};
	char text[sizeof(about.text)];

	snprintf(text, sizeof(text), "%swait for %ld, more than the %u in flight",
		 timed ? "timed " : "", wait->min, in_flight);
	runtime_log_check(text, &about);
}

/*
 * What the schedule keeps back counts as in flight, and so does what is done and was not taken.
 * Only who alone has submitted here is caught: where others do, too, one of them may be about to,
 * and then the wait ends after all.
 */
void stage_check_wait(const struct stage_wait *wait)
{
	const struct stage_ctx *ctx = wait->ctx;
	unsigned in_flight = ctx->live + stage_pump_count(ctx);

	if (wait->min > (long)in_flight && !wait->poll && ctx->submitter == runtime_thread_number())
		report_wait(wait, in_flight);
}

void stage_check_exit(struct stage_ctx *ctx)
{
	struct eventlog_record about = {.point = POINT_io_setup,
					.ctx = ctx->number,
					.fd = -1,
					.result = EVENTLOG_CHECK_LEFT};

	runtime_log_check(ctx->inflight || ctx->polls ? "context left at exit with I/O in flight"
						      : "context left at exit",
			  &about);
}
