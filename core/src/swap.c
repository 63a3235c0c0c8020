/* SPDX-License-Identifier: MIT */
/*
 * swap.c - the public calls around a swap: start, wait, cancel; and swapping a whole group.
 */
#include <errno.h>
#include <inttypes.h>

#include "deadline.h"
#include "error.h"
#include "store.h"
#include "swap_job.h"

static int fail_closing(struct swapio_error *error)
{
	return swapioi_error(error, -ESHUTDOWN, "the store is being closed");
}

static int fail_lending(const struct swap_job *job, int ret, struct swapio_error *error)
{
	const struct slots *slots = &job->group->store->swaps.slots;
	unsigned wanted = 0;

	if (ret == -ESHUTDOWN)
		return fail_closing(error);
	for (unsigned i = 0; i < job->count; i++)
		wanted += job->lent[i];
	if (ret == -EMSGSIZE)
		return swapioi_error(error, ret,
				     "group %.100s: %u slots are to be lent, and the pool has %u "
				     "to lend",
				     job->group->asked->group, wanted, slots->shared);
	return swapioi_error(error, ret,
			     "group %.100s: %u slots are to be lent, and so many did not come "
			     "free in time, of %u",
			     job->group->asked->group, wanted, slots->shared);
}

/* Give it an id and its slots, and queue it. */
static int enqueue(struct swapio_store *store, struct swap_job *job, int64_t deadline_ns,
		   swapio_swap_id *ret_id)
{
	int ret = -ESHUTDOWN;

	pthread_mutex_lock(&store->lock);
	if (!store->closing) {
		job->result.id = ++store->swaps.last_id;
		ret = swapioi_slots_lend_locked(store, job->result.id, job->lent, job->count,
						job->mem, deadline_ns);
	}
	if (ret == 0) {
		*ret_id = job->result.id;
		swapioi_swaps_add_locked(store, job);
	}
	swapioi_swaps_leave_locked(store);
	pthread_mutex_unlock(&store->lock);
	return ret;
}

int swapio_swap_start(const struct swapio_swap *swap, struct swapio_error *error,
		      swapio_swap_id *ret_id)
{
	struct swap_job *job;
	int ret;

	if (swap->size_bytes != sizeof(*swap))
		return swapioi_error(error, -EINVAL, "size_bytes of the swap is %zu, allowed: %zu",
				     swap->size_bytes, sizeof(*swap));
	ret = swapioi_store_check_process(swap->group->store, error);
	if (ret == 0)
		ret = swapioi_job_create(swap, error, &job);
	if (ret < 0)
		return ret;
	ret = enqueue(swap->group->store, job, deadline_of(swap->slot_timeout_ns), ret_id);
	if (ret == 0)
		return 0;
	fail_lending(job, ret, error);
	swapioi_job_destroy(job);
	return ret;
}

/* The result is the caller's, and the swap is forgotten. */
static void fetch(struct swap_job *job, struct swapio_swap_result *ret_result)
{
	*ret_result = job->result;
	list_remove(&job->by_id);
	swapioi_job_destroy(job);
}

static int wait_locked(struct swapio_store *store, swapio_swap_id id, int64_t deadline_ns,
		       struct swapio_swap_result *ret_result)
{
	for (bool looked = false;; looked = true) {
		struct swap_job *job = swapioi_swaps_find_locked(store, id);

		if (!job)
			return -ENOENT;
		if (job->over) {
			fetch(job, ret_result);
			return 0;
		}
		if (looked && deadline_passed(deadline_ns))
			return -ETIMEDOUT;
		swapioi_swaps_step_locked(store, deadline_ns);
	}
}

int swapio_swap_wait(struct swapio_store *store, swapio_swap_id id, int64_t timeout_ns,
		     struct swapio_swap_result *ret_result)
{
	int64_t deadline_ns = deadline_of(timeout_ns);
	int ret = swapioi_store_check_process(store, NULL);

	if (ret < 0)
		return ret;
	if (ret_result->size_bytes != sizeof(*ret_result))
		return -EINVAL;
	pthread_mutex_lock(&store->lock);
	ret = wait_locked(store, id, deadline_ns, ret_result);
	swapioi_swaps_leave_locked(store);
	pthread_mutex_unlock(&store->lock);
	return ret;
}

int swapio_swap_cancel(struct swapio_store *store, swapio_swap_id id)
{
	struct swap_job *job;
	int ret = swapioi_store_check_process(store, NULL);

	if (ret < 0)
		return ret;
	pthread_mutex_lock(&store->lock);
	job = swapioi_swaps_find_locked(store, id);
	if (job && !job->over) {
		atomic_store(&job->cancelled, true);
		if (!job->taken) {
			swapioi_job_give_up_locked(job);
			swapioi_swaps_end_locked(store, job);
		}
	}
	pthread_mutex_unlock(&store->lock);
	return job ? 0 : -ENOENT;
}

static int swap_all(struct swapio_group *group, enum swapio_swap_op op, void **mem,
		    struct swapio_error *error)
{
	const struct swapio_swap swap = {
		.size_bytes = sizeof(swap),
		.group = group,
		.op = op,
		.mem = mem,
		.slot_timeout_ns = SWAPIO_FOREVER,
	};
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};
	swapio_swap_id id;
	int ret = swapio_swap_start(&swap, error, &id);

	if (ret == 0)
		ret = swapio_swap_wait(group->store, id, SWAPIO_FOREVER, &result);
	else
		return ret;
	if (ret < 0)
		return swapioi_error(error, ret, "the swap was fetched by another thread");
	return result.error ? swapioi_error(error, result.error, "%s", result.text) : 0;
}

int swapio_swap_in(struct swapio_group *group, void **mem, struct swapio_error *error)
{
	return swap_all(group, SWAPIO_SWAP_IN, mem, error);
}

int swapio_swap_out(struct swapio_group *group, void **mem, struct swapio_error *error)
{
	return swap_all(group, SWAPIO_SWAP_OUT, mem, error);
}

const char *swapio_swap_cause_name(enum swapio_swap_cause cause)
{
	switch (cause) {
	case SWAPIO_SWAP_NONE:
		return "none";
	case SWAPIO_SWAP_MISSING:
		return "missing";
	case SWAPIO_SWAP_MISMATCH:
		return "mismatch";
	case SWAPIO_SWAP_GENERATION:
		return "generation";
	case SWAPIO_SWAP_CHECKSUM:
		return "checksum";
	case SWAPIO_SWAP_MANIFEST:
		return "manifest";
	case SWAPIO_SWAP_IO:
		return "io";
	case SWAPIO_SWAP_SPACE:
		return "space";
	case SWAPIO_SWAP_SYNC:
		return "sync";
	case SWAPIO_SWAP_COPY:
		return "copy";
	case SWAPIO_SWAP_CANCELLED:
		return "cancelled";
	}
	return "unknown";
}
