/* SPDX-License-Identifier: MIT */
/*
 * volume.h - the room of one group: two slots for manifests, and two places for every tensor.
 *
 * A swap-out writes tensors to the places that the newest manifest does not use, then the manifest
 * into the slot that the newest is not in. So whatever a crash leaves of it, the newest manifest
 * and everything it speaks of are untouched. When the new manifest is durable, the other slot is
 * sealed: it says which generation was committed, so that damage to the newest manifest can never
 * make an older generation look like the newest. A group that outgrows its volume gets another one,
 * and the old one goes when the new one holds a committed generation.
 *
 * Threads: one swap of a group at a time; that is the caller's to see to.
 */
#ifndef SWAPIOI_VOLUME_H
#define SWAPIOI_VOLUME_H

#include "manifest.h"
#include "medium.h"
#include "swapio/io.h"

struct swapio_store;

/* What a commit does, in this order; its place when it is resumed. */
enum commit_step {
	COMMIT_IDLE,
	COMMIT_HEAD,	 /* new volume: its head and empty slots are written */
	COMMIT_DATA,	 /* the data is synced; a new volume is made findable */
	COMMIT_MANIFEST, /* the manifest is written */
	COMMIT_SYNC,	 /* the manifest is synced: from then on the generation is committed */
	COMMIT_SEAL,	 /* the other slot is sealed */
	COMMIT_DROP,	 /* the old volume goes */
	COMMIT_UNDO,	 /* it failed with the manifest written: the slot gets its seal back */
};

struct volume {
	struct swapio_store *store; /* NULL: no volume */
	struct medium_entry entry;
	int fd;		      /* for data; direct where possible; -1: none */
	uint64_t slot_bytes;  /* of a manifest, multiple of STORE_UNIT */
	uint64_t place_bytes; /* of all tensors once, multiple of STORE_UNIT */
	unsigned newest_slot; /* the next commit goes to the other */
	uint64_t committed;   /* generation in newest_slot; 0: nothing was ever committed in it */
	bool settled;	      /* newest_slot is durable: it was synced by us */
	bool doubtful; /* a manifest of a commit that failed may be found, in it or instead of it */

	/* Of a commit. */
	enum commit_step step;
	void *buf;	   /* aligned memory of the handle: what is written beside the tensors */
	swapio_id request; /* in flight, 0 none */
	enum swapio_swap_cause cause;
	struct swapio_error failure; /* what COMMIT_UNDO will return */
};

/*
 * Look for the newest committed generation of @group. On success @ret_manifest is the caller's.
 * 0, -ENOENT nothing stored, -EBADMSG -EXDEV -ENOTSUP with a sentence, or -errno of reading.
 * Volumes of the group that a crash left without use are ignored, and removed unless read-only.
 */
int swapioi_volume_find(struct swapio_store *store, const char *group, struct volume *ret_volume,
			struct manifest **ret_manifest, struct swapio_error *error);
/* Likewise, for who only looks: nothing is removed. */
int swapioi_volume_look(struct swapio_store *store, const char *group, struct volume *ret_volume,
			struct manifest **ret_manifest, struct swapio_error *error);

/*
 * Make sure that there is a volume for the next generation @next: @volume itself when it is open,
 * big enough for its manifest, and @stored lies in it exactly as @next does (else tensors of the
 * next generation could lie over tensors of this one); else a new one, which replaces it at commit.
 * @volume has fd -1 and @stored is NULL when nothing is stored. When @volume itself is taken,
 * *ret_next becomes a copy of it with the same fd: only one of the two is closed. @partial: some
 * tensors stay where they are, so that only @volume itself will do.
 * Its room is allocated, and the memory that the commit needs: after this only the device can
 * fail. 0, -ENOSPC -EDQUOT -EFBIG with a sentence, or -errno.
 */
int swapioi_volume_prepare(struct swapio_store *store, const struct manifest *stored,
			   const struct manifest *next, bool partial, struct volume *volume,
			   struct volume *ret_next, struct swapio_error *error);

/* Are both the same room? Then a commit replaces the generation within it. */
bool swapioi_volume_same(const struct volume *a, const struct volume *b);

/* Where @tensor of a manifest begins, in the file or device of volume->fd. */
uint64_t swapioi_volume_tensor_offset(const struct volume *volume,
				      const struct manifest_tensor *tensor);

#define COMMIT_PENDING 1

/*
 * Commit @next, whose tensors were all written: sync the data, write the manifest into the other
 * slot, sync it, and with a new volume everything that makes it findable; then remove @old, if it
 * is another (its fd is closed). @old is what was given to prepare, NULL or fd -1 for nothing.
 *
 * 0; COMMIT_PENDING when @deadline_ns passed: call it again with the same arguments to go on;
 * -errno with a sentence, and @ret_cause says whether I/O or a sync failed: nothing was replaced,
 * what was stored is still the newest. (When the sync of the manifest failed and a power cut
 * follows, it is not known which of the two it leaves.)
 */
int swapioi_volume_commit(struct volume *next_volume, const struct manifest *next,
			  struct volume *old, int64_t deadline_ns,
			  enum swapio_swap_cause *ret_cause, struct swapio_error *error);

/*
 * Give up what was prepared: a new volume is removed, an old one forgets the commit's memory. Also
 * after a commit failed. Neither closes an old volume. A swap that was cancelled must have drained
 * its transfers before.
 *
 * False when a manifest of the commit may be found later, in place of what is stored: it could not
 * be taken back, nor its volume removed for good. @old is doubtful then.
 */
bool swapioi_volume_abandon(struct volume *next_volume, struct volume *old);

/* Close descriptors; what is stored stays. A volume with fd -1 is left alone. */
void swapioi_volume_close(struct volume *volume);

/*
 * The same while an open group or a running swap has it: a child of fork() closes what they have,
 * and must not close a number that is another file's by then. The store is not locked.
 */
void swapioi_volume_close_noted(struct volume *volume);

#endif /* SWAPIOI_VOLUME_H */
