/* SPDX-License-Identifier: MIT */
/*
 * swap.h - the worker's store: one store that is open, the one group in it, and swaps of the
 * group's tensors. The counterpart of transfer.c for tensors that have no files of their own.
 *
 * Threads: one.
 */
#ifndef SWAP_H
#define SWAP_H

#include "worker.h"

/* A swap of neighbours in the group: asked for, and what came of it. */
struct swap {
	bool asked, started, done, keep;
	enum swapio_swap_op op;
	unsigned first, count; /* of worker.tensors */
	uint32_t generation;   /* of the pattern, of a swap-out */
	uint64_t stored;       /* generation that must be there, of a swap-in; 0 any */
	int64_t slot_timeout_ns;
	swapio_swap_id id;
	int error; /* of the start, or of the wait for it; result has the swap's own */
	struct swapio_swap_result result;
	struct swapio_error sentence;
	void *mem[WORKLOAD_TENSORS_MAX]; /* the library's, like the memory: it may not move */
};

#define SWAPS_MAX WORKLOAD_TENSORS_MAX

struct worker_store {
	struct swapio_store *store;
	struct swapio_group *group;
	unsigned group_first, group_count; /* of worker.tensors, that it was opened with */
	char place[WORKLOAD_PLACE_BYTES];  /* directory of the store */
	bool read_only;
	bool pool_locked;
	uint64_t slot_bytes;
	void *a_slot;		       /* one that was lent once, to be asked about later */
	struct swap *swaps[SWAPS_MAX]; /* started, in this order, and not yet fetched */
	unsigned swaps_count;
	struct swap places[SWAPS_MAX]; /* where swaps are until they are over */
};

extern struct worker_store kept;

/* kept_store.c: what is open. */
int kept_open(const char *place, bool read_only, struct swapio_error *error);
int kept_close(int64_t timeout_ns); /* group and store; 0 when there is none */
void kept_forget(void);		    /* what the next case of this process must not know */
/* The group with these tensors; closed and opened anew when it is open with others. */
int kept_group(unsigned first, unsigned count, struct swapio_error *error);
int kept_group_close(void);

/* swap.c: one swap on its way. NULL: there are SWAPS_MAX already, which is told. */
struct swap *swap_prepare(const struct step *step, enum swapio_swap_op op, unsigned first,
			  unsigned count);
/* The next generation of the pattern, of these tensors. */
uint32_t swap_draw_generation(unsigned first, unsigned count);
int swap_start(struct swap *swap);
void swap_wait(struct swap *swap, int64_t timeout_ns);
/* Told, its data checked; one whose time was up stays for a later wait, others are over. */
void swap_finish(struct swap *swap);
void swap_keep(struct swap *swap); /* for a later wait */
/* Give back the slot that a tensor was lent; 0 when it has none. */
int swap_release(unsigned tensor);
unsigned swap_take_all(struct swap *ret_swaps[SWAPS_MAX]); /* those kept; how many */
unsigned swap_drain(int64_t timeout_ns); /* fetch what was started; how many never came */

/* With a store, these are the steps. */
void step_swap(const struct step *step);
void step_swap_start(const struct step *step);
void step_swap_wait(const struct step *step);
void step_swap_cancel(const struct step *step);
void step_release(const struct step *step);
void step_store_open(const struct step *step);
void step_store_close(const struct step *step);
void step_remove_group(const struct step *step);
void step_store_truncate(const struct step *step);
void step_store_corrupt(const struct step *step);
void step_store_remove(const struct step *step);
void step_make_store(const struct step *step);
void step_copy_volume(const struct step *step);
void step_verify(const struct step *step);

/* aftermath_store.c: the store, too, has to work again. */
void aftermath_store(void);

void tell_swap(const struct swap *swap);
void tell_damage(const struct swapio_damage *damage);
void tell_verify(int error, const char *text);
void tell_removal(int error, const char *text);

#endif /* SWAP_H */
