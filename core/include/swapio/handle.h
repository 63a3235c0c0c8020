/* SPDX-License-Identifier: MIT */
/*
 * handle.h - options, opening and closing a handle, what it found and counted.
 *
 * Threads: a handle may be used by several threads at once; swapio_close() and
 *          swapio_abort() only by one, after the others stopped calling.
 * Example: examples/sync_copy.c
 */
#ifndef SWAPIO_HANDLE_H
#define SWAPIO_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swapio/error.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct swapio;

/** A timeout that never ends. Timeouts are relative, in nanoseconds, >= 0. */
#define SWAPIO_FOREVER INT64_MAX

/** What to do with a buffer pointer that is not a multiple of the alignment. */
enum swapio_unaligned {
	SWAPIO_UNALIGNED_REJECT = 0, /* -EINVAL at submit, with a sentence */
	SWAPIO_UNALIGNED_BOUNCE = 1, /* copy through an aligned slot */
};

/** What to do where a file system has no O_DIRECT. */
enum swapio_direct {
	SWAPIO_DIRECT_PREFER = 0,  /* buffered I/O instead, said in the result */
	SWAPIO_DIRECT_REQUIRE = 1, /* -EOPNOTSUPP at submit, with the path */
};

/** Severity of a log message. */
enum swapio_log_level {
	SWAPIO_LOG_ERROR = 0,
	SWAPIO_LOG_WARNING = 1,
	SWAPIO_LOG_INFO = 2,
	SWAPIO_LOG_DEBUG = 3,
};

/**
 * typedef swapio_log_fn - where the library's messages go
 * @level: severity
 * @text:  one message, lower case, no newline; valid during the call only
 * @arg:   swapio_options.log_arg
 *
 * May be called from any thread that uses the handle and from its workers; must not
 * call back into the library.
 */
typedef void swapio_log_fn(enum swapio_log_level level, const char *text, void *arg);

/**
 * struct swapio_options - how a handle works; fill with swapio_options_init()
 * @size_bytes:      sizeof(struct swapio_options) as the caller was compiled
 * @block_bytes:     a request is cut into blocks of this size; multiple of 512,
 *                   512 to 2147479552 (0x7ffff000); default 1 MiB
 * @queue_depth:     blocks in flight in each queue; 1 to 4096; default 32
 * @workers:         threads that drive queues, one queue each; 0 to 64; default 1.
 *                   0: one queue, driven by callers inside submit and wait: nothing of it
 *                   moves between calls, also not what other handles wait for because it
 *                   shares a sector with theirs
 * @requests_max:    requests that may be pending at once; 1 to 65536; default 1024
 * @single_submit:   one io_submit per block instead of one per batch; default false
 * @overlap_events:  refill the queue as completions come (true, default) or wait for
 *                   the whole batch before the next (false)
 * @unaligned:       what to do with unaligned buffer pointers; default REJECT
 * @alignment_bytes: multiple that buffer pointers must have, and that buffers of this
 *                   handle get; 0 means the system's page size, else a power of two,
 *                   1 to 2097152; default 0. A file that needs more gets more
 * @bounce_slots:    bounce buffers per queue, each block_bytes (at most 1 MiB, larger
 *                   blocks are bounced in pieces) plus two alignments; 1 to 256; default 4
 * @direct:          O_DIRECT policy for files opened by path; default PREFER
 * @accelerator:     "host"; borrowed during open; NULL means "host"
 * @engine:          "aio"; borrowed during open; NULL means "aio"
 * @log:             message sink, NULL for none
 * @log_arg:         passed to @log
 */
struct swapio_options {
	size_t size_bytes;
	size_t block_bytes;
	unsigned queue_depth;
	unsigned workers;
	unsigned requests_max;
	bool single_submit;
	bool overlap_events;
	enum swapio_unaligned unaligned;
	size_t alignment_bytes;
	unsigned bounce_slots;
	enum swapio_direct direct;
	const char *accelerator;
	const char *engine;
	swapio_log_fn *log;
	void *log_arg;
};

/**
 * swapio_options_init() - fill options with their defaults
 * @options: caller storage, not NULL
 *
 * Since: 0.1
 */
void swapio_options_init(struct swapio_options *options);

/**
 * swapio_open() - create a handle with its queues, workers and bounce slots
 * @options:    NULL for defaults; borrowed during the call
 * @error:      NULL, or filled when the call fails
 * @ret_handle: written only on success; owned by the caller until swapio_close()
 *              returns 0 or swapio_abort() returns
 *
 * When the kernel grants less than @queue_depth (fs.aio-max-nr), the depth is halved
 * until it fits; swapio_info.queue_depth says what was granted and the log warns.
 *
 * Return:    0
 *            -EINVAL     an option is out of range; @error names it, its value and range
 *            -ENOTSUP    engine or accelerator unknown or absent here
 *            -EAGAIN     the kernel grants no AIO context at all (fs.aio-max-nr), or no thread
 *            -ENOMEM     no memory
 *            -EMFILE -ENFILE  no descriptor
 * Contract:  C10, C12
 * Since:     0.1
 */
int swapio_open(const struct swapio_options *options, struct swapio_error *error,
		struct swapio **ret_handle);

/**
 * swapio_close() - drain a handle and free it
 * @handle:     NULL is a no-op that returns 0
 * @timeout_ns: how long to wait for what is in flight, 0 to SWAPIO_FOREVER
 *
 * Blocks not yet handed to the kernel are cancelled, blocks in flight are waited for.
 * In a child after fork() nothing is waited for: memory of the copy is freed, the
 * parent's contexts are untouched. That holds whatever other threads were doing at the moment
 * of fork(), which waits for them as long as they change what a child would free; but what one
 * of them was closing just then is not the child's to close. Descriptors that the library had
 * open for transfers stay open in the child until it executes another program.
 *
 * Return:    0       the handle is gone
 *            -EBUSY  @timeout_ns passed with blocks in flight: the handle and all
 *                    buffers stay; close again, or swapio_abort()
 * Contract:  C15, C17
 * Since:     0.1
 */
int swapio_close(struct swapio *handle, int64_t timeout_ns);

/**
 * swapio_abort() - destroy a handle whose completions do not come
 * @handle: NULL is a no-op
 *
 * Blocks in io_destroy until the kernel itself is done with every block (it may take
 * as long as the device does), then frees everything. When it returns no DMA into the
 * caller's buffers can happen any more. Results of pending requests are lost.
 *
 * Contract:  C15, C17
 * Since:     0.1
 */
void swapio_abort(struct swapio *handle);

/** Which system call waits for completions. */
enum swapio_wait_call {
	SWAPIO_WAIT_IO_PGETEVENTS = 0, /* libaio's io_pgetevents */
	SWAPIO_WAIT_IO_GETEVENTS = 1,  /* libaio's io_getevents: fallback */
	SWAPIO_WAIT_RAW_GETEVENTS = 2, /* SYS_io_getevents: last resort */
};

/**
 * struct swapio_info - what a handle really uses
 * @size_bytes:      set by the caller to sizeof(struct swapio_info)
 * @queue_depth:     blocks in flight per queue, as granted
 * @queues:          number of queues, at least 1
 * @alignment_bytes: multiple demanded of buffer pointers
 * @wait_call:       the wait in use now (may still change at the first wait)
 * @bounce_locked:   the bounce slots are locked in memory
 */
struct swapio_info {
	size_t size_bytes;
	unsigned queue_depth;
	unsigned queues;
	size_t alignment_bytes;
	enum swapio_wait_call wait_call;
	bool bounce_locked;
};

/**
 * swapio_info_get() - say what the handle really uses
 * @handle:   not NULL
 * @ret_info: caller storage with size_bytes set
 *
 * Return: 0, -EINVAL if size_bytes is not one this library knows
 * Since:  0.1
 */
int swapio_info_get(struct swapio *handle, struct swapio_info *ret_info);

/**
 * struct swapio_stats - what happened since open; counts only grow
 * @size_bytes:       set by the caller to sizeof(struct swapio_stats)
 * @requests:         requests accepted
 * @blocks:           blocks completed, good or bad
 * @submits:          io_submit calls
 * @waits:            event wait calls
 * @interrupts:       waits that ended with -EINTR
 * @short_waits:      waits that returned fewer events than asked
 * @resumes:          short completions that were continued
 * @retries:          submissions repeated after EAGAIN or a partial accept
 * @bounces:          blocks that went through a bounce slot
 * @rmws:             blocks that needed a read-modify-write
 * @spurious_events:  events that belong to no block in flight: twice, late, unknown
 * @wait_fallbacks:   switches to another wait call
 */
struct swapio_stats {
	size_t size_bytes;
	uint64_t requests;
	uint64_t blocks;
	uint64_t submits;
	uint64_t waits;
	uint64_t interrupts;
	uint64_t short_waits;
	uint64_t resumes;
	uint64_t retries;
	uint64_t bounces;
	uint64_t rmws;
	uint64_t spurious_events;
	uint64_t wait_fallbacks;
};

/**
 * swapio_stats_get() - read the counters, summed over all queues
 * @handle:    not NULL
 * @ret_stats: caller storage with size_bytes set
 *
 * Return: 0, -EINVAL if size_bytes is not one this library knows
 * Since:  0.1
 */
int swapio_stats_get(struct swapio *handle, struct swapio_stats *ret_stats);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* SWAPIO_HANDLE_H */
