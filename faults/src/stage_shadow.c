/* SPDX-License-Identifier: MIT */
/*
 * stage_shadow.c - transfers through memory of our own: the caller's buffer is never touched by a
 * write fault, and direct I/O moves whole sectors where a fault wants part of one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

#include "files.h"
#include "rawcall.h"
#include "stage_internal.h"

#define SHADOW_ALIGN 4096u
#define SECTOR_DEFAULT 512u

/* Copy @bytes between the program's vector, from @skip on, and @flat. */
static int vector_copy(const struct stage_req *req, uint64_t skip, char *flat, uint64_t bytes,
		       bool to_program)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < req->iov_count && bytes && !err; i++) {
		const struct iovec *iov = &req->iov[i];
		uint64_t part;

		if (skip >= iov->iov_len) {
			skip -= iov->iov_len;
			continue;
		}
		part = iov->iov_len - skip < bytes ? iov->iov_len - skip : bytes;
		err = to_program ? memory_copy_to((char *)iov->iov_base + skip, flat, part)
				 : memory_copy_from(flat, (char *)iov->iov_base + skip, part);
		flat += part;
		bytes -= part;
		skip = 0;
	}
	return err;
}

/* The logical block size that direct I/O on the request's descriptor respects; 1 without O_DIRECT.
 */
unsigned stage_sector_bytes(const struct stage_req *req)
{
	unsigned sector = 0;

	if (!files_direct(req->fd)) {
		long flags = raw_call(SYS_fcntl, req->real.aio_fildes, F_GETFL);

		if (flags < 0 || !(flags & O_DIRECT))
			return 1;
	}
	if (runtime_sim()) {
		sector = runtime_config()->sector_bytes;
		return sector ? sector : SECTOR_DEFAULT;
	}
#ifdef STATX_DIOALIGN
	struct statx about;

	if (!raw_call(SYS_statx, req->real.aio_fildes, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) &&
	    (about.stx_mask & STATX_DIOALIGN) && about.stx_dio_offset_align)
		return about.stx_dio_offset_align;
#endif
	if (!raw_call(SYS_ioctl, req->real.aio_fildes, BLKSSZGET, &sector) && sector)
		return sector;
	return SECTOR_DEFAULT;
}

/* What the medium holds, read through a descriptor that may be for writing only. */
long stage_read_old(const struct stage_req *req, void *to, uint64_t offset_bytes, size_t bytes)
{
	long done = raw_call(SYS_pread64, req->real.aio_fildes, to, bytes, offset_bytes);
	char path[40] = "/proc/self/fd/";
	char *digit = path + strlen(path);
	unsigned number = req->real.aio_fildes, scale = 1;
	long fd;

	if (done != -EBADF)
		return done;
	while (number / scale >= 10)
		scale *= 10;
	for (; scale; scale /= 10)
		*digit++ = (char)('0' + number / scale % 10);
	*digit = '\0';
	fd = raw_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	done = raw_call(SYS_pread64, fd, to, bytes, offset_bytes);
	raw_call(SYS_close, fd);
	return done;
}

static void shadow_become_flat(struct stage_req *req, uint64_t bytes)
{
	req->real.aio_lio_opcode = req->op == FAULT_OP_READ ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
	req->real.aio_buf = (uint64_t)(uintptr_t)req->shadow;
	req->real.aio_nbytes = bytes;
}

static int shadow_map(struct stage_req *req, uint64_t bytes)
{
	/* The same place in its page as the program's buffer: a misaligned one stays misaligned. */
	size_t skew = req->iov_count ? (uintptr_t)req->iov[0].iov_base & (SHADOW_ALIGN - 1) : 0;

	req->shadow_map_bytes = bytes + skew + SHADOW_ALIGN;
	req->shadow_map = memory_map(req->shadow_map_bytes);
	if (!req->shadow_map)
		return -ENOMEM;
	req->shadow = (char *)req->shadow_map + skew;
	return 0;
}

/* A write of whole sectors: the part that must not move is what the medium holds already. */
static int shadow_fill(struct stage_req *req, uint64_t move_bytes, uint64_t bytes)
{
	unsigned sector = stage_sector_bytes(req);
	uint64_t edge = move_bytes / sector * sector;
	int err = 0;

	if (bytes > edge && bytes > move_bytes) {
		char *page = memory_map(sector + SHADOW_ALIGN);
		long old = page ? stage_read_old(req, page, req->offset_bytes + edge, sector)
				: -ENOMEM;

		if (old >= 0)
			memcpy(req->shadow + edge, page, bytes - edge);
		else
			err = (int)old;
		memory_unmap(page, sector + SHADOW_ALIGN);
	}
	return err ? err : vector_copy(req, 0, req->shadow, move_bytes, false);
}

/**
 * stage_shadow_make() - carry the request out through memory of our own
 * @req:        a transfer
 * @move_bytes: at most these bytes move, counted from the start of the transfer
 *
 * Return: 0, -ENOMEM, -EFAULT (the program's buffer), or why the old content cannot be read
 */
int stage_shadow_make(struct stage_req *req, uint64_t move_bytes)
{
	unsigned sector = stage_sector_bytes(req);
	uint64_t bytes = (move_bytes + sector - 1) / sector * sector;
	int err;

	if (bytes > req->length_bytes)
		bytes = req->length_bytes; /* misaligned by the program: stays so */
	err = shadow_map(req, bytes);
	if (!err && req->op == FAULT_OP_WRITE)
		err = shadow_fill(req, move_bytes, bytes);
	if (err) {
		memory_unmap(req->shadow_map, req->shadow_map_bytes);
		req->shadow_map = NULL;
		req->shadow = NULL;
		return err;
	}
	shadow_become_flat(req, bytes);
	return 0;
}

int stage_copy_to(struct stage_req *req, char *from, uint64_t bytes)
{
	return vector_copy(req, 0, from, bytes, true);
}

int stage_copy_from(const struct stage_req *req, char *to, uint64_t bytes)
{
	return vector_copy(req, 0, to, bytes, false);
}

/* Give the first @bytes that were read to the program. */
int stage_shadow_out(struct stage_req *req, uint64_t bytes)
{
	return stage_copy_to(req, req->shadow, bytes);
}

int stage_shadow_flip(struct stage_req *req, uint64_t byte)
{
	if (byte >= req->real.aio_nbytes)
		return -ERANGE;
	req->shadow[byte] ^= 1;
	return 0;
}

/* Flip a bit in what the program has read. False: it cannot be reached. */
bool stage_memory_flip(struct stage_req *req, uint64_t byte)
{
	uint64_t skip = byte;
	unsigned i;
	char value;

	for (i = 0; i < req->iov_count && skip >= req->iov[i].iov_len; i++)
		skip -= req->iov[i].iov_len;
	if (i == req->iov_count || memory_copy_from(&value, (char *)req->iov[i].iov_base + skip, 1))
		return false;
	value ^= 1;
	return !memory_copy_to((char *)req->iov[i].iov_base + skip, &value, 1);
}
