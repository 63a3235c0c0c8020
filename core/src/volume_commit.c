/* SPDX-License-Identifier: MIT */
/*
 * volume_commit.c - makes a generation the newest, in steps that are taken up again where a
 * deadline left them. docs/STORE.md has a table of the syncs and what each is for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "deadline.h"
#include "error.h"
#include "handle.h"
#include "records.h"
#include "store.h"
#include "volume_layout.h"

#define WHAT_BYTES 192

struct commit {
	struct swapio_store *store;
	struct volume *volume;
	const struct manifest *manifest;
	struct volume *old;
	int64_t deadline_ns;
	char what[WHAT_BYTES]; /* "group x: write its manifest" */
};

static const char *what_of(struct commit *commit, const char *doing)
{
	snprintf(commit->what, sizeof(commit->what), "group " NAME_SHOWN ": %s",
		 commit->manifest->group, doing);
	return commit->what;
}

/* The first failure is what the caller is told, whatever happens while it is undone. */
static int fail(struct commit *commit, enum swapio_swap_cause cause, const struct swapio_error *why)
{
	struct volume *volume = commit->volume;

	volume->cause = cause;
	volume->failure = *why;
	return why->code;
}

/* What a step returns when the deadline passed with its transfer in flight. */
#define PENDING 1

/* Write from the start of the buffer. */
static int write_buf(struct commit *commit, uint64_t offset, uint64_t bytes, const char *doing)
{
	struct volume *volume = commit->volume;
	struct swapio_error why = {.code = 0};
	struct store_io io = {.op = SWAPIO_WRITE,
			      .fd = volume->fd,
			      .offset_bytes = offset,
			      .buf = volume->buf,
			      .length_bytes = (size_t)bytes,
			      .what = what_of(commit, doing)};
	int ret = 0;

	if (!volume->request)
		ret = swapioi_store_io_start(commit->store, &io, &volume->request, &why);
	if (ret == 0)
		ret = swapioi_store_io_wait(commit->store, &io, volume->request,
					    commit->deadline_ns, &why);
	if (ret == STORE_IO_PENDING)
		return PENDING;
	volume->request = 0;
	return ret < 0 ? fail(commit, SWAPIO_SWAP_IO, &why) : 0;
}

static int sync_volume(struct commit *commit, const char *doing)
{
	struct swapio_error why = {.code = 0};
	int ret =
		swapioi_store_sync(commit->store, commit->volume->fd, what_of(commit, doing), &why);

	return ret < 0 ? fail(commit, SWAPIO_SWAP_SYNC, &why) : 0;
}

static void put_seal(const struct commit *commit, uint64_t generation)
{
	const struct volume *volume = commit->volume;
	struct slot_seal seal = {.group_sum = volume->entry.group_sum,
				 .number = volume->entry.number,
				 .generation = generation};

	memcpy(seal.store_id, commit->store->id, sizeof(seal.store_id));
	swapioi_slot_seal_encode(&seal, volume->buf);
}

static unsigned next_slot(const struct volume *volume)
{
	return volume->committed ? !volume->newest_slot : 0;
}

static int step_idle(struct commit *commit)
{
	struct volume *volume = commit->volume;

	volume->step = volume->committed ? COMMIT_DATA : COMMIT_HEAD;
	return 0;
}

/* The slots too, so that nothing that lay there can be taken for a manifest. */
static int step_head(struct commit *commit)
{
	struct volume *volume = commit->volume;
	uint64_t bytes = STORE_UNIT + 2 * volume->slot_bytes;
	struct volume_head head = {.group_sum = volume->entry.group_sum,
				   .number = volume->entry.number,
				   .slot_bytes = volume->slot_bytes,
				   .place_bytes = volume->place_bytes};
	int ret;

	if (!volume->request) {
		memcpy(head.store_id, commit->store->id, sizeof(head.store_id));
		memcpy(head.group, commit->manifest->group, strlen(commit->manifest->group));
		memset(volume->buf, 0, (size_t)bytes);
		swapioi_volume_head_encode(&head, volume->buf);
	}
	ret = write_buf(commit, volume->entry.base, bytes, "write the head of its volume");
	if (ret == 0)
		volume->step = COMMIT_DATA;
	return ret;
}

/* The medium knows of files, and not whose they are. */
static void fail_publish(struct commit *commit, const struct swapio_error *why)
{
	struct swapio_error named = {.code = 0};

	swapioi_error(&named, why->code, "%s: %s", what_of(commit, "make its volume count"),
		      why->text);
	fail(commit, SWAPIO_SWAP_SYNC, &named);
}

static int step_data(struct commit *commit)
{
	struct volume *volume = commit->volume;
	struct swapio_error why = {.code = 0};
	int ret;

	if (volume->committed) {
		ret = sync_volume(commit, "sync its tensors");
	} else {
		swapioi_store_turn_take(commit->store);
		ret = commit->store->medium_ops->publish_volume(commit->store, &volume->entry,
								volume->fd, &why);
		swapioi_store_turn_give(commit->store);
		if (ret < 0)
			fail_publish(commit, &why);
	}
	if (ret == 0)
		volume->step = COMMIT_MANIFEST;
	return ret;
}

static int step_manifest(struct commit *commit)
{
	struct volume *volume = commit->volume;
	int ret;

	if (!volume->request)
		swapioi_manifest_encode(commit->manifest, volume->buf);
	ret = write_buf(commit, volume_slot_offset(volume, next_slot(volume)),
			swapioi_manifest_encoded_bytes(commit->manifest), "write its manifest");
	if (ret == 0)
		volume->step = COMMIT_SYNC;
	return ret;
}

static int step_sync(struct commit *commit)
{
	struct volume *volume = commit->volume;
	int ret = sync_volume(commit, "sync its manifest");

	if (ret < 0)
		return ret;
	pthread_mutex_lock(&commit->store->lock);
	commit->store->seals++;
	pthread_mutex_unlock(&commit->store->lock);
	volume->newest_slot = next_slot(volume);
	volume->committed = commit->manifest->generation;
	volume->step = COMMIT_SEAL;
	return 0;
}

/* The generation is committed: without its seal, later damage to it may pass for a crash. */
static int step_seal(struct commit *commit)
{
	struct volume *volume = commit->volume;
	int ret;

	if (!volume->request)
		put_seal(commit, volume->committed);
	ret = write_buf(commit, volume_slot_offset(volume, !volume->newest_slot), STORE_UNIT,
			"seal its other slot");
	if (ret == PENDING)
		return ret;
	if (ret < 0)
		swapioi_log(&commit->store->handle->log, SWAPIO_LOG_WARNING, "commit: %s",
			    volume->failure.text);
	volume->step = COMMIT_DROP;
	return 0;
}

static void finish(struct commit *commit)
{
	struct volume *volume = commit->volume;

	swapio_buffer_free(commit->store->handle, volume->buf);
	volume->buf = NULL;
	volume->step = COMMIT_IDLE;
}

static int step_drop(struct commit *commit)
{
	struct volume *old = commit->old;

	if (old && old->fd >= 0 && !swapioi_volume_same(old, commit->volume)) {
		swapioi_volume_close_noted(old);
		swapioi_store_turn_take(commit->store);
		commit->store->medium_ops->remove_volume(commit->store, &old->entry, false, NULL);
		swapioi_store_turn_give(commit->store);
	}
	commit->volume->settled = true;
	finish(commit);
	return 0;
}

/*
 * The slot gets back what was in it, so that a reader finds the generation that the caller is told
 * of. As long as that is not durable, nothing may be written over what the failed manifest names.
 */
static int step_undo(struct commit *commit)
{
	struct volume *volume = commit->volume;
	enum swapio_swap_cause cause = volume->cause;
	struct swapio_error failure = volume->failure;
	int ret;

	if (!volume->request && volume->committed)
		put_seal(commit, volume->committed);
	else if (!volume->request)
		memset(volume->buf, 0, STORE_UNIT);
	ret = write_buf(commit, volume_slot_offset(volume, next_slot(volume)), STORE_UNIT,
			"take its manifest back");
	if (ret == PENDING)
		return ret;
	if (ret == 0)
		ret = sync_volume(commit, "sync its manifest, taken back");
	volume->cause = cause;
	volume->failure = failure;
	volume->doubtful = ret < 0;
	finish(commit);
	return failure.code;
}

static int step(struct commit *commit)
{
	switch (commit->volume->step) {
	case COMMIT_IDLE:
		return step_idle(commit);
	case COMMIT_HEAD:
		return step_head(commit);
	case COMMIT_DATA:
		return step_data(commit);
	case COMMIT_MANIFEST:
		return step_manifest(commit);
	case COMMIT_SYNC:
		return step_sync(commit);
	case COMMIT_SEAL:
		return step_seal(commit);
	case COMMIT_DROP:
		return step_drop(commit);
	case COMMIT_UNDO:
		return step_undo(commit);
	}
	return -EINVAL;
}

/* Is a manifest of this commit where a reader would look? */
static bool must_undo(const struct volume *volume)
{
	return volume->step == COMMIT_MANIFEST || volume->step == COMMIT_SYNC;
}

static int report(const struct volume *volume, enum swapio_swap_cause *ret_cause,
		  struct swapio_error *error)
{
	*ret_cause = volume->cause;
	return swapioi_error(error, volume->failure.code, "%s", volume->failure.text);
}

int swapioi_volume_commit(struct volume *next_volume, const struct manifest *next,
			  struct volume *old, int64_t deadline_ns,
			  enum swapio_swap_cause *ret_cause, struct swapio_error *error)
{
	struct commit commit = {.store = next_volume->store,
				.volume = next_volume,
				.manifest = next,
				.old = old,
				.deadline_ns = deadline_ns};
	int ret;

	do {
		ret = step(&commit);
		if (ret == PENDING)
			return COMMIT_PENDING;
		if (ret < 0 && must_undo(next_volume)) {
			next_volume->step = COMMIT_UNDO;
			ret = 0;
		}
	} while (ret == 0 && next_volume->step != COMMIT_IDLE);
	if (ret == 0)
		return 0;
	if (next_volume->step != COMMIT_IDLE)
		finish(&commit);
	return report(next_volume, ret_cause, error);
}
