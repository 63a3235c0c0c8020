/* SPDX-License-Identifier: MIT */
/*
 * aftermath_store.c - once the faults are over, the same store has to take and give a group again,
 * whatever became of the one that was swapped.
 */
#include <string.h>

#include "swap.h"

#define PROBE_GROUP "aftermath"

static void failed(const char *what, int error, const struct swapio_error *sentence)
{
	tell_wrong("aftermath: a clean %s of the same store fails: %s", what,
		   sentence->text[0] ? sentence->text : strerror(-error));
}

static void check(const struct pattern *pattern, const char *memory)
{
	struct pattern_finding finding;

	if (pattern_check(pattern, 0, memory, WIRE_PROBE_BYTES, NULL, 0, &finding))
		tell_wrong("aftermath: a clean swap-in gives other bytes than were swapped out: "
			   "%llu-%llu %s",
			   (unsigned long long)finding.begin, (unsigned long long)finding.end - 1,
			   finding.story);
}

static void swap_probe(struct swapio_group *group, void *memory)
{
	struct pattern pattern = {worker.wire.seed, WIRE_PROBE_TENSOR, 2};
	struct swapio_error sentence = {0};
	void *mem[1] = {memory};
	int error;

	pattern_fill(&pattern, 0, memory, WIRE_PROBE_BYTES);
	error = swapio_swap_out(group, mem, &sentence);
	if (error < 0) {
		failed("swap-out", error, &sentence);
		return;
	}
	pattern_poison(memory, WIRE_PROBE_BYTES);
	error = swapio_swap_in(group, mem, &sentence);
	if (error < 0)
		failed("swap-in", error, &sentence);
	else
		check(&pattern, memory);
}

void aftermath_store(void)
{
	struct swapio_tensor tensor = {.size_bytes = sizeof(tensor),
				       .name = "probe",
				       .numel = WIRE_PROBE_BYTES,
				       .element_bytes = 1};
	struct swapio_error sentence = {0};
	struct swapio_group *group;
	void *memory;
	int error;

	if (!kept.store || kept.read_only)
		return;
	error = swapio_group_open(kept.store, PROBE_GROUP, &tensor, 1, &sentence, &group);
	if (error < 0) {
		failed("group-open", error, &sentence);
		return;
	}
	error = swapio_buffer_alloc(worker.handle, WIRE_PROBE_BYTES, 0, &memory);
	if (error == 0) {
		swap_probe(group, memory);
		swapio_buffer_free(worker.handle, memory);
	} else {
		failed("buffer", error, &sentence);
	}
	error = swapio_group_close(group);
	if (error < 0)
		failed("group-close", error, &sentence);
}
