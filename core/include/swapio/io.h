/* SPDX-License-Identifier: MIT */
/*
 * io.h - requests: start, wait, cancel; and synchronous reads and writes.
 *
 * Threads: every function may be called by several threads on one handle.
 * Example: examples/async_read.c
 */
#ifndef SWAPIO_IO_H
#define SWAPIO_IO_H

#include "swapio/handle.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Direction of a transfer, seen from memory's user. */
enum swapio_op {
	SWAPIO_READ = 0,  /* file to memory */
	SWAPIO_WRITE = 1, /* memory to file */
};

/**
 * struct swapio_io - one transfer to be started
 * @size_bytes:   sizeof(struct swapio_io) as the caller was compiled
 * @op:           direction
 * @path:         file to open for this transfer (created for writes, mode 0666 less
 *                umask, never truncated), or NULL to use @fd; borrowed during the call
 * @fd:           descriptor open for @op, used when @path is NULL; borrowed until the
 *                request completed. Without O_DIRECT the transfer is buffered;
 *                O_APPEND is refused
 * @offset_bytes: first byte in the file, any value with offset + length <= INT64_MAX
 * @length_bytes: bytes to move, any value; 0 completes at once
 * @buf:          memory, @length_bytes of it; the caller's until submit returns 0, the
 *                library's until the result is fetched, then the caller's again
 * @tag:          the caller's own, copied into the result
 */
struct swapio_io {
	size_t size_bytes;
	enum swapio_op op;
	const char *path;
	int fd;
	uint64_t offset_bytes;
	uint64_t length_bytes;
	void *buf;
	uint64_t tag;
};

/** Names a request within its handle; never 0, never used twice. */
typedef uint64_t swapio_id;

/** Which stage a failure belongs to. */
enum swapio_cause {
	SWAPIO_CAUSE_NONE = 0,	      /* it succeeded */
	SWAPIO_CAUSE_DEVICE = 1,      /* a completion carried the errno */
	SWAPIO_CAUSE_SUBMIT = 2,      /* io_submit refused the block */
	SWAPIO_CAUSE_EOF = 3,	      /* the file ends inside the range: -ENODATA */
	SWAPIO_CAUSE_NO_PROGRESS = 4, /* completions of 0 bytes in mid-file: -EIO */
	SWAPIO_CAUSE_PROTOCOL = 5,    /* more bytes reported than asked for: -EPROTO */
	SWAPIO_CAUSE_CANCELLED = 6,   /* swapio_cancel() or swapio_close(): -ECANCELED */
	SWAPIO_CAUSE_FILE = 7,	      /* ftruncate or fstat of the file failed */
	SWAPIO_CAUSE_WAIT = 8,	      /* the event wait failed for good: what moved is not known */
};

/**
 * struct swapio_result - how a request ended
 * @id:                the request
 * @tag:               swapio_io.tag
 * @error:             0, or -errno of the failing block nearest to the range's start
 * @cause:             stage of that failure
 * @raw_status:        what the kernel said for it: swapio_block result as signed 64 bit
 * @bytes:             bytes moved, of all blocks that succeeded, and of the failing
 *                     ones up to their failure
 * @fail_offset_bytes: file offset of the first byte that did not move, when @error
 * @fail_length_bytes: bytes from there to the end of the last failing block, when @error
 * @buffered:          the transfer went through the page cache (no O_DIRECT)
 *
 * When one block fails, the blocks before it and those that are at the kernel go on, and those
 * behind it that are not yet submitted are dropped; dropped ones count as failing for the range,
 * never for @error. So @error is what stopped the byte at @fail_offset_bytes.
 */
struct swapio_result {
	swapio_id id;
	uint64_t tag;
	int error;
	enum swapio_cause cause;
	int64_t raw_status;
	uint64_t bytes;
	uint64_t fail_offset_bytes;
	uint64_t fail_length_bytes;
	bool buffered;
};

/**
 * swapio_submit() - start a transfer
 * @handle: not NULL
 * @io:     the transfer; borrowed during the call
 * @error:  NULL, or filled when the call fails
 * @ret_id: written only on success
 *
 * The whole range is checked before anything is started. A failed call started
 * nothing and left the buffer alone; it may have created an empty file at @path.
 *
 * Blocks:    while opening @path, never for direct I/O. The kernel moves buffered transfers
 *            inside io_submit, so with workers 0 they happen here
 * Ownership: on success the buffer is the library's until the result is fetched
 * Return:    0
 *            -EINVAL  unaligned buffer under SWAPIO_UNALIGNED_REJECT, O_APPEND, range
 *                     past INT64_MAX, NULL buffer, unknown op or size_bytes
 *            -EBADF   @fd is not open for @op
 *            -EAGAIN  requests_max requests are pending: fetch results, then retry
 *            -EOPNOTSUPP  no O_DIRECT here and SWAPIO_DIRECT_REQUIRE
 *            -ECHILD  the handle was opened before fork(), in the parent
 *            -ESHUTDOWN  the handle is being closed
 *            -EACCES -EPERM -EROFS -ENOENT -ENOTDIR -EISDIR -ENAMETOOLONG -ELOOP -EMFILE
 *            -ENFILE -ENOSPC -EDQUOT -ENXIO -ENODEV -ETXTBSY -EIO -EINTR -ENOMEM  as open(2)
 * Contract:  C5, C6, C13, C15, C20
 * Since:     0.1
 */
int swapio_submit(struct swapio *handle, const struct swapio_io *io, struct swapio_error *error,
		  swapio_id *ret_id);

/**
 * swapio_wait() - wait for one request and fetch its result
 * @handle:     not NULL
 * @id:         a request that was submitted and not yet fetched
 * @timeout_ns: 0 to look only, up to SWAPIO_FOREVER
 * @ret_result: written on success only
 *
 * Signals never end the wait early.
 *
 * Return:    0           @ret_result holds the result, @id is spent; the transfer itself may have
 *                        failed, see ret_result->error
 *            -ETIMEDOUT  still pending; the buffer stays the library's
 *            -ENOENT     no such request, or fetched already
 *            -ECHILD     the handle was opened before fork(), in the parent
 * Contract:  C1, C2, C15, C17
 * Since:     0.1
 */
int swapio_wait(struct swapio *handle, swapio_id id, int64_t timeout_ns,
		struct swapio_result *ret_result);

/**
 * swapio_wait_some() - wait until at least @min requests ended, fetch up to @max results
 * @handle:      not NULL
 * @min:         0 to @max; more than are pending counts as all that are pending
 * @max:         elements in @ret_results, at least 1
 * @timeout_ns:  0 to SWAPIO_FOREVER
 * @ret_results: array of @max elements, in order of completion
 *
 * Return:    n >= 0      results fetched; 0 at once when nothing is pending
 *            -ETIMEDOUT  fewer than @min ended in time; nothing is fetched
 *            -EINVAL     @min > @max or @max is 0
 *            -ECHILD     the handle was opened before fork(), in the parent
 * Contract:  C1, C2, C15, C17
 * Since:     0.1
 */
int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
		     struct swapio_result *ret_results);

/**
 * swapio_pending() - count requests whose results were not fetched
 * @handle: not NULL
 *
 * Return: 0 to requests_max
 * Since:  0.1
 */
unsigned swapio_pending(struct swapio *handle);

/**
 * swapio_cancel() - drop what of a request is not yet submitted
 * @handle: not NULL
 * @id:     a request
 *
 * Blocks at the kernel are drained, not cancelled (io_cancel answers -EINVAL for file
 * I/O). The result comes through swapio_wait() as ever: -ECANCELED if any block was
 * dropped, the plain result otherwise.
 *
 * Return:    0        the request will end without further submissions
 *            -ENOENT  no such request
 *            -ECHILD  the handle was opened before fork(), in the parent
 * Contract:  C15
 * Since:     0.1
 */
int swapio_cancel(struct swapio *handle, swapio_id id);

/**
 * swapio_read() - read a range of a file and wait for it
 * @handle:       not NULL
 * @path:         file
 * @offset_bytes: first byte
 * @buf:          @length_bytes of memory
 * @length_bytes: bytes
 * @error:        NULL, or filled when the call fails
 *
 * Waits without deadline; use swapio_submit() and swapio_wait() for one.
 *
 * Return:    0, or what swapio_submit() returns, or the result's -errno
 * Contract:  C1 to C6
 * Since:     0.1
 */
int swapio_read(struct swapio *handle, const char *path, uint64_t offset_bytes, void *buf,
		uint64_t length_bytes, struct swapio_error *error);

/**
 * swapio_write() - write a range of a file and wait for it
 * @handle:       not NULL
 * @path:         file, created when missing
 * @offset_bytes: first byte
 * @buf:          @length_bytes of memory, not changed
 * @length_bytes: bytes
 * @error:        NULL, or filled when the call fails
 *
 * Bytes of the file outside the range stay as they are, and the file ends where it
 * ended or where the range ends, whichever is later. Nothing is synced.
 *
 * Return:    0, or what swapio_submit() returns, or the result's -errno
 * Contract:  C1 to C6
 * Since:     0.1
 */
int swapio_write(struct swapio *handle, const char *path, uint64_t offset_bytes, const void *buf,
		 uint64_t length_bytes, struct swapio_error *error);

/**
 * swapio_result_text() - put a result into a sentence
 * @result:     not NULL
 * @text:       caller storage
 * @text_bytes: size of @text, at least 1
 *
 * Return: what snprintf(3) would
 * Since:  0.1
 */
int swapio_result_text(const struct swapio_result *result, char *text, size_t text_bytes);

/**
 * swapio_cause_name() - name a cause in one lower-case word
 * @cause: any value
 *
 * Return: static string, "unknown" for values outside the enum
 * Since:  0.1
 */
const char *swapio_cause_name(enum swapio_cause cause);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* SWAPIO_IO_H */
