/* SPDX-License-Identifier: MIT */
/*
 * stage_request.c - from the program's iocb to a request of ours. The program may reuse iocb and
 * iovecs once io_submit returned, so everything is copied; what the kernel would refuse in
 * io_submit is refused here, in its order (fs/aio.c), because a request that is kept back meets it
 * later.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "backend.h"
#include "rawcall.h"
#include "stage_internal.h"

#ifndef IOCB_FLAG_IOPRIO
#define IOCB_FLAG_IOPRIO (1 << 1)
#endif
#define IOVECS_MAX 1024
#define KEPT_FD_MIN 900 /* out of the way of the program's numbers */
#define EVENTFD_LINK "anon_inode:[eventfd]"

static int put_decimal(char *text, int number)
{
	char digits[12];
	int count = 0, i;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	for (i = 0; i < count; i++)
		text[i] = digits[count - 1 - i];
	text[count] = '\0';
	return count;
}

static int eventfd_check(int fd)
{
	char path[32] = "/proc/self/fd/", link[sizeof(EVENTFD_LINK) + 1];
	long bytes;

	if (raw_call(SYS_fcntl, fd, F_GETFD) < 0)
		return -EBADF;
	put_decimal(path + strlen(path), fd);
	bytes = raw_call(SYS_readlinkat, AT_FDCWD, path, link, sizeof(link));
	if (bytes < 0)
		return 0; /* no /proc: believe it */
	return bytes == sizeof(EVENTFD_LINK) - 1 && !memcmp(link, EVENTFD_LINK, (size_t)bytes)
		       ? 0
		       : -EINVAL;
}

static enum fault_op opcode_op(uint16_t opcode)
{
	switch (opcode) {
	case IOCB_CMD_PREAD:
	case IOCB_CMD_PREADV:
		return FAULT_OP_READ;
	case IOCB_CMD_PWRITE:
	case IOCB_CMD_PWRITEV:
		return FAULT_OP_WRITE;
	}
	return FAULT_OP_ANY;
}

static int transfer_check(enum fault_op op, int fd_flags)
{
	int mode = fd_flags & O_ACCMODE;

	if (fd_flags & O_PATH)
		return -EBADF;
	if (op == FAULT_OP_READ && mode == O_WRONLY)
		return -EBADF;
	return op == FAULT_OP_WRITE && mode == O_RDONLY ? -EBADF : 0;
}

static int other_check(const struct iocb *iocb)
{
	bool clean = !iocb->aio_offset && !iocb->aio_nbytes && !iocb->aio_rw_flags;

	switch (iocb->aio_lio_opcode) {
	case IOCB_CMD_FSYNC:
	case IOCB_CMD_FDSYNC:
		return clean && !iocb->aio_buf ? 0 : -EINVAL;
	case STAGE_OPCODE_POLL:
		return clean && iocb->aio_buf == (uint16_t)iocb->aio_buf ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static int iocb_check(const struct iocb *iocb, long *ret_fd_flags)
{
	enum fault_op op = opcode_op(iocb->aio_lio_opcode);
	long fd_flags;
	int err;

	if (iocb->aio_reserved2 || (int64_t)iocb->aio_nbytes < 0)
		return -EINVAL;
	fd_flags = raw_call(SYS_fcntl, iocb->aio_fildes, F_GETFL);
	if (fd_flags < 0)
		return -EBADF;
	*ret_fd_flags = fd_flags;
	if (iocb->aio_flags & IOCB_FLAG_RESFD) {
		err = eventfd_check((int)iocb->aio_resfd);
		if (err)
			return err;
	}
	return op == FAULT_OP_ANY ? other_check(iocb) : transfer_check(op, (int)fd_flags);
}

static int vector_copy(struct stage_req *req, const struct iocb *iocb)
{
	const struct iovec *from = (const struct iovec *)(uintptr_t)iocb->aio_buf;
	size_t count = iocb->aio_nbytes, bytes = count * sizeof(*from), i;
	struct iovec *to = req->iov_few;

	if (count > IOVECS_MAX)
		return -EINVAL;
	if (count > STAGE_IOVECS_FEW) {
		to = memory_map(bytes);
		if (!to)
			return -ENOMEM;
		req->iov_map = to;
	}
	if (memory_copy_from(to, from, bytes))
		return -EFAULT;
	req->iov = to;
	req->iov_count = (unsigned)count;
	for (i = 0; i < count; i++) {
		if ((ssize_t)to[i].iov_len < 0)
			return -EINVAL;
		req->length_bytes += to[i].iov_len;
	}
	req->real.aio_buf = (uint64_t)(uintptr_t)to;
	return 0;
}

static int transfer_init(struct stage_req *req, const struct iocb *iocb)
{
	req->offset_bytes = (uint64_t)iocb->aio_offset;
	if (req->opcode == IOCB_CMD_PREADV || req->opcode == IOCB_CMD_PWRITEV)
		return vector_copy(req, iocb);
	req->iov_few[0].iov_base = (void *)(uintptr_t)iocb->aio_buf;
	req->iov_few[0].iov_len = iocb->aio_nbytes;
	req->iov = req->iov_few;
	req->iov_count = 1;
	req->length_bytes = iocb->aio_nbytes;
	return 0;
}

/**
 * stage_req_init() - make a request of a program's iocb
 * @req:  from stage_req_take()
 * @iocb: readable copy
 * @obj:  its address in the program
 *
 * Return: 0, or what io_submit answers: -EINVAL, -EBADF, -EFAULT, -ENOMEM
 */
int stage_req_init(struct stage_req *req, const struct iocb *iocb, struct iocb *obj)
{
	long fd_flags = 0;
	int err = iocb_check(iocb, &fd_flags);

	memset(req, 0, sizeof(*req));
	req->kept_fd = -1;
	req->resfd = -1;
	if (err)
		return err;
	req->real = *iocb;
	req->real.aio_key = 0;
	req->real.aio_data = 0;
	req->obj = obj;
	req->data = iocb->aio_data;
	req->fd = (int)iocb->aio_fildes;
	req->fd_flags = (int)fd_flags;
	req->opcode = iocb->aio_lio_opcode;
	req->op = (uint8_t)opcode_op(req->opcode);
	req->copies = 1;
	if (iocb->aio_flags & IOCB_FLAG_RESFD) {
		req->resfd = (int)iocb->aio_resfd;
		req->real.aio_flags &= ~(uint32_t)IOCB_FLAG_RESFD;
		req->real.aio_resfd = 0;
	}
	if (stage_req_transfers(req)) {
		err = transfer_init(req, iocb);
		req->move_bytes = req->length_bytes;
	}
	return err;
}

void stage_req_drop_fd(struct stage_req *req)
{
	if (req->kept_fd >= 0)
		raw_call(SYS_close, req->kept_fd);
	req->kept_fd = -1;
}

void stage_req_fini(struct stage_req *req)
{
	stage_req_drop_fd(req);
	memory_unmap(req->iov_map, req->iov_count * sizeof(struct iovec));
	memory_unmap(req->shadow_map, req->shadow_map_bytes);
	req->iov_map = NULL;
	req->shadow_map = NULL;
	req->shadow = NULL;
	req->obj = NULL;
}

/* A descriptor may be closed, and its number given away, while the request is in flight. The kernel
 * holds the file itself; sim needs a descriptor. */
void stage_req_keep_fd(struct stage_req *req)
{
	long fd = raw_call(SYS_fcntl, req->fd, F_DUPFD_CLOEXEC, KEPT_FD_MIN);

	if (fd < 0)
		return;
	req->kept_fd = (int)fd;
	req->real.aio_fildes = (uint32_t)fd;
}
