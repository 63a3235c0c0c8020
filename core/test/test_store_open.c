/* SPDX-License-Identifier: MIT */
/*
 * test_store_open.c - opening, closing and destroying stores in directories: what is refused, and
 * that nothing is touched then.
 */
#include <sys/wait.h>

#include "store_helpers.h"

static int try_open(const struct swapio_store_options *options, const char *path)
{
	struct swapio_store *store = NULL;
	int ret;

	memset(&error, 0, sizeof(error));
	ret = swapio_store_open(test_handle, path, options, &error, &store);
	assert_true((ret == 0) == (store != NULL));
	assert_int_equal(error.code, ret);
	if (store)
		close_store(store);
	return ret;
}

static unsigned files_in(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static void assert_option_refused(struct swapio_store_options options, const char *sentence)
{
	assert_int_equal(try_open(&options, store_path), -EINVAL);
	assert_string_equal(error.text, sentence);
	assert_int_equal(access(store_path, F_OK), -1);
}

#define REFUSE(member, value, sentence)                                                            \
	do {                                                                                       \
		struct swapio_store_options options;                                               \
                                                                                                   \
		swapio_store_options_init(&options);                                               \
		options.member = value;                                                            \
		assert_option_refused(options, sentence);                                          \
	} while (0)

static void options_out_of_range_are_refused(void **state)
{
	(void)state;
	REFUSE(chunk_bytes, 4095,
	       "chunk_bytes is 4095, allowed: multiples of 4096 from 4096 to 1073741824");
	REFUSE(chunk_bytes, 0,
	       "chunk_bytes is 0, allowed: multiples of 4096 from 4096 to "
	       "1073741824");
	REFUSE(chunk_bytes, ((size_t)1 << 30) + 4096,
	       "chunk_bytes is 1073745920, allowed: multiples of 4096 from 4096 to 1073741824");
	REFUSE(slot_bytes, 5000,
	       "slot_bytes is 5000, allowed: multiples of 4096 from 4096 to 1073741824");
	REFUSE(slots, 1, "slots is 1, allowed: 2 to 65536");
	REFUSE(slots, 65537, "slots is 65537, allowed: 2 to 65536");
	REFUSE(slots, 3, "slots is 3, allowed with 2 threads: 4 to 65536, two for each thread");
	REFUSE(threads, 17, "threads is 17, allowed: 0 to 16");
	REFUSE(range_offset_bytes, 1,
	       "range_offset_bytes is 1, allowed: multiples of 4096 from 0 "
	       "to 9223372036854775807");
	REFUSE(range_length_bytes, 4096,
	       "range_length_bytes is 4096, allowed: 0 (to the end of the device) or multiples of "
	       "4096 from 2097152 to 9223372036854775807");
	REFUSE(checksum, (enum swapio_checksum)7,
	       swapioi_checksum_known(SWAPIO_CHECKSUM_XXH3)
		       ? "checksum is 7 (unknown), allowed: 0 (none), 1 (xxh64) and 2 (xxh3)"
		       : "checksum is 7 (unknown), allowed: 0 (none), 1 (xxh64)");
}

static void options_of_another_size_are_refused(void **state)
{
	struct swapio_store_options options;

	(void)state;
	swapio_store_options_init(&options);
	options.size_bytes++;
	assert_int_equal(try_open(&options, store_path), -EINVAL);
	assert_says("fill them with swapio_store_options_init()");
	assert_int_equal(swapio_store_destroy(store_path, &options, &error), -EINVAL);
}

static void a_store_is_made_and_found_again(void **state)
{
	struct swapio_store_info info = {.size_bytes = sizeof(info)}, again = info;
	struct swapio_store *store = NULL;

	(void)state;
	assert_int_equal(swapio_store_open(test_handle, store_path, NULL, &error, &store), 0);
	assert_int_equal(swapio_store_info_get(store, &info), 0);
	assert_false(info.block_device);
	assert_int_equal(info.checksum, swapioi_checksum_default());
	assert_int_equal(info.pool_bytes, 32 << 20);
	assert_true(info.free_bytes > 0);
	assert_false(all_zeros(info.id, sizeof(info.id)));
	close_store(store);
	assert_int_equal(files_in(store_path), 1);
	assert_int_equal(swapio_store_open(test_handle, store_path, NULL, NULL, &store), 0);
	assert_int_equal(swapio_store_info_get(store, &again), 0);
	assert_memory_equal(info.id, again.id, sizeof(info.id));
	again.size_bytes--;
	assert_int_equal(swapio_store_info_get(store, &again), -EINVAL);
	close_store(store);
	assert_int_equal(swapio_store_close(NULL, 0), 0);
}

static void two_stores_have_two_identities(void **state)
{
	unsigned char id[SWAPIO_STORE_ID_BYTES];
	struct swapio_store *store = open_store();

	(void)state;
	memcpy(id, store->id, sizeof(id));
	close_store(store);
	assert_int_equal(swapio_store_destroy(store_path, NULL, &error), 0);
	store = open_store();
	assert_memory_not_equal(id, store->id, sizeof(id));
	close_store(store);
}

static void without_create_there_must_be_one(void **state)
{
	struct swapio_store_options options = small_options();

	(void)state;
	options.create = false;
	assert_int_equal(try_open(&options, store_path), -ENOENT);
	assert_says("no store is there");
	assert_int_equal(mkdir(store_path, 0755), 0);
	assert_int_equal(try_open(&options, store_path), -ENOENT);
	assert_int_equal(files_in(store_path), 0);
	options.create = true;
	options.read_only = true;
	assert_int_equal(try_open(&options, store_path), -ENOENT);
	assert_int_equal(files_in(store_path), 0);
	assert_int_equal(try_open(NULL, ""), -ENOENT);
	assert_int_equal(try_open(NULL, NULL), -ENOENT);
}

static void what_is_no_place_for_a_store_is_told(void **state)
{
	char path[STORE_PATH_BYTES + 300];

	(void)state;
	write_file(store_path, (const unsigned char *)"x", 1);
	assert_int_equal(try_open(NULL, store_path), -ENOTDIR);
	assert_says("neither a directory nor a block device");
	assert_int_equal(file_size(store_path), 1);
	snprintf(path, sizeof(path), "%s/no/store", scratch_dir);
	assert_int_equal(try_open(NULL, path), -ENOENT);
	memset(path, 'n', sizeof(path));
	memcpy(path, scratch_dir, strlen(scratch_dir));
	path[strlen(scratch_dir)] = '/';
	path[strlen(scratch_dir) + 257] = 0;
	assert_int_equal(try_open(NULL, path), -ENAMETOOLONG);
	assert_int_equal(try_open(NULL, "/proc/self/fdinfo/store"), -ENOENT);
}

static void a_directory_with_other_files_is_left_alone(void **state)
{
	char path[STORE_PATH_BYTES + 8];

	(void)state;
	assert_int_equal(mkdir(store_path, 0755), 0);
	snprintf(path, sizeof(path), "%s/thesis", store_path);
	write_file(path, (const unsigned char *)"x", 1);
	assert_int_equal(try_open(NULL, store_path), -ENOTEMPTY);
	assert_says("not a store, and not empty: it holds thesis");
	assert_int_equal(files_in(store_path), 1);
	assert_int_equal(swapio_store_destroy(store_path, NULL, &error), -ENOENT);
	assert_int_equal(files_in(store_path), 1);
}

static void other_files_beside_a_store_stay(void **state)
{
	char path[STORE_PATH_BYTES + 8];
	struct swapio_store *store = open_store();

	(void)state;
	swap_out(store, "g", 100, 1);
	close_store(store);
	snprintf(path, sizeof(path), "%s/notes", store_path);
	write_file(path, (const unsigned char *)"x", 1);
	assert_int_equal(try_open(NULL, store_path), 0);
	assert_int_equal(swapio_store_destroy(store_path, NULL, &error), 0);
	assert_int_equal(files_in(store_path), 1);
	assert_int_equal(access(path, F_OK), 0);
}

static void a_store_that_is_destroyed_is_gone(void **state)
{
	struct swapio_store *store = open_store();

	(void)state;
	swap_out(store, "g", 100, 1);
	assert_int_equal(swapio_store_destroy(store_path, NULL, &error), -EBUSY);
	assert_stored(store, "g", 1, 1);
	close_store(store);
	assert_int_equal(swapio_store_destroy(store_path, NULL, &error), 0);
	assert_int_equal(access(store_path, F_OK), -1);
	assert_int_equal(swapio_store_destroy(store_path, NULL, &error), -ENOENT);
	assert_int_equal(swapio_store_destroy("", NULL, &error), -ENOENT);
}

static void record_path(char path[STORE_PATH_BYTES + 16])
{
	snprintf(path, STORE_PATH_BYTES + 16, "%s/swapio.store", store_path);
}

static void a_damaged_record_is_refused(void **state)
{
	char path[STORE_PATH_BYTES + 16];
	unsigned char unit[4096];
	struct store_record record = {.length_bytes = 1 << 30};

	(void)state;
	close_store(open_store());
	record_path(path);
	for (uint64_t at = 0; at < 4096; at += at < 48 || at > 4086 ? 1 : 100) {
		flip_byte(path, at, 4);
		assert_int_equal(try_open(NULL, store_path), -EBADMSG);
		flip_byte(path, at, 4);
	}
	assert_int_equal(try_open(NULL, store_path), 0);
	assert_int_equal(truncate(path, 4095), 0);
	assert_int_equal(try_open(NULL, store_path), -EBADMSG);
	memset(unit, 0, sizeof(unit));
	write_file(path, unit, sizeof(unit));
	assert_int_equal(try_open(NULL, store_path), -EBADMSG);
	swapioi_store_record_encode(&record, unit);
	write_file(path, unit, sizeof(unit));
	assert_int_equal(try_open(NULL, store_path), -EBADMSG);
	assert_says("that of a range");
	record.length_bytes = 0;
	swapioi_store_record_encode(&record, unit);
	put_u32(unit + 8, 9);
	put_u64(unit + 4088, swapioi_record_sum(unit, 4088));
	write_file(path, unit, sizeof(unit));
	assert_int_equal(try_open(NULL, store_path), -ENOTSUP);
	assert_says("version 9, known here: 1");
	assert_int_equal(files_in(store_path), 1);
}

static void a_record_that_a_crash_left_unfinished_is_made_anew(void **state)
{
	char path[STORE_PATH_BYTES + 32];

	(void)state;
	assert_int_equal(mkdir(store_path, 0755), 0);
	snprintf(path, sizeof(path), "%s/swapio.store.new", store_path);
	write_file(path, (const unsigned char *)"SWAPST", 6);
	assert_int_equal(try_open(NULL, store_path), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(files_in(store_path), 1);
}

static void a_store_is_open_for_writing_once(void **state)
{
	struct swapio_store_options options = small_options();
	struct swapio_store *store = open_store();

	(void)state;
	assert_int_equal(try_open(&options, store_path), -EBUSY);
	assert_says("another process, or another store of this one, has it open");
	options.read_only = true;
	assert_int_equal(try_open(&options, store_path), -EBUSY);
	assert_says("for writing");
	close_store(store);
	options.read_only = false;
	assert_int_equal(try_open(&options, store_path), 0);
}

static void readers_share_a_store_and_change_nothing(void **state)
{
	struct swapio_store_options options = small_options();
	struct swapio_store *readers[2], *store = open_store();
	char left[STORE_PATH_BYTES + 80];

	(void)state;
	swap_out(store, "g", 100, 1);
	close_store(store);
	new_volume_path("h", 1, left);
	write_file(left, (const unsigned char *)"x", 1);
	options.read_only = true;
	readers[0] = open_store_with(&options, &swapioi_medium_dir);
	readers[1] = open_store_with(&options, &swapioi_medium_dir);
	assert_stored(readers[0], "g", 1, 1);
	assert_stored(readers[1], "g", 1, 1);
	assert_int_equal(swapio_store_remove(readers[0], "g", &error), -EROFS);
	assert_int_equal(access(left, F_OK), 0);
	options.read_only = false;
	assert_int_equal(try_open(&options, store_path), -EBUSY);
	close_store(readers[0]);
	assert_int_equal(try_open(&options, store_path), -EBUSY);
	close_store(readers[1]);
	assert_int_equal(try_open(&options, store_path), 0);
	assert_int_equal(access(left, F_OK), -1);
}

/* 0 if a process of its own finds what it should. */
static int in_child(int (*look)(struct swapio_store *store), struct swapio_store *store)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(look(store));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int nothing_is_handed_out(const struct swapio_group_info *info, void *arg)
{
	(void)info, (void)arg;
	return 9;
}

static int no_damage_is_handed_out(const struct swapio_damage *damage, void *arg)
{
	(void)damage, (void)arg;
	return 9;
}

static int look_as_child(struct swapio_store *store)
{
	struct swapio_store_info info = {.size_bytes = sizeof(info)};
	struct swapio_store *second = NULL;

	if (swapio_store_info_get(store, &info) != -ECHILD)
		return 1;
	if (swapio_store_list(store, nothing_is_handed_out, NULL, NULL) != -ECHILD)
		return 2;
	if (swapio_store_verify(store, NULL, no_damage_is_handed_out, NULL, NULL) != -ECHILD)
		return 3;
	if (swapio_store_remove(store, "g", NULL) != -ECHILD)
		return 4;
	if (swapio_store_open(test_handle, store_path, NULL, NULL, &second) != -ECHILD)
		return 5;
	return swapio_store_close(store, 0) == 0 ? 0 : 6;
}

static void a_child_may_only_close_and_the_parent_keeps_its_lock(void **state)
{
	struct swapio_store_options options = small_options();
	struct swapio_store *store = open_store();

	(void)state;
	swap_out(store, "g", 100, 1);
	assert_int_equal(in_child(look_as_child, store), 0);
	assert_int_equal(try_open(&options, store_path), -EBUSY);
	assert_stored(store, "g", 1, 1);
	close_store(store);
}

static int wait_for_parent(struct swapio_store *store)
{
	char byte;

	(void)store;
	return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
}

/* A child that keeps its copy of the descriptor must not keep the store. */
static void closing_ends_the_lock_though_a_child_lives(void **state)
{
	struct swapio_store *store = open_store();
	int pipe_fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(pipe_fds[1]);
		dup2(pipe_fds[0], STDIN_FILENO);
		_exit(wait_for_parent(store));
	}
	close(pipe_fds[0]);
	close_store(store);
	close_store(open_store());
	close(pipe_fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void no_descriptor_and_no_memory_stays_behind(void **state)
{
	unsigned before = files_in("/proc/self/fd");
	struct swapio_store_options options = small_options();

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		close_store(open_store());
		options.create = false;
		assert_int_equal(try_open(&options, scratch_dir), -ENOENT);
		options.create = true;
		assert_int_equal(try_open(&options, scratch_dir), -ENOTEMPTY);
	}
	assert_int_equal(files_in("/proc/self/fd"), before);
}

static void more_memory_than_there_is_is_refused(void **state)
{
	struct swapio_store_options options = small_options();

	(void)state;
	options.slot_bytes = (size_t)1 << 30;
	options.slots = 65536;
	options.threads = 0;
	assert_int_equal(try_open(&options, store_path), -ENOMEM);
	assert_says("a pool of 65536 slots of 1073741824 bytes");
	options = small_options();
	assert_int_equal(try_open(&options, store_path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(options_out_of_range_are_refused),
		STORE_TEST(options_of_another_size_are_refused),
		STORE_TEST(a_store_is_made_and_found_again),
		STORE_TEST(two_stores_have_two_identities),
		STORE_TEST(without_create_there_must_be_one),
		STORE_TEST(what_is_no_place_for_a_store_is_told),
		STORE_TEST(a_directory_with_other_files_is_left_alone),
		STORE_TEST(other_files_beside_a_store_stay),
		STORE_TEST(a_store_that_is_destroyed_is_gone),
		STORE_TEST(a_damaged_record_is_refused),
		STORE_TEST(a_record_that_a_crash_left_unfinished_is_made_anew),
		STORE_TEST(a_store_is_open_for_writing_once),
		STORE_TEST(readers_share_a_store_and_change_nothing),
		STORE_TEST(a_child_may_only_close_and_the_parent_keeps_its_lock),
		STORE_TEST(closing_ends_the_lock_though_a_child_lives),
		STORE_TEST(no_descriptor_and_no_memory_stays_behind),
		STORE_TEST(more_memory_than_there_is_is_refused),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
