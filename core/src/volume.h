/* SPDX-License-Identifier: MIT */
/*
 * volume.h - the room of one group: two slots for manifests, and two places for every tensor.
 *
 * A swap-out writes tensors to the places that the newest manifest does not use, then the manifest
 * into the slot that the newest does not use. So whatever a crash leaves of it, the newest manifest
 * and everything it speaks of are untouched. A group that outgrows its volume gets another one,
 * and the old one goes when the new one holds a committed generation.
 *
 * Threads: one swap of a group at a time; that is the caller's to see to.
 */
#ifndef SWAPIOI_VOLUME_H
#define SWAPIOI_VOLUME_H

#include "manifest.h"

struct swapio_store;

struct volume {
	struct swapio_store *store;
	uint64_t number;      /* which of the group's volumes; grows */
	int fd;		      /* for data; direct where possible */
	uint64_t base;	      /* of the volume in the file or device */
	uint64_t slot_bytes;  /* of a manifest, multiple of STORE_UNIT */
	uint64_t place_bytes; /* of all tensors once, multiple of STORE_UNIT */
	unsigned newest_slot; /* the next commit goes to the other */
	bool empty;	      /* nothing was ever committed in it */
};

/*
 * Look for the newest committed generation of @group. On success @ret_manifest is the caller's.
 * 0, -ENOENT nothing stored, -EBADMSG -EXDEV -ENOTSUP with a sentence, or -errno of reading.
 * Volumes of the group that hold no committed generation are ignored, and reused or removed by
 * the next prepare.
 */
int swapioi_volume_find(struct swapio_store *store, const char *group, struct volume *ret_volume,
			struct manifest **ret_manifest, struct swapio_error *error);

/*
 * Make sure that there is a volume for the next generation @next: @volume itself when it is open,
 * big enough for its manifest, and @stored lies in it exactly as @next does (else tensors of the
 * next generation could lie over tensors of this one); else a new one, which replaces it at commit.
 * Its room is allocated: after this only the device can fail. 0, -ENOSPC -EDQUOT -EFBIG with a
 * sentence, or -errno.
 */
int swapioi_volume_prepare(struct swapio_store *store, const struct manifest *stored,
			   const struct manifest *next, struct volume *volume,
			   struct volume *ret_next, struct swapio_error *error);

/* Where @tensor of a manifest begins, in the file or device of volume->fd. */
uint64_t swapioi_volume_tensor_offset(const struct volume *volume,
				      const struct manifest_tensor *tensor);

/*
 * Commit @next, whose tensors were all written: sync the data, write the manifest into the other
 * slot, sync it, and with a new volume everything that makes it findable; then drop the old volume,
 * if it is another. On failure nothing was replaced: what was stored is still the newest, or, when
 * a sync after the manifest failed, it is not known which of the two a power cut would leave.
 * 0 or -errno with a sentence; @ret_cause says whether I/O or a sync failed.
 */
int swapioi_volume_commit(struct volume *next_volume, const struct manifest *next,
			  struct volume *old, enum swapio_swap_cause *ret_cause,
			  struct swapio_error *error);

/* Close descriptors; what is stored stays. A volume with fd -1 is left alone. */
void swapioi_volume_close(struct volume *volume);

#endif /* SWAPIOI_VOLUME_H */
