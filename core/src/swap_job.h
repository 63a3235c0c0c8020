/* SPDX-License-Identifier: MIT */
/*
 * swap_job.h - one swap, from its start until its result is fetched. It is carried out in turns:
 * a turn that meets its deadline leaves the swap as it is, and the next one goes on.
 */
#ifndef SWAPIOI_SWAP_JOB_H
#define SWAPIOI_SWAP_JOB_H

#include <stdatomic.h>

#include "group.h"
#include "window.h"

/* In this order; who carries the swap out moves it along. */
enum swap_phase {
	PHASE_CHECK,  /* compare what is stored with what is asked; make room */
	PHASE_MOVE,   /* pieces are in flight */
	PHASE_COMMIT, /* swap-out: sync, write the manifest, sync */
	PHASE_OVER,
};

struct swap_job {
	/* Under the store's lock. */
	struct list by_id, in_group, ready;
	bool taken; /* somebody carries it out, or did */
	bool over;  /* the result can be fetched */

	/* Constant after start. */
	struct swapio_group *group; /* may be gone when the swap is over */
	enum swapio_swap_op op;
	unsigned first, count;
	void **mem; /* the caller's */
	bool *lent; /* [count], owned: mem is a slot of the pool */
	uint64_t wanted_generation;

	_Atomic bool cancelled;

	/* Of who carries it out. */
	enum swap_phase phase;
	struct manifest *next; /* swap-out: the generation that is being made; owned */
	struct volume volume;  /* swap-out: where it goes; as next, fd under the lock */
	struct swapio_swap_result result;
};

/* Checks what can be known at once; 0, -EINVAL, -EROFS, -EMSGSIZE with a sentence, -ENOMEM. */
int swapioi_job_create(const struct swapio_swap *swap, struct swapio_error *error,
		       struct swap_job **ret_job);
void swapioi_job_destroy(struct swap_job *job);

/* Carry it out until it is over: true; or until @deadline_ns: false. 0 looks once. */
bool swapioi_job_turn(struct swap_job *job, struct window *window, int64_t deadline_ns);

/* It was cancelled before anybody carried it out. The store is locked. */
void swapioi_job_give_up_locked(struct swap_job *job);

#endif /* SWAPIOI_SWAP_JOB_H */
