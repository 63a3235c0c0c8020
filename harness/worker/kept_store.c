/* SPDX-License-Identifier: MIT */
/*
 * kept_store.c - opens and closes the worker's store, and the group in it.
 */
#include <string.h>

#include "swap.h"

struct worker_store kept;

static enum swapio_checksum checksum_of(enum store_checksum asked, enum swapio_checksum by_default)
{
	switch (asked) {
	case STORE_CHECKSUM_DEFAULT:
		break;
	case STORE_CHECKSUM_NONE:
		return SWAPIO_CHECKSUM_NONE;
	case STORE_CHECKSUM_XXH64:
		return SWAPIO_CHECKSUM_XXH64;
	case STORE_CHECKSUM_XXH3:
		return SWAPIO_CHECKSUM_XXH3;
	}
	return by_default;
}

/* What the store says it pins is what the process pins more. */
static void check_pool(int64_t locked_before)
{
	struct swapio_store_info info = {.size_bytes = sizeof(info)};
	int error = swapio_store_info_get(kept.store, &info);
	int64_t locked = counts_locked() - locked_before;

	if (error < 0) {
		tell_wrong("swapio_store_info_get: %s", strerror(-error));
		return;
	}
	kept.pool_locked = info.pool_locked;
	if (info.pool_locked && locked != (int64_t)info.pool_bytes)
		tell_wrong("a store whose pool has %lld bytes locks %lld",
			   (long long)info.pool_bytes, (long long)locked);
	if (info.pool_bytes <
	    worker.workload.store.slot_bytes * (uint64_t)worker.workload.store.slots)
		tell_wrong("a pool of %u slots of %llu bytes has %llu bytes",
			   worker.workload.store.slots,
			   (unsigned long long)worker.workload.store.slot_bytes,
			   (unsigned long long)info.pool_bytes);
}

int kept_open(const char *place, bool read_only, struct swapio_error *sentence)
{
	const struct store_options *asked = &worker.workload.store;
	struct swapio_store_options options;
	int64_t locked = counts_locked();
	int error;

	swapio_store_options_init(&options);
	options.read_only = read_only;
	options.durable = asked->durable;
	options.checksum = checksum_of(asked->checksum, options.checksum);
	options.chunk_bytes = asked->chunk_bytes;
	options.slot_bytes = asked->slot_bytes;
	options.slots = asked->slots;
	options.threads = asked->threads;
	error = swapio_store_open(worker.handle, place, &options, sentence, &kept.store);
	if (error < 0) {
		kept.store = NULL;
		return error;
	}
	memcpy(kept.place, place, strlen(place) + 1);
	kept.slot_bytes = asked->slot_bytes;
	kept.read_only = read_only;
	check_pool(locked);
	return 0;
}

int kept_group_close(void)
{
	int error = swapio_group_close(kept.group);

	if (error == 0)
		kept.group = NULL;
	return error;
}

/* Memory of a pool that is gone is nobody's, and not pinned. */
static void check_slot_gone(void)
{
	if (kept.a_slot && swapio_is_pinned(worker.handle, kept.a_slot, 1))
		tell_wrong("swapio_is_pinned says yes of a slot of a store that is closed");
	kept.a_slot = NULL;
}

int kept_close(int64_t timeout_ns)
{
	int error;

	if (!kept.store)
		return 0;
	/* A group with swaps on their way cannot be closed: the store then says so. */
	if (kept.group && kept.swaps_count == 0)
		kept_group_close();
	error = swapio_store_close(kept.store, timeout_ns);
	if (error < 0)
		return error;
	kept.store = NULL;
	kept.group = NULL;
	check_slot_gone();
	return 0;
}

void kept_forget(void)
{
	memset(&kept, 0, sizeof(kept));
}

static void describe(unsigned index, struct swapio_tensor *tensor)
{
	const struct tensor *asked = &worker.workload.tensors[index];

	*tensor = (struct swapio_tensor){
		.size_bytes = sizeof(*tensor),
		.name = asked->name,
		.numel = asked->numel,
		.element_bytes = (uint32_t)dtype_bytes(asked->dtype),
		.dtype = dtype_name(asked->dtype),
		.dims = asked->dims,
		.shape = asked->dims ? asked->shape : NULL,
	};
}

int kept_group(unsigned first, unsigned count, struct swapio_error *sentence)
{
	struct swapio_tensor tensors[WORKLOAD_TENSORS_MAX];
	int error;

	if (kept.group && kept.group_first == first && kept.group_count == count)
		return 0;
	error = kept.group ? kept_group_close() : 0;
	if (error < 0) {
		tell_broken("the group cannot be opened with other tensors: %s", strerror(-error));
		return error;
	}
	for (unsigned i = 0; i < count; i++)
		describe(first + i, &tensors[i]);
	error = swapio_group_open(kept.store, worker.workload.store.group, tensors, count, sentence,
				  &kept.group);
	if (error < 0)
		kept.group = NULL;
	kept.group_first = first;
	kept.group_count = count;
	return error;
}
