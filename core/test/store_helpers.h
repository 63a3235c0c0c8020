/* SPDX-License-Identifier: MIT */
/*
 * store_helpers.h - stores in the scratch directory, and generations that are swapped out by hand:
 * what the jobs of the library do, in a few plain lines.
 */
#ifndef TEST_STORE_HELPERS_H
#define TEST_STORE_HELPERS_H

#include <dirent.h>
#include <inttypes.h>

#include "manifest_samples.h"
#include "records.h"
#include "store.h"
#include "store_parts.h"
#include "volume_layout.h"

#define STORE_PATH_BYTES 320

static struct swapio *test_handle;
static char store_path[STORE_PATH_BYTES];
static struct swapio_error error;

static inline struct swapio_store_options small_options(void)
{
	struct swapio_store_options options;

	swapio_store_options_init(&options);
	options.checksum = SWAPIO_CHECKSUM_XXH64;
	options.chunk_bytes = 4096;
	options.slot_bytes = 4096;
	options.slots = 4;
	return options;
}

/* Removes everything that a test may have left; no directories within. */
static inline void empty_store_path(void)
{
	DIR *dir = opendir(store_path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(store_path);
	unlink(store_path);
}

static inline int store_set_up(void **state)
{
	(void)state;
	snprintf(store_path, sizeof(store_path), "%s/store", scratch_dir);
	empty_store_path();
	memset(&error, 0, sizeof(error));
	test_handle = open_handle(NULL);
	return 0;
}

static inline int store_tear_down(void **state)
{
	(void)state;
	close_handle(test_handle);
	empty_store_path();
	return 0;
}

static inline struct swapio_store *open_store_with(const struct swapio_store_options *options,
						   const struct medium_ops *medium_ops)
{
	struct swapio_store *store = NULL;

	if (swapioi_store_open_with(test_handle, store_path, options, medium_ops, &error, &store) <
	    0)
		fail_msg("open: %s", error.text);
	return store;
}

static inline struct swapio_store *open_store(void)
{
	struct swapio_store_options options = small_options();

	return open_store_with(&options, &swapioi_medium_dir);
}

static inline void close_store(struct swapio_store *store)
{
	assert_int_equal(swapio_store_close(store, 0), 0);
}

/* What a swap-out ended with. */
struct outcome {
	int error;
	enum swapio_swap_cause cause;
};

static inline void fill_tensor(const struct manifest *next, unsigned index, uint64_t seed,
			       unsigned char *bytes)
{
	fill_random(bytes, manifest_tensor_bytes(&next->tensors[index]),
		    seed * 1000 + next->generation * 10 + index);
}

static inline void write_tensor(const struct volume *volume, struct manifest *next, unsigned index,
				uint64_t seed)
{
	struct manifest_tensor *tensor = &next->tensors[index];
	uint64_t bytes = manifest_tensor_bytes(tensor);
	struct swapio_io io;
	unsigned char *buf;

	if (!bytes)
		return;
	buf = alloc_buffer(test_handle, tensor->padded_bytes);
	fill_tensor(next, index, seed, buf);
	for (uint64_t i = 0; i < manifest_sums(next, index); i++) {
		uint64_t at = i * next->chunk_bytes;
		uint64_t length = bytes - at < next->chunk_bytes ? bytes - at : next->chunk_bytes;

		tensor->sums[i] = swapioi_record_sum(buf + at, length);
	}
	io = io_of(SWAPIO_WRITE, NULL, volume->fd, swapioi_volume_tensor_offset(volume, tensor),
		   buf, tensor->padded_bytes);
	assert_int_equal(finish(test_handle, start(test_handle, &io)).error, 0);
	assert_int_equal(swapio_buffer_free(test_handle, buf), 0);
}

/* Prepare, write, commit; the volume that is in use is left open in @volume. */
static inline struct outcome swap_out_into(struct swapio_store *store, struct volume *volume,
					   struct manifest **stored, struct manifest *next,
					   uint64_t seed)
{
	struct outcome outcome = {.error = 0};
	struct volume prepared = {.fd = -1};

	memcpy(next->store_id, store->id, sizeof(next->store_id));
	next->generation = *stored ? (*stored)->generation + 1 : 1;
	for (unsigned i = 0; i < next->count; i++)
		next->tensors[i].place =
			*stored && i < (*stored)->count ? !(*stored)->tensors[i].place : 0;
	outcome.error =
		swapioi_volume_prepare(store, *stored, next, false, volume, &prepared, &error);
	if (outcome.error < 0) {
		swapioi_manifest_destroy(next);
		return outcome;
	}
	for (unsigned i = 0; i < next->count; i++)
		write_tensor(&prepared, next, i, seed);
	outcome.error =
		swapioi_volume_commit(&prepared, next, volume, INT64_MAX, &outcome.cause, &error);
	if (outcome.error < 0) {
		swapioi_volume_abandon(&prepared, volume);
		swapioi_manifest_destroy(next);
		return outcome;
	}
	swapioi_manifest_destroy(*stored);
	*stored = next;
	*volume = prepared;
	return outcome;
}

static inline struct manifest *states_of(struct swapio_store *store, const char *group,
					 uint64_t numel)
{
	struct swapio_tensor tensors[] = {tensor_of("step", 1, 4), tensor_of("exp_avg", numel, 4),
					  tensor_of("empty", 0, 4),
					  tensor_of("exp_avg_sq", numel, 4)};

	return make_manifest(group, tensors, 4, store->options.checksum,
			     store->options.chunk_bytes);
}

/* The next generation of a group with tensors of @numel elements. */
static inline struct outcome try_swap_out(struct swapio_store *store, const char *group,
					  uint64_t numel, uint64_t seed)
{
	struct volume volume = {.fd = -1};
	struct manifest *stored = NULL;
	int ret = swapioi_volume_find(store, group, &volume, &stored, &error);
	struct outcome outcome = {.error = ret};

	if (ret == 0 || ret == -ENOENT)
		outcome = swap_out_into(store, &volume, &stored, states_of(store, group, numel),
					seed);
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(stored);
	return outcome;
}

static inline void swap_out(struct swapio_store *store, const char *group, uint64_t numel,
			    uint64_t seed)
{
	struct outcome outcome = try_swap_out(store, group, numel, seed);

	if (outcome.error < 0)
		fail_msg("swap out %s: %s", group, error.text);
}

/* What is stored is generation @generation, as it was swapped out with @seed. */
static inline void assert_stored(struct swapio_store *store, const char *group, uint64_t generation,
				 uint64_t seed)
{
	struct volume volume = {.fd = -1};
	struct manifest *manifest = NULL;
	char path[64];
	int fd;

	if (swapioi_volume_find(store, group, &volume, &manifest, &error) < 0)
		fail_msg("find %s: %s", group, error.text);
	assert_int_equal(manifest->generation, generation);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", volume.fd);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	for (unsigned i = 0; i < manifest->count; i++) {
		uint64_t bytes = manifest_tensor_bytes(&manifest->tensors[i]);
		unsigned char *got = malloc(bytes + 1), *want = malloc(bytes + 1);

		assert_non_null(got);
		assert_non_null(want);
		assert_int_equal(
			pread(fd, got, bytes,
			      (off_t)swapioi_volume_tensor_offset(&volume, &manifest->tensors[i])),
			(ssize_t)bytes);
		fill_tensor(manifest, i, seed, want);
		assert_memory_equal(got, want, bytes);
		free(got);
		free(want);
	}
	close(fd);
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(manifest);
}

static inline int find_error(struct swapio_store *store, const char *group)
{
	struct volume volume = {.fd = -1};
	struct manifest *manifest = NULL;
	int ret;

	memset(&error, 0, sizeof(error));
	ret = swapioi_volume_find(store, group, &volume, &manifest, &error);
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(manifest);
	return ret;
}

static inline void assert_says(const char *words)
{
	if (!strstr(error.text, words))
		fail_msg("\"%s\" lacks \"%s\"", error.text, words);
}

/* Path of volume @number of @group. */
static inline void volume_path(const char *group, uint64_t number, char path[STORE_PATH_BYTES + 64])
{
	struct medium_entry entry = {.group_sum = swapioi_record_sum(group, strlen(group)),
				     .number = number};
	char name[VOLUME_NAME_BYTES];

	swapioi_volume_name(&entry, name);
	snprintf(path, STORE_PATH_BYTES + 64, "%s/%s", store_path, name);
}

/* The same while it has not got its name. */
static inline void new_volume_path(const char *group, uint64_t number,
				   char path[STORE_PATH_BYTES + 80])
{
	char whole[STORE_PATH_BYTES + 64];

	volume_path(group, number, whole);
	snprintf(path, STORE_PATH_BYTES + 80, "%s.new", whole);
}

/* Exclusive or what is at @offset of a file with @mask. */
static inline void flip_byte(const char *path, uint64_t offset, unsigned char mask)
{
	int fd = open(path, O_RDWR);
	unsigned char byte;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
	byte ^= mask;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
	assert_int_equal(fsync(fd), 0);
	close(fd);
}

static inline void overwrite(const char *path, uint64_t offset, const void *bytes, size_t count)
{
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, count, (off_t)offset), (ssize_t)count);
	assert_int_equal(fsync(fd), 0);
	close(fd);
}

static inline void copy_file(const char *from, const char *to)
{
	uint64_t bytes = file_size(from);
	unsigned char *mem = malloc(bytes + 1);
	int fd = open(from, O_RDONLY);

	assert_non_null(mem);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, mem, bytes), (ssize_t)bytes);
	close(fd);
	write_file(to, mem, bytes);
	free(mem);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, store_set_up, store_tear_down)

#endif /* TEST_STORE_HELPERS_H */
