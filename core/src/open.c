/* SPDX-License-Identifier: MIT */
/*
 * open.c - makes a handle of its parts, and takes it apart.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

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
	handle->alignment_bytes =
		options->alignment_bytes ? options->alignment_bytes : page_bytes();
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

void swapioi_locks_fini(struct swapio *handle)
{
	pthread_cond_destroy(&handle->done);
	pthread_mutex_destroy(&handle->lock);
}

void swapioi_handle_free(struct swapio *handle)
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
	swapioi_handle_free(handle);
	return NULL;
}

static int make_slots(struct swapio *handle, struct swapio_error *error)
{
	size_t per_queue = handle->slot_bytes * handle->options.bounce_slots;
	int ret = swapioi_slab_create(&handle->slots_slab, per_queue * handle->queues_count,
				      handle->sector_bytes_max, true);

	if (ret < 0)
		return swapioi_error(error, ret,
				     "no memory for %u bounce slots of %zu bytes in each of "
				     "%u queues",
				     handle->options.bounce_slots, handle->slot_bytes,
				     handle->queues_count);
	if (!handle->slots_slab.locked)
		swapioi_log(
			&handle->log, SWAPIO_LOG_WARNING,
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

void swapioi_queues_fini(struct swapio *handle, unsigned count)
{
	while (count--)
		swapioi_queue_fini(&handle->queues[count]);
}

/* What the kernel granted to the last queue is what all of them use. */
static void level_depths(struct swapio *handle, unsigned depth)
{
	for (unsigned i = 0; i < handle->queues_count; i++)
		handle->queues[i].depth = depth;
	if (depth < handle->options.queue_depth)
		swapioi_log(&handle->log, SWAPIO_LOG_WARNING,
			    "open: the kernel grants depth %u instead of %u (fs.aio-max-nr)", depth,
			    handle->options.queue_depth);
}

static int make_queues(struct swapio *handle, struct swapio_error *error)
{
	unsigned depth = handle->options.queue_depth;
	size_t per_queue = handle->slot_bytes * handle->options.bounce_slots;

	for (unsigned i = 0; i < handle->queues_count; i++) {
		char *slots = (char *)handle->slots_slab.mem + i * per_queue;
		int ret = swapioi_queue_init(&handle->queues[i], handle, depth, slots);

		if (ret < 0) {
			swapioi_queues_fini(handle, i);
			return queue_error(handle, ret, error);
		}
		depth = handle->queues[i].depth;
	}
	level_depths(handle, depth);
	return 0;
}

static int start_handle(struct swapio *handle, struct swapio_error *error)
{
	int ret = make_slots(handle, error);
	char text[ERRNO_TEXT_BYTES];

	if (ret < 0)
		return ret;
	ret = make_queues(handle, error);
	if (ret < 0)
		goto no_queues;
	ret = swapioi_workers_start(handle);
	if (ret == 0)
		return 0;
	swapioi_error(error, ret, "start %u worker threads: %s", handle->options.workers,
		      swapioi_errno_text(-ret, text));
	swapioi_workers_stop(handle);
	swapioi_queues_fini(handle, handle->queues_count);
no_queues:
	swapioi_slab_destroy(&handle->slots_slab);
	return ret;
}

/* The options were checked. */
int swapioi_open_with(const struct swapio_options *options, struct accel *accel,
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
		swapioi_locks_fini(handle);
		swapioi_handle_free(handle);
		return ret;
	}
	swapioi_fork_join(&handle->fork, &handle->lock);
	*ret_handle = handle;
	return 0;
}

int swapio_open(const struct swapio_options *options, struct swapio_error *error,
		struct swapio **ret_handle)
{
	struct swapio_options defaults;
	struct accel *accel;
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
