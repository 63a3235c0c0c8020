/* SPDX-License-Identifier: MIT */
/*
 * open.c - opening, closing and aborting handles, and what a handle says of itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "deadline.h"
#include "error.h"
#include "fork.h"
#include "handle.h"
#include "options.h"

/* Larger blocks are bounced in pieces: memory, not speed, is what large slots would cost. */
#define BOUNCE_BYTES_MAX ((size_t)1 << 20)
#define SECTOR_BYTES_USUAL ((size_t)4096)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* A slot holds a piece and the rest of the sectors that it begins and ends in. */
static void set_sizes(struct swapio *handle)
{
	const struct swapio_options *options = &handle->options;
	size_t bounce_bytes = options->block_bytes;

	if (bounce_bytes > BOUNCE_BYTES_MAX)
		bounce_bytes = BOUNCE_BYTES_MAX;
	handle->alignment_bytes = options->alignment_bytes ? options->alignment_bytes : page_bytes();
	handle->sector_bytes_max =
		larger(larger(handle->alignment_bytes, page_bytes()), SECTOR_BYTES_USUAL);
	handle->cut_sizes.block_bytes = options->block_bytes;
	handle->cut_sizes.bounce_bytes = bounce_bytes;
	handle->slot_bytes = (size_t)round_up(bounce_bytes, handle->sector_bytes_max) +
			     2 * handle->sector_bytes_max;
}

static void init_lists(struct swapio *handle)
{
	list_init(&handle->free_requests);
	list_init(&handle->free_files);
	list_init(&handle->ready);
	list_init(&handle->done_requests);
	list_init(&handle->buffers);
	for (unsigned i = 0; i < FD_BUCKETS; i++)
		list_init(&handle->fds[i]);
}

static void init_locks(struct swapio *handle)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&handle->lock, NULL);
	pthread_cond_init(&handle->done, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void fini_locks(struct swapio *handle)
{
	pthread_cond_destroy(&handle->done);
	pthread_mutex_destroy(&handle->lock);
}

static void free_handle(struct swapio *handle)
{
	free(handle->queues);
	free(handle->files);
	free(handle->requests);
	free(handle);
}

static struct swapio *make_handle(const struct swapio_options *options)
{
	struct swapio *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return NULL;
	handle->options = *options;
	handle->options.accelerator = handle->options.engine = NULL;
	set_sizes(handle);
	handle->log = (struct log){.sink = options->log, .arg = options->log_arg};
	handle->queues_count = options->workers ? options->workers : 1;
	handle->requests = calloc(options->requests_max, sizeof(*handle->requests));
	handle->files = calloc(options->requests_max, sizeof(*handle->files));
	handle->queues = calloc(handle->queues_count, sizeof(*handle->queues));
	if (handle->requests && handle->files && handle->queues)
		return handle;
	free_handle(handle);
	return NULL;
}

static int make_slots(struct swapio *handle, struct swapio_error *error)
{
	size_t per_queue = handle->slot_bytes * handle->options.bounce_slots;
	int ret = swapioi_slab_create(&handle->slots_slab, per_queue * handle->queues_count,
				      handle->sector_bytes_max, true);

	if (ret < 0)
		return swapioi_error(error, ret, "no memory for %u bounce slots of %zu bytes in each of "
				     "%u queues",
				     handle->options.bounce_slots, handle->slot_bytes,
				     handle->queues_count);
	if (!handle->slots_slab.locked)
		swapioi_log(&handle->log, SWAPIO_LOG_WARNING,
			    "open: bounce slots, %zu bytes, are not locked in memory (RLIMIT_MEMLOCK)",
			    handle->slots_slab.length_bytes);
	return 0;
}

static int queue_error(const struct swapio *handle, int code, struct swapio_error *error)
{
	char text[ERRNO_TEXT_BYTES];

	if (code == -EAGAIN)
		return swapioi_error(error, code,
				     "the kernel grants no AIO context, not even of depth 1: raise "
				     "fs.aio-max-nr, or close other handles (%u queues wanted)",
				     handle->queues_count);
	return swapioi_error(error, code, "engine %s: create a queue of depth %u: %s",
			     handle->engine_ops->name, handle->options.queue_depth,
			     swapioi_errno_text(-code, text));
}

static void fini_queues(struct swapio *handle, unsigned count)
{
	while (count--)
		swapioi_queue_fini(&handle->queues[count]);
}

/* All queues have the same depth: what the kernel granted to the one before is asked for next. */
static int make_queues(struct swapio *handle, struct swapio_error *error)
{
	unsigned depth = handle->options.queue_depth;
	size_t per_queue = handle->slot_bytes * handle->options.bounce_slots;

	for (unsigned i = 0; i < handle->queues_count; i++) {
		char *slots = (char *)handle->slots_slab.mem + i * per_queue;
		int ret = swapioi_queue_init(&handle->queues[i], handle, depth, slots);

		if (ret < 0) {
			fini_queues(handle, i);
			return queue_error(handle, ret, error);
		}
		depth = handle->queues[i].depth;
	}
	if (depth < handle->options.queue_depth)
		swapioi_log(&handle->log, SWAPIO_LOG_WARNING,
			    "open: the kernel grants depth %u instead of %u (fs.aio-max-nr)", depth,
			    handle->options.queue_depth);
	return 0;
}

static int start_handle(struct swapio *handle, struct swapio_error *error)
{
	int ret = make_slots(handle, error);

	if (ret < 0)
		return ret;
	ret = make_queues(handle, error);
	if (ret < 0)
		goto no_queues;
	ret = swapioi_workers_start(handle);
	if (ret == 0)
		return 0;
	swapioi_error(error, ret, "start %u worker threads: errno %d", handle->options.workers, -ret);
	swapioi_workers_stop(handle);
	fini_queues(handle, handle->queues_count);
no_queues:
	swapioi_slab_destroy(&handle->slots_slab);
	return ret;
}

/* The options were checked. */
int swapioi_open_with(const struct swapio_options *options, const struct accel_ops *accel,
		      const struct engine_ops *engine_ops, struct swapio_error *error,
		      struct swapio **ret_handle)
{
	struct swapio *handle = make_handle(options);
	int ret;

	if (!handle)
		return swapioi_error(error, -ENOMEM, "no memory for a handle with %u requests",
				     options->requests_max);
	handle->accel = accel;
	handle->engine_ops = engine_ops;
	handle->epoch = swapioi_fork_epoch();
	init_lists(handle);
	init_locks(handle);
	ret = start_handle(handle, error);
	if (ret < 0) {
		fini_locks(handle);
		free_handle(handle);
		return ret;
	}
	*ret_handle = handle;
	return 0;
}

int swapio_open(const struct swapio_options *options, struct swapio_error *error,
		struct swapio **ret_handle)
{
	struct swapio_options defaults;
	const struct accel_ops *accel;
	const struct engine_ops *engine_ops;
	int ret;

	swapio_options_init(&defaults);
	if (!options)
		options = &defaults;
	ret = swapioi_options_check(options, error);
	if (ret < 0)
		return ret;
	accel = swapioi_accel_find(options->accelerator);
	if (!accel)
		return swapioi_error(error, -ENOTSUP, "accelerator is \"%.64s\", allowed: \"host\"",
				     options->accelerator);
	engine_ops = swapioi_engine_find(options->engine);
	if (!engine_ops)
		return swapioi_error(error, -ENOTSUP, "engine is \"%.64s\", allowed: \"aio\"",
				     options->engine);
	return swapioi_open_with(options, accel, engine_ops, error, ret_handle);
}

/* Requests that never got to the end still hold their files. */
static void close_files(struct swapio *handle)
{
	for (unsigned i = 0; i < handle->requests_used; i++) {
		struct request *request = &handle->requests[i];

		if (request->file && --request->file->users == 0)
			swapioi_file_close(request->file);
	}
}

static void destroy(struct swapio *handle)
{
	swapioi_workers_stop(handle);
	fini_queues(handle, handle->queues_count);
	close_files(handle);
	swapioi_buffers_free(handle, false);
	swapioi_slab_destroy(&handle->slots_slab);
	fini_locks(handle);
	free_handle(handle);
}

/* Contexts, descriptors, threads and pinned memory are the parent's. */
static void forget(struct swapio *handle)
{
	for (unsigned i = 0; i < handle->queues_count; i++)
		swapioi_queue_forget(&handle->queues[i]);
	swapioi_buffers_free(handle, true);
	free_handle(handle);
}

static void cancel_all(struct swapio *handle)
{
	struct list over;

	list_init(&over);
	pthread_mutex_lock(&handle->lock);
	handle->closing = true;
	for (unsigned i = 0; i < handle->requests_used; i++)
		swapioi_cancel_locked(handle, &handle->requests[i], &over);
	pthread_mutex_unlock(&handle->lock);
	swapioi_requests_finish(handle, &over);
}

/* Wait until no request is active. Without blocks in flight that never takes long. */
static bool drain(struct swapio *handle, int64_t deadline_ns)
{
	bool drained;

	pthread_mutex_lock(&handle->lock);
	for (bool looked = false; handle->active; looked = true) {
		if (looked && deadline_ns != INT64_MAX && (!deadline_ns || now_ns() >= deadline_ns))
			break;
		swapioi_drive_locked(handle, deadline_ns);
	}
	drained = !handle->active;
	swapioi_drive_leave_locked(handle);
	pthread_mutex_unlock(&handle->lock);
	return drained;
}

int swapio_close(struct swapio *handle, int64_t timeout_ns)
{
	if (!handle)
		return 0;
	if (swapioi_fork_passed(handle->epoch)) {
		forget(handle);
		return 0;
	}
	cancel_all(handle);
	if (!drain(handle, timeout_ns > 0 ? deadline_after(timeout_ns) : 0))
		return -EBUSY;
	destroy(handle);
	return 0;
}

void swapio_abort(struct swapio *handle)
{
	if (!handle)
		return;
	if (swapioi_fork_passed(handle->epoch))
		forget(handle);
	else
		destroy(handle);
}

/* Queues find out one by one; the farthest fallback is what this system needs. */
static enum swapio_wait_call wait_call(const struct swapio *handle)
{
	int call = SWAPIO_WAIT_IO_PGETEVENTS;

	for (unsigned i = 0; i < handle->queues_count; i++)
		if (handle->queues[i].wait_call > call)
			call = handle->queues[i].wait_call;
	return (enum swapio_wait_call)call;
}

int swapio_info_get(struct swapio *handle, struct swapio_info *ret_info)
{
	if (ret_info->size_bytes != sizeof(*ret_info))
		return -EINVAL;
	ret_info->queue_depth = handle->queues[handle->queues_count - 1].depth;
	ret_info->queues = handle->queues_count;
	ret_info->alignment_bytes = handle->alignment_bytes;
	ret_info->wait_call = wait_call(handle);
	ret_info->bounce_locked = handle->slots_slab.locked;
	return 0;
}

static uint64_t read_count(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_stats(struct swapio_stats *sum, const struct queue_stats *stats)
{
	sum->blocks += read_count(&stats->blocks);
	sum->submits += read_count(&stats->submits);
	sum->waits += read_count(&stats->waits);
	sum->interrupts += read_count(&stats->interrupts);
	sum->short_waits += read_count(&stats->short_waits);
	sum->resumes += read_count(&stats->resumes);
	sum->retries += read_count(&stats->retries);
	sum->bounces += read_count(&stats->bounces);
	sum->rmws += read_count(&stats->rmws);
	sum->spurious_events += read_count(&stats->spurious_events);
	sum->wait_fallbacks += read_count(&stats->wait_fallbacks);
}

int swapio_stats_get(struct swapio *handle, struct swapio_stats *ret_stats)
{
	struct swapio_stats sum = {.size_bytes = sizeof(sum)};

	if (ret_stats->size_bytes != sizeof(*ret_stats))
		return -EINVAL;
	for (unsigned i = 0; i < handle->queues_count; i++)
		add_stats(&sum, &handle->queues[i].stats);
	if (!swapioi_fork_passed(handle->epoch)) {
		pthread_mutex_lock(&handle->lock);
		sum.requests = handle->requests_accepted;
		pthread_mutex_unlock(&handle->lock);
	}
	*ret_stats = sum;
	return 0;
}
