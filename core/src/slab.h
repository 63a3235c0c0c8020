/* SPDX-License-Identifier: MIT */
/*
 * slab.h - large pieces of anonymous memory: aligned, and pinned when asked.
 */
#ifndef SWAPIOI_SLAB_H
#define SWAPIOI_SLAB_H

#include "pin.h"

struct slab {
	void *mem;	     /* NULL: none */
	size_t length_bytes; /* mapped, whole pages */
	bool locked;	     /* pinned and locked in memory, and so in the pin list */
	struct pin_range pin;
};

/*
 * Map @length_bytes of zeros at a multiple of @alignment_bytes (a power of two). @pinned: huge
 * pages where possible, prefaulted, not inherited by fork, locked if the limit allows.
 * 0, -EINVAL for lengths that cannot be, -ENOMEM.
 */
int swapioi_slab_create(struct slab *slab, size_t length_bytes, size_t alignment_bytes,
			bool pinned);

/* Unmap; a slab without memory is left alone. */
void swapioi_slab_destroy(struct slab *slab);

/* In a child after fork: forget the memory, whose addresses may belong to others now. */
void swapioi_slab_forget(struct slab *slab);

#endif /* SWAPIOI_SLAB_H */
