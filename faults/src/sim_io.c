/* SPDX-License-Identifier: MIT */
/*
 * sim_io.c - one request carried out: preadv2 and pwritev2 with the rules that O_DIRECT would keep.
 */
#include "sim_io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "durable.h"
#include "rawcall.h"

#define RWF_KNOWN 0x1f /* HIPRI DSYNC SYNC NOWAIT APPEND: Linux 4.16 */

int sim_io_check(const struct stage_req *req)
{
	if (!stage_req_transfers(req))
		return 0;
	if ((uint32_t)req->real.aio_rw_flags & ~(uint32_t)RWF_KNOWN)
		return -EOPNOTSUPP;
	if (req->real.aio_offset < 0)
		return -EINVAL;
	return req->fd_flags & O_DIRECTORY ? -EINVAL : 0;
}

/* What the kernel moves: the faults' version of the request. */
static unsigned real_vector(const struct stage_req *req, struct iovec *flat,
			    const struct iovec **ret_iov)
{
	uint16_t opcode = req->real.aio_lio_opcode;

	if (opcode == IOCB_CMD_PREADV || opcode == IOCB_CMD_PWRITEV) {
		*ret_iov = (const struct iovec *)(uintptr_t)req->real.aio_buf;
		return (unsigned)req->real.aio_nbytes;
	}
	flat->iov_base = (void *)(uintptr_t)req->real.aio_buf;
	flat->iov_len = req->real.aio_nbytes;
	*ret_iov = flat;
	return 1;
}

static bool misaligned(const struct stage_req *req, const struct iovec *iov, unsigned count)
{
	const struct swapfault_config *config = runtime_config();
	uint64_t sector = config->sector_bytes - 1, memory = config->memory_align_bytes - 1;
	uint64_t bits = (uint64_t)req->real.aio_offset & sector;

	for (unsigned i = 0; i < count; i++)
		bits |= (iov[i].iov_len & sector) | ((uintptr_t)iov[i].iov_base & memory);
	return bits != 0;
}

static uint64_t bytes_of(const struct iovec *iov, unsigned count)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += iov[i].iov_len;
	return bytes;
}

/* What a crash may lose is kept meanwhile. */
static int64_t write_kept(const struct stage_req *req, const struct iovec *iov, unsigned count,
			  bool in_flight)
{
	struct durable_step step;
	int64_t result;

	durable_write_begin(&step, (int)req->real.aio_fildes, (uint64_t)req->real.aio_offset,
			    bytes_of(iov, count), req->real.aio_rw_flags);
	if (in_flight)
		step.synchronous = false; /* it never returned */
	result = raw_call(SYS_pwritev2, req->real.aio_fildes, iov, count, req->real.aio_offset, 0,
			  req->real.aio_rw_flags);
	durable_end(&step, result >= 0);
	return result;
}

void sim_io_in_flight(const struct stage_req *req)
{
	struct iovec flat;
	const struct iovec *iov;
	unsigned count = real_vector(req, &flat, &iov);

	if (!req->direct || !misaligned(req, iov, count))
		write_kept(req, iov, count, true);
}

static int64_t sync_kept(const struct stage_req *req, long number)
{
	struct durable_step step;
	int64_t result;

	durable_sync_begin(&step, (int)req->real.aio_fildes);
	result = raw_call(number, req->real.aio_fildes);
	durable_end(&step, result == 0);
	return result;
}

static int64_t transfer(const struct stage_req *req)
{
	struct iovec flat;
	const struct iovec *iov;
	unsigned count = real_vector(req, &flat, &iov);
	long number = req->op == FAULT_OP_READ ? SYS_preadv2 : SYS_pwritev2;

	if (req->direct && misaligned(req, iov, count))
		return -EINVAL;
	if (req->op == FAULT_OP_WRITE && durable_is_active())
		return write_kept(req, iov, count, false);
	return raw_call(number, req->real.aio_fildes, iov, count, req->real.aio_offset, 0,
			req->real.aio_rw_flags);
}

static int64_t poll_once(const struct stage_req *req)
{
	struct pollfd fd = {.fd = (int)req->real.aio_fildes, .events = (short)req->real.aio_buf};
	struct timespec none = {0, 0};
	long count = raw_call(SYS_ppoll, &fd, 1, &none, NULL, 0);

	return count > 0 ? fd.revents : count < 0 ? count : SIM_IO_LATER;
}

int64_t sim_io(const struct stage_req *req)
{
	switch (req->opcode) {
	case IOCB_CMD_FSYNC:
		return sync_kept(req, SYS_fsync);
	case IOCB_CMD_FDSYNC:
		return sync_kept(req, SYS_fdatasync);
	case STAGE_OPCODE_POLL:
		return poll_once(req);
	}
	return transfer(req);
}
