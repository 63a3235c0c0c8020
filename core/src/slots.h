/* SPDX-License-Identifier: MIT */
/*
 * slots.h - who has the slots of a store's pool: runners, which stage pieces through them, and
 * callers, to whom they are lent.
 *
 * Each runner can always have SLOTS_RESERVED of them, so that lending can never stop swaps. The
 * others go to whom asks first; while somebody waits to be lent some, runners take no more of them.
 */
#ifndef SWAPIOI_SLOTS_H
#define SWAPIOI_SLOTS_H

#include "list.h"
#include "swapio/swap.h"

#define SLOTS_RESERVED 2u

struct slots {
	/* Constant after open. */
	unsigned shared; /* all but those that are reserved */

	/* Under the store's lock. */
	unsigned borrowed;    /* shared ones that runners have */
	unsigned lent;	      /* shared ones that callers have */
	struct list lenders;  /* callers that wait, first come first served */
	swapio_swap_id *swap; /* [pool's slots] for which swap it was lent; 0: it is not */
};

/* When the store's pool is there. 0 or -ENOMEM. */
int swapioi_slots_init(struct swapio_store *store, unsigned runners);
void swapioi_slots_fini(struct swapio_store *store);

/* A slot for a runner that has @held already; NULL when there is none now. */
void *swapioi_slot_stage(struct swapio_store *store, unsigned held);

/* Give one of @held back. */
void swapioi_slot_unstage(struct swapio_store *store, unsigned held, void *slot);

/*
 * Lend a slot for each of the [count] elements of @wanted that is true, all at once, for swap @id,
 * and write its address into @mem. 0; -EMSGSIZE (so many can never be), -ETIMEDOUT, -ESHUTDOWN:
 * @mem was not changed. The store is locked.
 */
int swapioi_slots_lend_locked(struct swapio_store *store, swapio_swap_id id, const bool *wanted,
			      unsigned count, void **mem, int64_t deadline_ns);

#endif /* SWAPIOI_SLOTS_H */
