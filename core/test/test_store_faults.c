/* SPDX-License-Identifier: MIT */
/*
 * test_store_faults.c - system calls of a commit that fail: each in turn, at each of its calls.
 * What was stored stays the newest generation, in this process and in the next one, until a
 * swap-out succeeds.
 */
/* link: -Wl,--wrap=fdatasync,--wrap=fsync,--wrap=renameat,--wrap=unlinkat,--wrap=fallocate */
#include <sys/mount.h>

#include "store_helpers.h"

#define NUMEL 3000

enum call { CALL_FDATASYNC, CALL_FSYNC, CALL_RENAMEAT, CALL_UNLINKAT, CALL_FALLOCATE, CALLS };

/* The call that fails: the n-th from when it was armed, and those behind it; 0 none. */
static unsigned fail_at[CALLS], fail_count[CALLS], calls[CALLS];
static int fail_with = EIO;

static bool fails(enum call call)
{
	unsigned at = ++calls[call];

	if (!fail_at[call] || at < fail_at[call] || at >= fail_at[call] + fail_count[call])
		return false;
	errno = fail_with;
	return true;
}

static void arm(enum call call, unsigned at)
{
	memset(calls, 0, sizeof(calls));
	memset(fail_at, 0, sizeof(fail_at));
	fail_at[call] = at;
	fail_count[call] = 1;
}

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __real_unlinkat(int dir_fd, const char *name, int flags);
int __wrap_unlinkat(int dir_fd, const char *name, int flags);
int __real_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length);

int __wrap_fdatasync(int fd)
{
	return fails(CALL_FDATASYNC) ? -1 : __real_fdatasync(fd);
}

int __wrap_fsync(int fd)
{
	return fails(CALL_FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return fails(CALL_RENAMEAT) ? -1 : __real_renameat(from_fd, from, to_fd, to);
}

int __wrap_unlinkat(int dir_fd, const char *name, int flags)
{
	return fails(CALL_UNLINKAT) ? -1 : __real_unlinkat(dir_fd, name, flags);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length)
{
	return fails(CALL_FALLOCATE) ? -1 : __real_fallocate(fd, mode, offset, length);
}

/* A swap-out of generation 2 in which one call fails, once. */
struct failing {
	enum call call;
	unsigned at;
	uint64_t numel; /* NUMEL: the same volume */
	enum swapio_swap_cause cause;
	const char *words;
};

static void failing_calls_leave_what_was_stored(void **state)
{
	static const struct failing table[] = {
		{CALL_FDATASYNC, 1, NUMEL, SWAPIO_SWAP_NONE, "sync what is stored: fdatasync"},
		{CALL_FDATASYNC, 2, NUMEL, SWAPIO_SWAP_SYNC, "sync its tensors: fdatasync"},
		{CALL_FDATASYNC, 3, NUMEL, SWAPIO_SWAP_SYNC, "sync its manifest: fdatasync"},
		{CALL_FALLOCATE, 1, 2 * NUMEL, SWAPIO_SWAP_NONE, "take 118784 bytes of room"},
		{CALL_FSYNC, 1, 2 * NUMEL, SWAPIO_SWAP_SYNC, "fsync"},
		{CALL_RENAMEAT, 1, 2 * NUMEL, SWAPIO_SWAP_SYNC, "name it so"},
		{CALL_FSYNC, 2, 2 * NUMEL, SWAPIO_SWAP_SYNC, "fsync of the directory"},
		{CALL_FDATASYNC, 2, 2 * NUMEL, SWAPIO_SWAP_SYNC, "sync its manifest: fdatasync"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct failing *failing = &table[i];
		struct swapio_store *store = open_store();
		struct outcome outcome;

		arm(CALL_FSYNC, 0);
		swap_out(store, "g", NUMEL, 1);
		arm(failing->call, failing->at);
		outcome = try_swap_out(store, "g", failing->numel, 2);
		if (outcome.error != -EIO || outcome.cause != failing->cause ||
		    !strstr(error.text, failing->words))
			fail_msg("row %zu: %d, cause %d: %s", i, outcome.error, outcome.cause,
				 error.text);
		assert_says("Input/output error");
		assert_stored(store, "g", 1, 1);
		close_store(store);
		store = open_store();
		assert_stored(store, "g", 1, 1);
		/* And it works again. */
		swap_out(store, "g", failing->numel, 3);
		assert_stored(store, "g", 2, 3);
		assert_int_equal(store->medium.index.count, 1);
		close_store(store);
		empty_store_path();
	}
}

/* When neither the manifest nor its being taken back is known to be durable, another volume is. */
static void a_manifest_in_doubt_is_not_written_over(void **state)
{
	struct swapio_store *store = open_store();
	struct volume volume;
	struct manifest *stored;
	struct outcome outcome;

	(void)state;
	arm(CALL_FSYNC, 0);
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(swapioi_volume_find(store, "g", &volume, &stored, &error), 0);
	/* Settled, data synced; the manifest is not, and that it was taken back neither. */
	arm(CALL_FDATASYNC, 3);
	fail_count[CALL_FDATASYNC] = 2;
	outcome = swap_out_into(store, &volume, &stored, states_of(store, "g", NUMEL), 2);
	assert_int_equal(outcome.error, -EIO);
	assert_int_equal(outcome.cause, SWAPIO_SWAP_SYNC);
	assert_says("sync its manifest: fdatasync");
	assert_true(volume.doubtful);
	assert_stored(store, "g", 1, 1);
	arm(CALL_FSYNC, 0);
	outcome = swap_out_into(store, &volume, &stored, states_of(store, "g", NUMEL), 3);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(volume.entry.number, 2);
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(stored);
	assert_stored(store, "g", 2, 3);
	close_store(store);
}

/* Generation 2 goes to a volume of its own, whose manifest is neither synced nor taken back. */
static void fail_in_another_volume(bool removed_for_good)
{
	struct swapio_store *store = open_store();
	struct volume volume;
	struct manifest *stored;
	struct outcome outcome;

	arm(CALL_FSYNC, 0);
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(swapioi_volume_find(store, "g", &volume, &stored, &error), 0);
	/* Settled; the manifest, and that it was taken back. */
	arm(CALL_FDATASYNC, 2);
	fail_count[CALL_FDATASYNC] = 2;
	/* The volume, its name; then its removal. */
	fail_at[CALL_FSYNC] = removed_for_good ? 0 : 3;
	fail_count[CALL_FSYNC] = 1;
	outcome = swap_out_into(store, &volume, &stored, states_of(store, "g", 2 * NUMEL), 2);
	assert_int_equal(outcome.error, -EIO);
	assert_says("sync its manifest: fdatasync");
	assert_int_equal(calls[CALL_FSYNC], 3);
	assert_int_equal(volume.doubtful, !removed_for_good);
	assert_stored(store, "g", 1, 1);
	arm(CALL_FSYNC, 0);
	outcome = swap_out_into(store, &volume, &stored, states_of(store, "g", NUMEL), 3);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(volume.entry.number, removed_for_good ? 1 : 2);
	assert_false(volume.doubtful);
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(stored);
	assert_stored(store, "g", 2, 3);
	close_store(store);
	empty_store_path();
}

static void a_volume_in_doubt_is_removed_for_good_or_replaced(void **state)
{
	(void)state;
	fail_in_another_volume(true);
	fail_in_another_volume(false);
}

static void full_and_over_quota_are_told(void **state)
{
	static const int codes[] = {ENOSPC, EDQUOT, EFBIG};
	struct swapio_store *store = open_store();

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		arm(CALL_FALLOCATE, 1);
		fail_with = codes[i];
		assert_int_equal(try_swap_out(store, "g", NUMEL, 1).error, -codes[i]);
		assert_says("take 69632 bytes of room");
		assert_int_equal(find_error(store, "g"), -ENOENT);
		assert_int_equal(store->medium.index.count, 0);
	}
	fail_with = EIO;
	close_store(store);
}

static void without_fallocate_a_file_is_given_its_length(void **state)
{
	struct swapio_store *store = open_store();

	(void)state;
	arm(CALL_FALLOCATE, 1);
	fail_with = EOPNOTSUPP;
	swap_out(store, "g", NUMEL, 1);
	fail_with = EIO;
	assert_stored(store, "g", 1, 1);
	close_store(store);
}

/* Making a store: each sync and the name in turn. */
static void a_store_that_cannot_be_made_is_not_there(void **state)
{
	static const struct {
		enum call call;
		unsigned at;
		const char *words;
	} table[] = {{CALL_FSYNC, 1, "write swapio.store.new"},
		     {CALL_FSYNC, 2, "sync the directory that it is in"},
		     {CALL_RENAMEAT, 1, "name its record swapio.store"},
		     {CALL_FSYNC, 3, "sync it"}};
	struct swapio_store_options options = small_options();
	struct swapio_store *store = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		arm(table[i].call, table[i].at);
		assert_int_equal(
			swapio_store_open(test_handle, store_path, &options, &error, &store), -EIO);
		assert_says(table[i].words);
		assert_says(store_path);
		arm(CALL_FSYNC, 0);
		close_store(open_store());
		empty_store_path();
	}
}

static void how_many_syncs_a_commit_takes(void **state)
{
	struct swapio_store_options options = small_options();
	struct swapio_store *store = open_store();
	struct volume volume = {.fd = -1};
	struct manifest *stored = NULL;

	(void)state;
	arm(CALL_FSYNC, 0);
	assert_int_equal(
		swap_out_into(store, &volume, &stored, states_of(store, "g", NUMEL), 1).error, 0);
	assert_int_equal(calls[CALL_FSYNC], 2);
	assert_int_equal(calls[CALL_FDATASYNC], 1);
	arm(CALL_FSYNC, 0);
	assert_int_equal(
		swap_out_into(store, &volume, &stored, states_of(store, "g", NUMEL), 2).error, 0);
	assert_int_equal(calls[CALL_FSYNC], 0);
	assert_int_equal(calls[CALL_FDATASYNC], 2);
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(stored);
	close_store(store);
	options.durable = false;
	store = open_store_with(&options, &swapioi_medium_dir);
	arm(CALL_FSYNC, 0);
	swap_out(store, "g", NUMEL, 3);
	swap_out(store, "h", NUMEL, 3);
	assert_int_equal(calls[CALL_FSYNC] + calls[CALL_FDATASYNC], 0);
	assert_stored(store, "g", 3, 3);
	close_store(store);
}

static void a_group_is_removed_with_its_newest_volume_last(void **state)
{
	struct swapio_store *store = open_store();

	(void)state;
	arm(CALL_FSYNC, 0);
	swap_out(store, "g", NUMEL, 1);
	arm(CALL_FSYNC, 1);
	assert_int_equal(swapio_store_remove(store, "g", &error), -EIO);
	assert_stored(store, "g", 1, 1);
	arm(CALL_UNLINKAT, 1);
	assert_int_equal(swapio_store_remove(store, "g", &error), -EIO);
	assert_stored(store, "g", 1, 1);
	arm(CALL_FSYNC, 0);
	assert_int_equal(swapio_store_remove(store, "g", &error), 0);
	assert_int_equal(calls[CALL_FSYNC], 2);
	assert_int_equal(find_error(store, "g"), -ENOENT);
	close_store(store);
}

/* A real one, of 1 MiB. */
static void a_full_disk_leaves_what_was_stored(void **state)
{
	struct swapio_store *store;

	(void)state;
	arm(CALL_FSYNC, 0);
	assert_int_equal(mkdir(store_path, 0755), 0);
	if (mount("none", store_path, "tmpfs", 0, "size=1m") < 0) {
		print_message("tmpfs cannot be mounted here: %s\n", strerror(errno));
		skip();
	}
	store = open_store();
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(try_swap_out(store, "g", 200000, 2).error, -ENOSPC);
	assert_says("No space left on device");
	assert_stored(store, "g", 1, 1);
	assert_int_equal(try_swap_out(store, "h", 200000, 2).error, -ENOSPC);
	swap_out(store, "g", NUMEL, 3);
	assert_stored(store, "g", 2, 3);
	close_store(store);
	assert_int_equal(umount(store_path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(failing_calls_leave_what_was_stored),
		STORE_TEST(a_manifest_in_doubt_is_not_written_over),
		STORE_TEST(a_volume_in_doubt_is_removed_for_good_or_replaced),
		STORE_TEST(full_and_over_quota_are_told),
		STORE_TEST(without_fallocate_a_file_is_given_its_length),
		STORE_TEST(a_store_that_cannot_be_made_is_not_there),
		STORE_TEST(how_many_syncs_a_commit_takes),
		STORE_TEST(a_group_is_removed_with_its_newest_volume_last),
		STORE_TEST(a_full_disk_leaves_what_was_stored),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
