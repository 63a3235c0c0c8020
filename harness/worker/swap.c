/* SPDX-License-Identifier: MIT */
/*
 * swap.c - one swap's way through the library: memory made ready, started, waited for, told, and
 * its bytes looked at.
 */
#include <stdio.h>
#include <string.h>

#include "swap.h"

static const struct tensor *tensor_of(unsigned index)
{
	return &worker.workload.tensors[index];
}

/* What is stored under a name is known by the first tensor of that name. */
static struct worker_tensor *origin_of(unsigned index)
{
	return &worker.tensors[worker.tensors[index].origin];
}

static struct pattern pattern_of(unsigned index, uint32_t generation)
{
	return (struct pattern){worker.wire.seed, worker.tensors[index].origin, generation};
}

static bool is_lent(const struct swap *swap, unsigned index)
{
	return swap->op == SWAPIO_SWAP_IN && tensor_of(index)->memory == MEMORY_SLOT;
}

/* Memory of one tensor, filled or poisoned; NULL where the library is to lend a slot. */
static int prepare_memory(struct swap *swap, unsigned index)
{
	struct worker_tensor *tensor = &worker.tensors[index];
	struct pattern pattern = pattern_of(index, swap->generation);
	uint64_t bytes = tensor_bytes(tensor_of(index));
	int error;

	if (is_lent(swap, index) || bytes == 0)
		return 0;
	error = memory_get(index);
	if (error < 0)
		return error;
	if (swap->op == SWAPIO_SWAP_OUT)
		pattern_fill(&pattern, 0, tensor->memory, bytes);
	else
		pattern_poison(tensor->memory, tensor->capacity_bytes + WORKER_RED_ZONE_BYTES);
	swap->mem[index - swap->first] = tensor->memory;
	return 0;
}

/* Whichever process of the case drew the last one. */
uint32_t swap_draw_generation(unsigned first, unsigned count)
{
	uint32_t last = 0;

	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		if (worker.tensors[i].generation > last)
			last = worker.tensors[i].generation;
	for (unsigned i = first; i < first + count; i++)
		origin_of(i)->generation = last + 1;
	return last + 1;
}

/* Where a later process looks: "begun" may be in the store from now on, "durable" must be. */
static void tell_all_written(const char *kind, const struct swap *swap)
{
	if (swap->op != SWAPIO_SWAP_OUT || !promised_counts())
		return;
	for (unsigned i = swap->first; i < swap->first + swap->count; i++)
		tell_write(kind, worker.tensors[i].origin, swap->generation,
			   tensor_bytes(tensor_of(i)));
}

/* Each has a place of its own until it is over. */
static struct swap *find_place(void)
{
	for (unsigned i = 0; i < SWAPS_MAX; i++)
		if (!kept.places[i].asked)
			return &kept.places[i];
	tell_broken("more than %u swaps are on their way", SWAPS_MAX);
	return NULL;
}

static void refuse(struct swap *swap, int error, const char *what)
{
	swap->error = error;
	snprintf(swap->sentence.text, sizeof(swap->sentence.text), "%s: %s", what,
		 strerror(-error));
}

struct swap *swap_prepare(const struct step *step, enum swapio_swap_op op, unsigned first,
			  unsigned count)
{
	struct swap *swap = find_place();

	if (!swap)
		return NULL;
	*swap = (struct swap){
		.asked = true,
		.keep = step->keep,
		.op = op,
		.first = first,
		.count = count,
		.stored = step->generation,
		.slot_timeout_ns =
			step->slot_timeout_ns < 0 ? SWAPIO_FOREVER : step->slot_timeout_ns,
		.result = {.size_bytes = sizeof(swap->result), .tensor = UINT32_MAX},
	};
	if (op == SWAPIO_SWAP_OUT)
		swap->generation = swap_draw_generation(first, count);
	for (unsigned i = first; i < first + count && !swap->error; i++) {
		int error = prepare_memory(swap, i);

		if (error < 0)
			refuse(swap, error, "buffer");
	}
	return swap;
}

/* Slots that were lent stay so whatever becomes of the swap. */
static void take_slots(const struct swap *swap)
{
	for (unsigned i = 0; i < swap->count; i++) {
		unsigned index = swap->first + i;

		if (!is_lent(swap, index) || !swap->mem[i])
			continue;
		if (worker.tensors[index].lent)
			tell_broken("tensor %s has a slot already", tensor_of(index)->name);
		worker.tensors[index].lent = swap->mem[i];
		kept.a_slot = swap->mem[i];
	}
}

int swap_start(struct swap *swap)
{
	struct swapio_swap start = {
		.size_bytes = sizeof(start),
		.group = kept.group,
		.op = swap->op,
		.first = swap->first - kept.group_first,
		.count = swap->count,
		.mem = swap->mem,
		.generation = swap->stored,
		.slot_timeout_ns = swap->slot_timeout_ns,
		.tag = swap->first,
	};

	if (swap->error)
		return swap->error;
	tell_all_written("begun", swap);
	swap->error = swapio_swap_start(&start, &swap->sentence, &swap->id);
	swap->started = swap->error == 0;
	if (swap->started)
		take_slots(swap);
	return swap->error;
}

void swap_wait(struct swap *swap, int64_t timeout_ns)
{
	swap->error = swapio_swap_wait(kept.store, swap->id, timeout_ns, &swap->result);
	swap->done = swap->error == 0;
	if (!swap->done) {
		refuse(swap, swap->error, "wait");
		return;
	}
	if (swap->result.id != swap->id || swap->result.tag != swap->first)
		tell_wrong("the result of swap %llu is of swap %llu, tag %llu",
			   (unsigned long long)swap->id, (unsigned long long)swap->result.id,
			   (unsigned long long)swap->result.tag);
}

int swap_release(unsigned tensor)
{
	void *slot = worker.tensors[tensor].lent;
	int error = slot ? swapio_slot_release(kept.store, slot) : 0;

	if (error == 0)
		worker.tensors[tensor].lent = NULL;
	return error;
}

static const char *memory_of(unsigned index)
{
	const struct worker_tensor *tensor = &worker.tensors[index];

	return tensor->lent ? tensor->lent : tensor->memory;
}

/* A lent slot is pinned, all of it, if the pool is. */
static void check_slot(unsigned index)
{
	const struct worker_tensor *tensor = &worker.tensors[index];
	bool pinned;

	if (!tensor->lent)
		return;
	pinned = swapio_is_pinned(worker.handle, tensor->lent, kept.slot_bytes);
	if (pinned != kept.pool_locked)
		tell_wrong("swapio_is_pinned of a slot says %s, and the pool is%s locked",
			   pinned ? "yes" : "no", kept.pool_locked ? "" : " not");
}

static void check_red_zone(unsigned index)
{
	const struct worker_tensor *tensor = &worker.tensors[index];
	uint64_t begin = tensor_bytes(tensor_of(index));

	for (uint64_t at = begin; !tensor->lent && at < begin + WORKER_RED_ZONE_BYTES; at++) {
		if ((unsigned char)tensor->memory[at] == PATTERN_POISON)
			continue;
		tell_wrong("tensor %s: byte %llu behind the %llu bytes swapped in was written",
			   tensor_of(index)->name, (unsigned long long)(at - begin),
			   (unsigned long long)begin);
		return;
	}
}

/* Generation 0: a tensor of which nothing is known was never stored by us. */
static void check_data(const struct swap *swap, unsigned index)
{
	static const char *names[WORKLOAD_TENSORS_MAX];
	uint32_t generation =
		swap->op == SWAPIO_SWAP_OUT ? swap->generation : origin_of(index)->stored;
	struct pattern pattern = pattern_of(index, generation);
	uint64_t bytes = tensor_bytes(tensor_of(index));
	struct pattern_finding finding;

	if (bytes == 0)
		return;
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		names[i] = tensor_of(i)->name;
	if (generation && pattern_check(&pattern, 0, memory_of(index), bytes, names,
					worker.workload.tensors_count, &finding))
		tell_data(index, &finding);
	if (swap->op == SWAPIO_SWAP_IN)
		check_red_zone(index);
	check_slot(index);
}

/* A swap-out that failed left what was stored before. */
static void remember_stored(const struct swap *swap)
{
	bool whole = swap->first == kept.group_first && swap->count == kept.group_count;

	if (swap->op != SWAPIO_SWAP_OUT)
		return;
	for (unsigned i = 0; whole && i < WORKLOAD_TENSORS_MAX; i++)
		worker.tensors[i].stored = 0; /* other tensors are not in this generation */
	for (unsigned i = 0; i < swap->count; i++)
		origin_of(swap->first + i)->stored = swap->generation;
}

void swap_keep(struct swap *swap)
{
	swap->error = 0;
	kept.swaps[kept.swaps_count++] = swap; /* there are no more than places */
}

static void release_slots(const struct swap *swap)
{
	for (unsigned i = swap->first; i < swap->first + swap->count; i++) {
		int error = swap->keep && !swap->result.error ? 0 : swap_release(i);

		if (error < 0)
			tell_wrong("swapio_slot_release after the swap of tensor %s: %s",
				   tensor_of(i)->name, strerror(-error));
	}
}

void swap_finish(struct swap *swap)
{
	bool whole = swap->done && !swap->result.error;

	tell_swap(swap);
	if (swap->started && !swap->done) {
		swap_keep(swap); /* its time was up, and the library still has the memory */
		return;
	}
	for (unsigned i = swap->first; whole && i < swap->first + swap->count; i++)
		check_data(swap, i);
	if (whole)
		remember_stored(swap);
	if (whole && worker.workload.store.durable)
		tell_all_written("durable", swap);
	if (swap->started && swap->op == SWAPIO_SWAP_IN)
		release_slots(swap);
	swap->asked = false;
}

unsigned swap_take_all(struct swap *ret_swaps[SWAPS_MAX])
{
	unsigned count = kept.swaps_count;

	memcpy(ret_swaps, kept.swaps, sizeof(kept.swaps));
	kept.swaps_count = 0;
	return count;
}

unsigned swap_drain(int64_t timeout_ns)
{
	struct swap *swaps[SWAPS_MAX];
	unsigned count = swap_take_all(swaps), lost = 0;

	for (unsigned i = 0; i < count; i++) {
		swap_wait(swaps[i], timeout_ns);
		lost += !swaps[i]->done;
		swap_finish(swaps[i]);
	}
	worker.aborted |= lost > 0;
	return lost;
}
