/* SPDX-License-Identifier: MIT */
/*
 * test_volume.c - a group's generations in its volumes: the newest committed one is found, whatever
 * crash or damage left around it, and never an older one in its stead.
 */
#include "script_engine.h"
#include "store_helpers.h"

#define NUMEL 3000

static void generations_alternate_in_one_volume(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];

	(void)state;
	assert_int_equal(find_error(store, "g"), -ENOENT);
	assert_string_equal(error.text, "group g: nothing is stored");
	for (uint64_t generation = 1; generation <= 5; generation++) {
		swap_out(store, "g", NUMEL, generation);
		assert_stored(store, "g", generation, generation);
	}
	close_store(store);
	store = open_store();
	assert_stored(store, "g", 5, 5);
	volume_path("g", 1, path);
	assert_int_equal(file_size(path), 4096 + 2 * 4096 + 2 * (4096 + 2 * 12288));
	volume_path("g", 2, path);
	assert_int_equal(access(path, F_OK), -1);
	close_store(store);
}

static void a_group_that_changes_gets_another_volume(void **state)
{
	struct swapio_store *store = open_store();
	char paths[2][STORE_PATH_BYTES + 64];

	(void)state;
	volume_path("g", 1, paths[0]);
	volume_path("g", 2, paths[1]);
	swap_out(store, "g", NUMEL, 1);
	swap_out(store, "g", 10 * NUMEL, 2);
	assert_stored(store, "g", 2, 2);
	assert_int_equal(access(paths[0], F_OK), -1);
	assert_int_equal(access(paths[1], F_OK), 0);
	/* Fewer bytes, but other tensors in their place. */
	swap_out(store, "g", NUMEL, 3);
	assert_stored(store, "g", 3, 3);
	assert_int_equal(access(paths[1], F_OK), -1);
	close_store(store);
}

static void a_manifest_that_is_torn_is_no_generation(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];
	unsigned char torn[4096];

	(void)state;
	volume_path("g", 1, path);
	swap_out(store, "g", NUMEL, 1);
	/* What a crash within the write of generation 2 leaves in slot 1. */
	memset(torn, 0, sizeof(torn));
	memcpy(torn, MANIFEST_MAGIC, 8);
	overwrite(path, 2 * 4096, torn, sizeof(torn));
	assert_stored(store, "g", 1, 1);
	swap_out(store, "g", NUMEL, 2);
	assert_stored(store, "g", 2, 2);
	close_store(store);
}

static void every_byte_of_the_newest_manifest_counts(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];
	struct manifest *manifest;
	uint64_t exact;

	(void)state;
	volume_path("g", 1, path);
	swap_out(store, "g", NUMEL, 1);
	swap_out(store, "g", NUMEL, 2);
	manifest = states_of(store, "g", NUMEL);
	exact = 64 + 8 + 4 * 40 + 8 * (1 + 1 + 1 + 2) + 8 * (1 + 3 + 0 + 3) + 8;
	swapioi_manifest_destroy(manifest);
	/* Generation 2 is in slot 1, and generation 1 with its data is still in place 0. */
	for (uint64_t at = 0; at < exact; at += 5) {
		int ret;

		flip_byte(path, 2 * 4096 + at, 0x10);
		ret = find_error(store, "g");
		if (ret != -EBADMSG)
			fail_msg("byte %" PRIu64 ": %d", at, ret);
		assert_says("generation 2 was committed, and its manifest is gone or damaged");
		flip_byte(path, 2 * 4096 + at, 0x10);
	}
	assert_stored(store, "g", 2, 2);
	close_store(store);
}

static void without_its_manifest_the_newest_generation_is_missed(void **state)
{
	static const unsigned char zeros[4096];
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];

	(void)state;
	volume_path("g", 1, path);
	swap_out(store, "g", NUMEL, 1);
	overwrite(path, 4096, zeros, sizeof(zeros));
	assert_int_equal(find_error(store, "g"), -EBADMSG);
	assert_says("generation 1 was committed");
	/* Both slots lost: there is no first commit that would leave that. */
	flip_byte(path, 2 * 4096 + 3, 1);
	flip_byte(path, 4096 + 3, 1);
	assert_int_equal(find_error(store, "g"), -EBADMSG);
	assert_int_equal(try_swap_out(store, "g", NUMEL, 2).error, -EBADMSG);
	close_store(store);
}

static void a_lost_write_of_a_manifest_is_noticed(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];
	unsigned char seal[4096];
	int fd;

	(void)state;
	volume_path("g", 1, path);
	swap_out(store, "g", NUMEL, 1);
	swap_out(store, "g", NUMEL, 2);
	/* Generation 3 goes to slot 0: what was there before is the seal of generation 2. */
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, seal, sizeof(seal), 4096), sizeof(seal));
	close(fd);
	swap_out(store, "g", NUMEL, 3);
	overwrite(path, 4096, seal, sizeof(seal));
	assert_int_equal(find_error(store, "g"), -EBADMSG);
	assert_says("generation 3 was committed");
	close_store(store);
}

static void a_volume_from_another_store_is_refused(void **state)
{
	char path[STORE_PATH_BYTES + 64], kept[STORE_PATH_BYTES + 64];
	struct swapio_store *store = open_store();

	(void)state;
	volume_path("g", 1, path);
	snprintf(kept, sizeof(kept), "%s/kept", scratch_dir);
	swap_out(store, "g", NUMEL, 1);
	close_store(store);
	copy_file(path, kept);
	empty_store_path();
	store = open_store();
	copy_file(kept, path);
	close_store(store);
	store = open_store();
	assert_int_equal(find_error(store, "g"), -EXDEV);
	assert_says("it belongs to another store");
	assert_int_equal(try_swap_out(store, "g", NUMEL, 1).error, -EXDEV);
	close_store(store);
	unlink(kept);
}

static void a_manifest_from_another_store_is_refused(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];
	unsigned char *bytes;
	struct manifest *manifest;
	struct volume volume;

	(void)state;
	volume_path("g", 1, path);
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(swapioi_volume_find(store, "g", &volume, &manifest, &error), 0);
	swapioi_volume_close(&volume);
	manifest->store_id[0] ^= 1;
	bytes = encode(manifest);
	overwrite(path, 4096, bytes, 4096);
	assert_int_equal(find_error(store, "g"), -EXDEV);
	assert_says("its manifest belongs to another store");
	free(bytes);
	swapioi_manifest_destroy(manifest);
	close_store(store);
}

static void a_volume_under_another_name_is_refused(void **state)
{
	char from[STORE_PATH_BYTES + 64], to[STORE_PATH_BYTES + 64];
	struct swapio_store *store = open_store();

	(void)state;
	volume_path("g", 1, from);
	volume_path("h", 1, to);
	swap_out(store, "g", NUMEL, 1);
	copy_file(from, to);
	close_store(store);
	store = open_store();
	assert_int_equal(find_error(store, "h"), -EBADMSG);
	assert_says("another volume, under a wrong name");
	assert_stored(store, "g", 1, 1);
	unlink(to);
	volume_path("g", 2, to);
	copy_file(from, to);
	close_store(store);
	store = open_store();
	assert_int_equal(find_error(store, "g"), -EBADMSG);
	close_store(store);
}

static void damage_to_a_head_is_refused(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];

	(void)state;
	volume_path("g", 1, path);
	swap_out(store, "g", NUMEL, 1);
	for (uint64_t at = 0; at < 4096; at += at < 80 || at > 4080 ? 3 : 500) {
		flip_byte(path, at, 1);
		assert_int_equal(find_error(store, "g"), -EBADMSG);
		flip_byte(path, at, 1);
	}
	assert_stored(store, "g", 1, 1);
	close_store(store);
}

static void an_unknown_version_is_told(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];
	unsigned char unit[4096];
	int fd;

	(void)state;
	volume_path("g", 1, path);
	swap_out(store, "g", NUMEL, 1);
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, unit, sizeof(unit), 4096), sizeof(unit));
	put_u32(unit + 8, 2);
	sum_again(unit, sizeof(unit));
	overwrite(path, 4096, unit, sizeof(unit));
	assert_int_equal(find_error(store, "g"), -ENOTSUP);
	assert_says("version 2, known here: 1");
	assert_int_equal(pread(fd, unit, sizeof(unit), 0), sizeof(unit));
	put_u32(unit + 8, 3);
	put_u64(unit + 4088, swapioi_record_sum(unit, 4088));
	overwrite(path, 0, unit, sizeof(unit));
	assert_int_equal(find_error(store, "g"), -ENOTSUP);
	assert_says("version 3");
	close(fd);
	close_store(store);
}

static void a_volume_that_ends_early_is_refused_or_replaced(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];

	(void)state;
	volume_path("g", 1, path);
	swap_out(store, "g", NUMEL, 1);
	/* The second place is gone: generation 1 is whole, and generation 2 needs room. */
	assert_int_equal(truncate(path, 3 * 4096 + 4096 + 2 * 12288), 0);
	assert_stored(store, "g", 1, 1);
	swap_out(store, "g", NUMEL, 2);
	assert_stored(store, "g", 2, 2);
	volume_path("g", 2, path);
	assert_int_equal(truncate(path, 2 * 4096), 0);
	assert_int_equal(find_error(store, "g"), -EBADMSG);
	assert_says("it ends within its manifests");
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(find_error(store, "g"), -EBADMSG);
	assert_says("it ends within its head");
	close_store(store);
}

static void what_a_crash_left_is_removed(void **state)
{
	char path[STORE_PATH_BYTES + 64], left[STORE_PATH_BYTES + 80];
	struct swapio_store *store = open_store();
	unsigned char torn[4096];

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	close_store(store);
	/* A volume that never got its name, and one that never got its first manifest whole. */
	volume_path("g", 1, path);
	snprintf(left, sizeof(left), "%s.new", path);
	copy_file(path, left);
	store = open_store();
	assert_int_equal(access(left, F_OK), -1);
	swap_out(store, "h", NUMEL, 1);
	volume_path("h", 1, path);
	memset(torn, 0, sizeof(torn));
	overwrite(path, 2 * 4096, torn, sizeof(torn));
	memset(torn, 9, 512);
	overwrite(path, 4096, torn, sizeof(torn));
	assert_int_equal(find_error(store, "h"), -ENOENT);
	assert_int_equal(access(path, F_OK), -1);
	assert_stored(store, "g", 1, 1);
	close_store(store);
}

static void a_volume_that_was_replaced_comes_back_to_no_avail(void **state)
{
	char old[STORE_PATH_BYTES + 64], kept[STORE_PATH_BYTES + 64];
	struct swapio_store *store = open_store();

	(void)state;
	volume_path("g", 1, old);
	snprintf(kept, sizeof(kept), "%s/kept", scratch_dir);
	swap_out(store, "g", NUMEL, 1);
	copy_file(old, kept);
	swap_out(store, "g", 2 * NUMEL, 2);
	close_store(store);
	copy_file(kept, old);
	store = open_store();
	assert_stored(store, "g", 2, 2);
	swap_out(store, "g", 2 * NUMEL, 3);
	assert_int_equal(access(old, F_OK), -1);
	/* Damage to what replaced it does not bring it back either. */
	close_store(store);
	copy_file(kept, old);
	volume_path("g", 2, kept);
	flip_byte(kept, 100, 1);
	store = open_store();
	assert_int_equal(find_error(store, "g"), -EBADMSG);
	close_store(store);
	snprintf(kept, sizeof(kept), "%s/kept", scratch_dir);
	unlink(kept);
}

static void names_of_1023_bytes_are_stored(void **state)
{
	struct swapio_store *store = open_store();
	char name[1024], other[1024];

	(void)state;
	memset(name, 'x', 1023);
	name[1023] = 0;
	memcpy(other, name, sizeof(other));
	other[1022] = 'y';
	swap_out(store, name, NUMEL, 1);
	swap_out(store, other, NUMEL, 2);
	assert_stored(store, name, 1, 1);
	assert_stored(store, other, 1, 2);
	close_store(store);
}

/* Two names with one sum are not at hand, so a volume of another group is given the sum. */
static void groups_whose_names_have_one_sum_are_told_apart(void **state)
{
	char from[STORE_PATH_BYTES + 64];
	struct swapio_store *store = open_store();
	struct volume_head head = {.number = 1, .slot_bytes = 4096, .place_bytes = 0};
	unsigned char unit[4096];

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	volume_path("g", 1, from);
	memcpy(head.store_id, store->id, sizeof(head.store_id));
	snprintf(head.group, sizeof(head.group), "other");
	head.group_sum = swapioi_record_sum("g", 1);
	swapioi_volume_head_encode(&head, unit);
	overwrite(from, 0, unit, sizeof(unit));
	/* The head says another name than the sum: nobody can have written that. */
	assert_int_equal(find_error(store, "g"), -EBADMSG);
	assert_says("does not fit its sum");
	close_store(store);
}

static void a_commit_that_waits_is_taken_up_again(void **state)
{
	struct swapio_options handle_options;
	struct swapio_store *store;
	struct volume volume = {.fd = -1}, prepared;
	struct manifest *next;
	enum swapio_swap_cause cause;
	int ret;

	(void)state;
	close_handle(test_handle);
	swapio_options_init(&handle_options);
	handle_options.workers = 0;
	script_reset();
	test_handle = script_open(&handle_options);
	store = open_store();
	next = states_of(store, "g", NUMEL);
	memcpy(next->store_id, store->id, sizeof(next->store_id));
	next->generation = 1;
	assert_int_equal(
		swapioi_volume_prepare(store, NULL, next, false, &volume, &prepared, &error), 0);
	for (unsigned i = 0; i < next->count; i++)
		write_tensor(&prepared, next, i, 1);
	script_anew();
	script.steps[0].kind = STEP_HOLD;
	for (unsigned look = 0; look < 3; look++)
		assert_int_equal(swapioi_volume_commit(&prepared, next, NULL, 0, &cause, &error),
				 COMMIT_PENDING);
	script_release();
	do
		ret = swapioi_volume_commit(&prepared, next, NULL, 0, &cause, &error);
	while (ret == COMMIT_PENDING);
	assert_int_equal(ret, 0);
	swapioi_volume_close(&prepared);
	swapioi_manifest_destroy(next);
	assert_stored(store, "g", 1, 1);
	close_store(store);
}

static void what_is_prepared_and_abandoned_leaves_nothing(void **state)
{
	struct swapio_store *store = open_store();
	struct volume volume = {.fd = -1}, prepared;
	struct manifest *next = states_of(store, "g", NUMEL);
	char path[STORE_PATH_BYTES + 80];

	(void)state;
	next->generation = 1;
	assert_int_equal(
		swapioi_volume_prepare(store, NULL, next, false, &volume, &prepared, &error), 0);
	new_volume_path("g", 1, path);
	assert_int_equal(access(path, F_OK), 0);
	assert_true(swapioi_volume_abandon(&prepared, NULL));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(store->medium.index.count, 0);
	swapioi_manifest_destroy(next);
	close_store(store);
}

static void a_part_cannot_go_to_another_volume(void **state)
{
	struct swapio_store *store = open_store();
	struct volume volume, prepared;
	struct manifest *stored, *next;

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(swapioi_volume_find(store, "g", &volume, &stored, &error), 0);
	assert_int_equal(swapioi_manifest_dup(stored, &next), 0);
	next->generation = 2;
	assert_int_equal(
		swapioi_volume_prepare(store, stored, next, true, &volume, &prepared, &error), 0);
	assert_true(swapioi_volume_abandon(&prepared, NULL));
	volume.doubtful = true;
	assert_int_equal(swapioi_volume_prepare(store, stored, next, true, &volume, &prepared,
						&error),
			 -EIO);
	assert_says("a commit failed in it and could not be taken back; swap the whole group out");
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(stored);
	swapioi_manifest_destroy(next);
	close_store(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(generations_alternate_in_one_volume),
		STORE_TEST(a_group_that_changes_gets_another_volume),
		STORE_TEST(a_manifest_that_is_torn_is_no_generation),
		STORE_TEST(every_byte_of_the_newest_manifest_counts),
		STORE_TEST(without_its_manifest_the_newest_generation_is_missed),
		STORE_TEST(a_lost_write_of_a_manifest_is_noticed),
		STORE_TEST(a_volume_from_another_store_is_refused),
		STORE_TEST(a_manifest_from_another_store_is_refused),
		STORE_TEST(a_volume_under_another_name_is_refused),
		STORE_TEST(damage_to_a_head_is_refused),
		STORE_TEST(an_unknown_version_is_told),
		STORE_TEST(a_volume_that_ends_early_is_refused_or_replaced),
		STORE_TEST(what_a_crash_left_is_removed),
		STORE_TEST(a_volume_that_was_replaced_comes_back_to_no_avail),
		STORE_TEST(names_of_1023_bytes_are_stored),
		STORE_TEST(groups_whose_names_have_one_sum_are_told_apart),
		STORE_TEST(a_commit_that_waits_is_taken_up_again),
		STORE_TEST(what_is_prepared_and_abandoned_leaves_nothing),
		STORE_TEST(a_part_cannot_go_to_another_volume),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
