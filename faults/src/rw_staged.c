/* SPDX-License-Identifier: MIT */
/*
 * rw_staged.c - a synchronous transfer under faults: it fails, or moves less. In sim the rules of
 * O_DIRECT are ours to keep, because the kernel was not told of it.
 */
#include <errno.h>
#include <unistd.h>

#include "durable.h"
#include "posix_call.h"
#include "rawcall.h"
#include "rw_calls.h"

#define IOVECS_MAX 1024

static uint64_t length_of(const struct rw *rw)
{
	uint64_t bytes = 0;

	for (int i = 0; i < rw->iov_count; i++)
		bytes += rw->iov[i].iov_len;
	return bytes;
}

static uint64_t offset_of(const struct rw *rw)
{
	long position;

	if (rw->positioned)
		return (uint64_t)rw->offset_bytes;
	position = raw_call(SYS_lseek, rw->fd, 0, SEEK_CUR);
	return position < 0 ? SCHEDULE_ANY : (uint64_t)position;
}

/*
 * One system call for all of them: what it does is the same, and no libc has all the names. The
 * kernel takes positions in two halves; on 64-bit machines the low one holds everything.
 */
static ssize_t transfer(const struct rw *rw)
{
	struct durable_step step = {.tracked = false};
	long number = rw->point == POINT_pread ? SYS_preadv2 : SYS_pwritev2;
	long position = rw->positioned ? rw->offset_bytes : -1;
	long result = -EINVAL; /* -1 would mean the file's own position */

	if (!rw->positioned || rw->offset_bytes >= 0) {
		if (rw->point == POINT_pwrite && durable_is_active())
			durable_write_begin(&step, rw->fd, offset_of(rw), length_of(rw), rw->flags);
		result = raw_call(number, rw->fd, rw->iov, rw->iov_count, position, 0, rw->flags);
		durable_end(&step, result >= 0);
	}
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

/* Would direct I/O on the modelled device refuse it? */
static bool is_misaligned(const struct rw *rw)
{
	const struct swapfault_config *config = runtime_config();
	uint64_t offset = offset_of(rw);

	if (offset != SCHEDULE_ANY && offset % config->sector_bytes)
		return true;
	for (int i = 0; i < rw->iov_count; i++)
		if (rw->iov[i].iov_len % config->sector_bytes ||
		    (uintptr_t)rw->iov[i].iov_base % config->memory_align_bytes)
			return true;
	return false;
}

static ssize_t transfer_by_rules(const struct rw *rw)
{
	if (runtime_sim() && files_direct(rw->fd) && is_misaligned(rw)) {
		errno = EINVAL;
		return -1;
	}
	return transfer(rw);
}

/* The same transfer of @bytes bytes, which are fewer. */
static ssize_t transfer_part(const struct rw *rw, uint64_t bytes)
{
	struct iovec iov[IOVECS_MAX];
	struct rw part = *rw;
	int count = 0;

	for (; bytes; count++) {
		iov[count] = rw->iov[count];
		if (iov[count].iov_len > bytes)
			iov[count].iov_len = bytes;
		bytes -= iov[count].iov_len;
	}
	part.iov = iov;
	part.iov_count = count;
	return transfer(&part);
}

/* Direct I/O cannot stop inside a sector: then a shorter transfer cannot be made to happen. */
static const char *why_not_short(const struct rw *rw, uint64_t length, const struct fault *fault)
{
	uint64_t less = (uint64_t)fault->value;
	unsigned sector = runtime_config()->sector_bytes;

	if (less >= length)
		return "the transfer is not longer than that";
	return files_direct(rw->fd) && less % sector ? "direct I/O cannot stop inside a sector"
						     : NULL;
}

static ssize_t transfer_short(struct posix_call *call, const struct rw *rw, struct fault *fault)
{
	uint64_t bytes = call->call.length - (uint64_t)fault->value;
	const char *why = why_not_short(rw, call->call.length, fault);
	ssize_t result = why ? transfer_by_rules(rw) : transfer_part(rw, bytes);

	if (!why && result >= 0 && (uint64_t)result == bytes)
		return posix_call_end_injected(call, fault, result);
	runtime_log_missed(fault, call->number, why ? why : "the transfer was short by itself");
	return posix_call_end(call, result);
}

ssize_t rw_staged(const struct rw *rw)
{
	struct posix_call call;
	struct fault *fault;
	enum kind_id kind;

	if (rw->iov_count < 0 || rw->iov_count > IOVECS_MAX)
		return transfer(rw); /* the kernel says no */
	if (!posix_call_on_fd(&call, rw->point, rw->fd))
		return transfer_by_rules(rw);
	kind = rw->point == POINT_pread ? KIND_pread_short : KIND_pwrite_short;
	call.call.op = rw->point == POINT_pread ? FAULT_OP_READ : FAULT_OP_WRITE;
	call.call.offset = offset_of(rw);
	call.call.length = length_of(rw);
	if (posix_call_fails(&call))
		return -1;
	fault = posix_call_fault(&call, kind);
	if (fault)
		return transfer_short(&call, rw, fault);
	return posix_call_end(&call, transfer_by_rules(rw));
}
