/* SPDX-License-Identifier: MIT */
/*
 * swap_job.c - what a swap does: check, move, commit; and what its result says.
 */
#include "swap_job.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"
#include "error.h"
#include "handle.h"

#define SWAP_IN_DOUBT ", or the one that failed: it could not be taken back"

void swapioi_job_destroy(struct swap_job *job)
{
	if (!job)
		return;
	/* In a child after fork: a new volume that the swap had open. */
	if (job->volume.fd >= 0 && !job->volume.committed)
		swapioi_volume_close(&job->volume);
	swapioi_manifest_destroy(job->next);
	free(job->lent);
	free(job);
}

/* Every tensor has memory, or can be lent a slot: then @lent says so. */
static int check_memory(const struct swapio_swap *swap, unsigned count, bool *lent,
			struct swapio_error *error)
{
	const struct swapio_group *group = swap->group;

	for (unsigned i = 0; i < count; i++) {
		const struct manifest_tensor *tensor = &group->asked->tensors[swap->first + i];

		if (swap->mem[i] || !tensor->padded_bytes)
			continue;
		if (swap->op == SWAPIO_SWAP_OUT)
			return swapioi_error(error, -EINVAL,
					     "group %.100s, tensor %u (%.100s): its memory is "
					     "NULL, with %" PRIu64 " bytes to swap out",
					     group->asked->group, swap->first + i, tensor->name,
					     manifest_tensor_bytes(tensor));
		if (tensor->padded_bytes > group->store->slot_bytes)
			return swapioi_error(error, -EMSGSIZE,
					     "group %.100s, tensor %u (%.100s) takes %" PRIu64
					     " bytes, and a slot to lend has %zu",
					     group->asked->group, swap->first + i, tensor->name,
					     tensor->padded_bytes, group->store->slot_bytes);
		lent[i] = true;
	}
	return 0;
}

static int check_swap(const struct swapio_swap *swap, struct swapio_error *error)
{
	const struct swapio_group *group = swap->group;
	unsigned tensors = group->asked->count;

	if (swap->op != SWAPIO_SWAP_IN && swap->op != SWAPIO_SWAP_OUT)
		return swapioi_error(error, -EINVAL, "op is %u, allowed: 0 (in) and 1 (out)",
				     (unsigned)swap->op);
	if (swap->op == SWAPIO_SWAP_OUT && group->store->options.read_only)
		return swapioi_error(error, -EROFS, "%.300s was opened read-only",
				     group->store->path);
	if (swap->op == SWAPIO_SWAP_OUT && swap->generation)
		return swapioi_error(error, -EINVAL,
				     "generation is %" PRIu64 ", allowed for a swap-out: 0",
				     swap->generation);
	if (swap->first >= tensors || swap->count > tensors - swap->first)
		return swapioi_error(error, -EINVAL,
				     "group %.100s has %u tensors, and %u from index %u were asked "
				     "for",
				     group->asked->group, tensors, swap->count, swap->first);
	if (!swap->mem)
		return swapioi_error(error, -EINVAL, "mem is NULL");
	return 0;
}

static struct swap_job *alloc_job(unsigned count)
{
	struct swap_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->volume.fd = -1;
	job->lent = calloc(count, sizeof(*job->lent));
	if (job->lent)
		return job;
	free(job);
	return NULL;
}

int swapioi_job_create(const struct swapio_swap *swap, struct swapio_error *error,
		       struct swap_job **ret_job)
{
	struct swap_job *job;
	unsigned count;
	int ret = check_swap(swap, error);

	if (ret < 0)
		return ret;
	count = swap->count ? swap->count : swap->group->asked->count - swap->first;
	job = alloc_job(count);
	if (!job)
		return swapioi_error(error, -ENOMEM, "no memory for a swap");
	ret = check_memory(swap, count, job->lent, error);
	if (ret < 0) {
		swapioi_job_destroy(job);
		return ret;
	}
	list_init(&job->by_id);
	list_init(&job->in_group);
	list_init(&job->ready);
	job->group = swap->group;
	job->op = swap->op;
	job->first = swap->first;
	job->count = count;
	job->mem = swap->mem;
	job->wanted_generation = swap->generation;
	job->result.size_bytes = sizeof(job->result);
	job->result.tag = swap->tag;
	job->result.tensor = UINT_MAX;
	*ret_job = job;
	return 0;
}

static bool is_out(const struct swap_job *job)
{
	return job->op == SWAPIO_SWAP_OUT;
}

static bool is_partial(const struct swap_job *job)
{
	return job->count < job->group->asked->count;
}

static void fail(struct swap_job *job, int error, enum swapio_swap_cause cause, const char *text)
{
	job->result.error = error;
	job->result.cause = cause;
	snprintf(job->result.text, sizeof(job->result.text), "%s", text);
}

static void fail_cancelled(struct swap_job *job)
{
	char text[160];

	snprintf(text, sizeof(text), "group %.100s: the swap was cancelled",
		 job->group->asked->group);
	fail(job, -ECANCELED, SWAPIO_SWAP_CANCELLED, text);
}

static void fail_missing(struct swap_job *job)
{
	char text[256];

	snprintf(text, sizeof(text), "group %.100s: nothing is stored%s", job->group->asked->group,
		 is_out(job) ? ", so the first swap-out must be of all tensors" : "");
	fail(job, -ENOENT, SWAPIO_SWAP_MISSING, text);
}

static void fail_generation(struct swap_job *job)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "group %.100s: generation %" PRIu64 " was asked for, and %" PRIu64 " is stored",
		 job->group->asked->group, job->wanted_generation, job->group->stored->generation);
	fail(job, -ESTALE, SWAPIO_SWAP_GENERATION, text);
}

/* What is stored has the same tensors; else the swap failed. */
static bool check_stored(struct swap_job *job)
{
	const struct swapio_group *group = job->group;
	struct swapio_error error;
	unsigned tensor;
	int ret;

	if (!group->stored) {
		fail_missing(job);
		return false;
	}
	ret = swapioi_manifest_compare(group->stored, group->asked, &tensor, &error);
	if (ret < 0) {
		fail(job, ret, SWAPIO_SWAP_MISMATCH, error.text);
		job->result.tensor = tensor;
		return false;
	}
	if (job->wanted_generation && job->wanted_generation != group->stored->generation) {
		fail_generation(job);
		return false;
	}
	return true;
}

/*
 * The next generation: tensors that are swapped out go to the place that the stored generation
 * does not use, the others stay where they are.
 */
static void set_places(const struct swap_job *job, struct manifest *next)
{
	const struct manifest *stored = job->group->stored;

	next->generation = stored ? stored->generation + 1 : 1;
	for (unsigned i = job->first; i < job->first + job->count; i++)
		next->tensors[i].place =
			stored && i < stored->count ? !stored->tensors[i].place : 0;
}

/* What a child of fork() frees changes hands under the store's lock, which is held over fork(). */
static void note_next(struct swap_job *job, struct manifest *next, const struct volume *volume)
{
	struct swapio_store *store = job->group->store;

	pthread_mutex_lock(&store->lock);
	job->next = next;
	job->volume = *volume;
	pthread_mutex_unlock(&store->lock);
}

/* Room for the next generation; else the swap failed. */
static bool prepare(struct swap_job *job)
{
	struct swapio_group *group = job->group;
	struct swapio_error error = {.text = "no memory"};
	struct volume volume = {.fd = -1};
	struct manifest *next = NULL;
	int ret = swapioi_manifest_dup(is_partial(job) ? group->stored : group->asked, &next);

	if (ret == 0) {
		set_places(job, next);
		ret = swapioi_volume_prepare(group->store, group->stored, next, is_partial(job),
					     &group->volume, &volume, &error);
	}
	if (ret < 0) {
		swapioi_manifest_destroy(next);
		fail(job, ret, error_is_space(ret) ? SWAPIO_SWAP_SPACE : SWAPIO_SWAP_IO,
		     error.text);
		return false;
	}
	note_next(job, next, &volume);
	return true;
}

static uint64_t direct_alignment(const struct swapio *handle)
{
	return handle->alignment_bytes > STORE_UNIT ? handle->alignment_bytes : STORE_UNIT;
}

static void begin_moving(struct swap_job *job, struct window *window)
{
	struct swapio_group *group = job->group;
	struct transfer transfer = {
		.cutter =
			{
				.manifest = is_out(job) ? job->next : group->stored,
				.first = job->first,
				.end = job->first + job->count,
				.mem = job->mem,
				.lent = job->lent,
				.accel = group->store->handle->accel,
				.alignment_bytes = direct_alignment(group->store->handle),
				.slot_bytes = group->store->slot_bytes,
			},
		.op = job->op,
		.volume = is_out(job) ? &job->volume : &group->volume,
		.manifest = is_out(job) ? job->next : group->stored,
		.cancelled = &job->cancelled,
		.result = &job->result,
	};

	swapioi_window_begin(window, &transfer);
	job->phase = PHASE_MOVE;
}

static void check(struct swap_job *job, struct window *window)
{
	bool needs_stored = !is_out(job) || is_partial(job);

	job->phase = PHASE_OVER;
	if (atomic_load(&job->cancelled)) {
		fail_cancelled(job);
		return;
	}
	if (needs_stored && !check_stored(job))
		return;
	if (!is_out(job) || prepare(job))
		begin_moving(job, window);
}

/* Everything moved, or failed and drained. */
static void moved(struct swap_job *job)
{
	bool failed = job->result.error && job->result.cause != SWAPIO_SWAP_CANCELLED;

	if (!failed && atomic_load(&job->cancelled))
		fail_cancelled(job);
	job->phase = job->result.error || !is_out(job) ? PHASE_OVER : PHASE_COMMIT;
}

/* What was stored goes, what was made takes its place. */
static void replace_stored(struct swap_job *job)
{
	struct swapio_group *group = job->group;
	struct manifest *before = group->stored;

	pthread_mutex_lock(&group->store->lock);
	group->stored = job->next;
	group->volume = job->volume;
	group->generation = group->stored->generation;
	job->next = NULL;
	job->volume.fd = -1;
	pthread_mutex_unlock(&group->store->lock);
	swapioi_manifest_destroy(before);
}

/* False when the deadline passed. */
static bool commit(struct swap_job *job, int64_t deadline_ns)
{
	enum swapio_swap_cause cause = SWAPIO_SWAP_IO;
	struct swapio_error error = {0};
	int ret = swapioi_volume_commit(&job->volume, job->next, &job->group->volume, deadline_ns,
					&cause, &error);

	if (ret == COMMIT_PENDING)
		return false;
	job->phase = PHASE_OVER;
	if (ret < 0)
		fail(job, ret, cause, error.text);
	else
		replace_stored(job);
	return true;
}

/* A failed swap-out says what is there all the same, and what may be found there later. */
static void say_what_is_stored(struct swap_job *job, bool sure)
{
	const char *doubt = sure ? "" : SWAP_IN_DOUBT;
	uint64_t generation = job->result.generation;
	char *text = job->result.text;
	size_t used = strlen(text), room = sizeof(job->result.text) - used;

	if (!job->result.error || !is_out(job) || job->result.cause == SWAPIO_SWAP_MISSING)
		return;
	if (generation)
		snprintf(text + used, room, "; generation %" PRIu64 " is still stored%s",
			 generation, doubt);
	else
		snprintf(text + used, room, "; nothing is stored%s", doubt);
}

static void end(struct swap_job *job)
{
	const struct manifest *stored = job->group->stored;
	struct manifest *next = job->next;
	bool sure = true;

	if (job->result.error && job->volume.fd >= 0)
		sure = swapioi_volume_abandon(&job->volume, &job->group->volume);
	sure = sure && !job->group->volume.doubtful;
	job->result.generation = stored ? stored->generation : 0;
	say_what_is_stored(job, sure);
	note_next(job, NULL, &job->volume);
	swapioi_manifest_destroy(next);
}

bool swapioi_job_turn(struct swap_job *job, struct window *window, int64_t deadline_ns)
{
	if (job->phase == PHASE_CHECK)
		check(job, window);
	if (job->phase == PHASE_MOVE) {
		if (!swapioi_window_turn(window, deadline_ns))
			return false;
		moved(job);
	}
	if (job->phase == PHASE_COMMIT && !commit(job, deadline_ns))
		return false;
	end(job);
	return true;
}

void swapioi_job_give_up_locked(struct swap_job *job)
{
	fail_cancelled(job);
	job->phase = PHASE_OVER;
	job->result.generation = job->group->generation;
	say_what_is_stored(job, !job->group->volume.doubtful);
}
