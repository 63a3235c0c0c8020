/* SPDX-License-Identifier: MIT */
/*
 * swap_helpers.h - what the tests of the swap layer share: a store in the scratch directory,
 * tensors with memory at any address, and swaps that must end as they are told to.
 */
#ifndef TEST_SWAP_HELPERS_H
#define TEST_SWAP_HELPERS_H

#include <dirent.h>
#include <limits.h>

#include "deadline.h"
#include "helpers.h"

#define TENSORS_MAX 16
#define POISON 0xa5

static struct swapio *handle;
static struct swapio_store *store;
static char store_path[300];

/* Without syncs, which say nothing without a power cut and take the time of a test. */
static inline struct swapio_store_options store_options(unsigned threads)
{
	struct swapio_store_options options;

	swapio_store_options_init(&options);
	options.durable = false;
	options.threads = threads;
	options.chunk_bytes = 16384;
	options.slot_bytes = 16384;
	options.slots = 12;
	return options;
}

static inline void open_store(const struct swapio_store_options *options)
{
	struct swapio_error error = {0};
	int ret;

	snprintf(store_path, sizeof(store_path), "%s/store", scratch_dir);
	ret = swapio_store_open(handle, store_path, options, &error, &store);
	if (ret < 0)
		fail_msg("swapio_store_open: %s", error.text);
}

static inline void close_store(void)
{
	assert_int_equal(swapio_store_close(store, SWAPIO_FOREVER), 0);
	store = NULL;
}

/* Everything in the store's directory, by no call of the library's. */
static inline void remove_store(void)
{
	DIR *dir = opendir(store_path);
	struct dirent *entry;
	char path[600];

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", store_path, entry->d_name);
		unlink(path);
	}
	closedir(dir);
	rmdir(store_path);
}

/* A handle and an empty store, as most tests begin. */
static inline void begin_with(unsigned workers, const struct swapio_store_options *options)
{
	struct swapio_options handle_options;

	swapio_options_init(&handle_options);
	handle_options.workers = workers;
	handle = open_handle(&handle_options);
	open_store(options);
}

static inline void begin(unsigned workers, unsigned threads)
{
	struct swapio_store_options options = store_options(threads);

	begin_with(workers, &options);
}

static inline void end(void)
{
	close_store();
	remove_store();
	close_handle(handle);
}

static inline struct swapio_group *open_group(const char *name, const struct swapio_tensor *tensors,
					      unsigned count)
{
	struct swapio_error error = {0};
	struct swapio_group *group = NULL;
	int ret = swapio_group_open(store, name, tensors, count, &error, &group);

	if (ret < 0)
		fail_msg("swapio_group_open: %s", error.text);
	return group;
}

/* Memory of a group's tensors, all at the same distance from a page, with a red zone behind. */
struct memory {
	unsigned count;
	size_t bytes[TENSORS_MAX];
	unsigned char *base[TENSORS_MAX];
	void *mem[TENSORS_MAX];
};

#define RED_ZONE 64

static inline void memory_make(struct memory *memory, const struct swapio_tensor *tensors,
			       unsigned count, size_t offset)
{
	memory->count = count;
	for (unsigned i = 0; i < count; i++) {
		size_t bytes = tensors[i].numel * tensors[i].element_bytes;
		void *base = NULL;

		assert_int_equal(posix_memalign(&base, 4096, offset + bytes + RED_ZONE), 0);
		memset(base, POISON, offset + bytes + RED_ZONE);
		memory->bytes[i] = bytes;
		memory->base[i] = base;
		memory->mem[i] = bytes ? memory->base[i] + offset : NULL;
	}
}

static inline void memory_free(struct memory *memory)
{
	for (unsigned i = 0; i < memory->count; i++)
		free(memory->base[i]);
}

static inline void memory_fill(struct memory *memory, uint64_t seed)
{
	for (unsigned i = 0; i < memory->count; i++)
		fill_random(memory->mem[i], memory->bytes[i], seed * 1000 + i);
}

static inline void memory_poison(struct memory *memory)
{
	for (unsigned i = 0; i < memory->count; i++)
		if (memory->bytes[i])
			memset(memory->mem[i], POISON, memory->bytes[i]);
}

static inline void assert_tensor_holds(const void *mem, size_t bytes, unsigned index, uint64_t seed)
{
	unsigned char *want = malloc(bytes + 1);

	assert_non_null(want);
	fill_random(want, bytes, seed * 1000 + index);
	if (memcmp(mem, want, bytes) != 0)
		assert_memory_equal(mem, want, bytes);
	free(want);
}

/* What memory_fill() put there, and not a byte behind it. */
static inline void assert_memory_holds(const struct memory *memory, uint64_t seed)
{
	for (unsigned i = 0; i < memory->count; i++) {
		const unsigned char *end;

		if (!memory->bytes[i])
			continue;
		assert_tensor_holds(memory->mem[i], memory->bytes[i], i, seed);
		end = (const unsigned char *)memory->mem[i] + memory->bytes[i];
		for (unsigned j = 0; j < RED_ZONE; j++)
			assert_int_equal(end[j], POISON);
	}
}

static inline struct swapio_swap swap_of(struct swapio_group *group, enum swapio_swap_op op,
					 void **mem)
{
	return (struct swapio_swap){
		.size_bytes = sizeof(struct swapio_swap),
		.group = group,
		.op = op,
		.mem = mem,
		.slot_timeout_ns = SWAPIO_FOREVER,
	};
}

static inline swapio_swap_id start_swap(const struct swapio_swap *swap)
{
	struct swapio_error error = {0};
	swapio_swap_id id = 0;
	int ret = swapio_swap_start(swap, &error, &id);

	if (ret < 0)
		fail_msg("swapio_swap_start: %s", error.text);
	assert_true(id != 0);
	return id;
}

static inline struct swapio_swap_result finish_swap(swapio_swap_id id)
{
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};

	assert_int_equal(swapio_swap_wait(store, id, SWAPIO_FOREVER, &result), 0);
	assert_true(result.id == id);
	return result;
}

static inline struct swapio_swap_result run_swap(const struct swapio_swap *swap)
{
	return finish_swap(start_swap(swap));
}

static inline struct swapio_swap_result run(struct swapio_group *group, enum swapio_swap_op op,
					    void **mem)
{
	const struct swapio_swap swap = swap_of(group, op, mem);

	return run_swap(&swap);
}

static inline void assert_good(const struct swapio_swap_result *result)
{
	if (result->error)
		fail_msg("the swap failed: %s", result->text);
	assert_int_equal(result->cause, SWAPIO_SWAP_NONE);
	assert_int_equal(result->tensor, UINT_MAX);
	assert_string_equal(result->text, "");
}

static inline struct swapio_swap_result swap_out_ok(struct swapio_group *group, void **mem)
{
	struct swapio_swap_result result = run(group, SWAPIO_SWAP_OUT, mem);

	assert_good(&result);
	return result;
}

static inline struct swapio_swap_result swap_in_ok(struct swapio_group *group, void **mem)
{
	struct swapio_swap_result result = run(group, SWAPIO_SWAP_IN, mem);

	assert_good(&result);
	return result;
}

static inline void assert_failed(const struct swapio_swap_result *result, int error,
				 enum swapio_swap_cause cause, const char *text)
{
	assert_string_equal(result->text, text);
	assert_int_equal(result->error, error);
	assert_int_equal(result->cause, cause);
}

#endif /* TEST_SWAP_HELPERS_H */
