/* SPDX-License-Identifier: MIT */
/*
 * info.c - what a handle says of itself: what it uses and what it counted.
 */
#include <errno.h>

#include "fork.h"
#include "handle.h"

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
