/* SPDX-License-Identifier: MIT */
/*
 * test_store_verify.c - listing, verifying and removing groups, whole and damaged ones.
 */
#include <stdatomic.h>

#include "store_helpers.h"

#define NUMEL 5000 /* 20000 bytes: five chunks */
#define SEEN_MAX 64

struct seen_group {
	char name[80];
	struct swapio_group_info info;
};

struct seen_damage {
	char group[STORE_PATH_BYTES]; /* or the path of the store */
	char tensor[80], text[SWAPIO_ERROR_TEXT_BYTES];
	bool has_tensor;
	uint64_t offset, length;
	int error;
};

static struct seen_group groups[SEEN_MAX];
static struct seen_damage damages[SEEN_MAX];
static unsigned groups_count, damages_count, end_after;

static int see_group(const struct swapio_group_info *info, void *arg)
{
	struct seen_group *seen = &groups[groups_count++];

	assert_ptr_equal(arg, groups);
	assert_int_equal(info->size_bytes, sizeof(*info));
	snprintf(seen->name, sizeof(seen->name), "%s", info->name);
	seen->info = *info;
	return groups_count == end_after ? 42 : 0;
}

static int see_damage(const struct swapio_damage *damage, void *arg)
{
	struct seen_damage *seen = &damages[damages_count++];

	assert_ptr_equal(arg, damages);
	assert_int_equal(damage->size_bytes, sizeof(*damage));
	snprintf(seen->group, sizeof(seen->group), "%s", damage->group);
	seen->has_tensor = damage->tensor;
	snprintf(seen->tensor, sizeof(seen->tensor), "%s", damage->tensor ? damage->tensor : "");
	snprintf(seen->text, sizeof(seen->text), "%s", damage->text);
	seen->offset = damage->offset_bytes;
	seen->length = damage->length_bytes;
	seen->error = damage->error;
	return damages_count == end_after ? 42 : 0;
}

static int list(struct swapio_store *store)
{
	groups_count = 0;
	return swapio_store_list(store, see_group, groups, &error);
}

static int verify(struct swapio_store *store, const char *group)
{
	damages_count = 0;
	return swapio_store_verify(store, group, see_damage, damages, &error);
}

static void assert_damage(unsigned index, const char *tensor, uint64_t offset, uint64_t length,
			  int code)
{
	const struct seen_damage *seen = &damages[index];

	assert_true(index < damages_count);
	assert_string_equal(seen->tensor, tensor);
	assert_int_equal(seen->offset, offset);
	assert_int_equal(seen->length, length);
	assert_int_equal(seen->error, code);
}

static int verify_set_up(void **state)
{
	end_after = 0;
	return store_set_up(state);
}

/* In place 0 of a first generation: step at 0, exp_avg at 4096, exp_avg_sq at 24576. */
#define PLACE_AT (3 * 4096)

static void groups_are_listed_in_the_order_of_names(void **state)
{
	struct swapio_store *store = open_store();

	(void)state;
	assert_int_equal(list(store), 0);
	assert_int_equal(groups_count, 0);
	swap_out(store, "layer.10", NUMEL, 1);
	swap_out(store, "layer.1", NUMEL, 2);
	swap_out(store, "layer.1", NUMEL, 3);
	swap_out(store, "alpha", 1, 4);
	assert_int_equal(list(store), 0);
	assert_int_equal(groups_count, 3);
	assert_string_equal(groups[0].name, "alpha");
	assert_string_equal(groups[1].name, "layer.1");
	assert_string_equal(groups[2].name, "layer.10");
	assert_int_equal(groups[1].info.generation, 2);
	assert_int_equal(groups[1].info.tensors, 4);
	assert_int_equal(groups[1].info.bytes, 4 + 2 * 4 * NUMEL);
	assert_int_equal(groups[1].info.volume_bytes, 3 * 4096 + 2 * (4096 + 2 * 20480));
	assert_int_equal(groups[1].info.checksum, SWAPIO_CHECKSUM_XXH64);
	assert_int_equal(groups[1].info.damage, 0);
	end_after = 2;
	assert_int_equal(list(store), 42);
	assert_int_equal(groups_count, 2);
	close_store(store);
}

static void damaged_groups_are_listed_too(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	swap_out(store, "h", NUMEL, 1);
	volume_path("h", 1, path);
	flip_byte(path, 4096 + 70, 1);
	volume_path("g", 1, path);
	flip_byte(path, 20, 1);
	assert_int_equal(list(store), 0);
	assert_int_equal(groups_count, 2);
	assert_non_null(strstr(groups[0].name, "-1.vol"));
	assert_int_equal(groups[0].info.damage, -EBADMSG);
	assert_string_equal(groups[1].name, "h");
	assert_int_equal(groups[1].info.damage, -EBADMSG);
	assert_int_equal(groups[1].info.generation, 0);
	assert_int_equal(verify(store, NULL), -EBADMSG);
	assert_int_equal(damages_count, 2);
	assert_string_equal(damages[1].group, "h");
	assert_false(damages[1].has_tensor);
	assert_non_null(strstr(damages[0].text, "the head of the volume"));
	/* And can be removed by the names they were given. */
	assert_int_equal(swapio_store_remove(store, groups[0].name, &error), 0);
	assert_int_equal(swapio_store_remove(store, "h", &error), 0);
	assert_int_equal(list(store), 0);
	assert_int_equal(groups_count, 0);
	close_store(store);
}

static void what_is_whole_is_verified(void **state)
{
	struct swapio_store *store = open_store();

	(void)state;
	assert_int_equal(verify(store, NULL), 0);
	swap_out(store, "g", NUMEL, 1);
	swap_out(store, "h", 100 * NUMEL, 1);
	swap_out(store, "h", 100 * NUMEL, 2);
	assert_int_equal(verify(store, NULL), 0);
	assert_int_equal(verify(store, "h"), 0);
	assert_int_equal(damages_count, 0);
	assert_int_equal(verify(store, "i"), -ENOENT);
	assert_says("group i: nothing is stored");
	close_store(store);
}

static void damage_is_told_range_by_range(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	volume_path("g", 1, path);
	flip_byte(path, PLACE_AT + 3, 1);		      /* step */
	flip_byte(path, PLACE_AT + 4096 + 4095, 0x80);	      /* exp_avg, chunk 0 */
	flip_byte(path, PLACE_AT + 4096 + 4096, 1);	      /* and chunk 1, its neighbour */
	flip_byte(path, PLACE_AT + 4096 + 3 * 4096 + 9, 1);   /* chunk 3 */
	flip_byte(path, PLACE_AT + 24576 + 4 * 4096 + 50, 1); /* exp_avg_sq, the short last one */
	flip_byte(path, PLACE_AT + 4, 1);		      /* padding: nothing that was stored */
	assert_int_equal(verify(store, "g"), -EBADMSG);
	assert_int_equal(damages_count, 4);
	assert_damage(0, "step", 0, 4, -EBADMSG);
	assert_damage(1, "exp_avg", 0, 8192, -EBADMSG);
	assert_damage(2, "exp_avg", 12288, 4096, -EBADMSG);
	assert_damage(3, "exp_avg_sq", 16384, 20000 - 16384, -EBADMSG);
	assert_string_equal(damages[1].text,
			    "group g, tensor exp_avg, 8192 bytes at 0: the checksum differs from "
			    "what was stored");
	end_after = 2;
	assert_int_equal(verify(store, NULL), 42);
	assert_int_equal(damages_count, 2);
	close_store(store);
}

static void a_file_that_ends_early_is_told(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	volume_path("g", 1, path);
	/* All but the last byte of padding of place 0 is there: nothing is missing. */
	assert_int_equal(truncate(path, PLACE_AT + 24576 + 20480 - 1), 0);
	assert_int_equal(verify(store, NULL), 0);
	assert_int_equal(truncate(path, PLACE_AT + 4096 + 2 * 4096 + 7), 0);
	assert_int_equal(verify(store, NULL), -EBADMSG);
	assert_int_equal(damages_count, 2);
	assert_damage(0, "exp_avg", 8192, 20000 - 8192, -ENODATA);
	assert_damage(1, "exp_avg_sq", 0, 20000, -ENODATA);
	assert_non_null(strstr(damages[0].text, "the file ends before"));
	close_store(store);
}

static void without_checksums_manifests_and_ends_are_checked(void **state)
{
	struct swapio_store_options options = small_options();
	struct swapio_store *store;
	char path[STORE_PATH_BYTES + 64];

	(void)state;
	options.checksum = SWAPIO_CHECKSUM_NONE;
	store = open_store_with(&options, &swapioi_medium_dir);
	swap_out(store, "g", NUMEL, 1);
	volume_path("g", 1, path);
	flip_byte(path, PLACE_AT, 1);
	assert_int_equal(verify(store, NULL), 0);
	assert_int_equal(truncate(path, PLACE_AT + 4096), 0);
	assert_int_equal(verify(store, NULL), -EBADMSG);
	assert_int_equal(damages_count, 2);
	assert_damage(0, "exp_avg", 0, 20000, -ENODATA);
	flip_byte(path, 4096 + 66, 1);
	assert_int_equal(verify(store, NULL), -EBADMSG);
	assert_int_equal(damages_count, 1);
	assert_false(damages[0].has_tensor);
	close_store(store);
}

/* Chunks that are no multiple of what is read at once, and larger than it. */
static void chunks_of_any_size_are_summed(void **state)
{
	static const size_t sizes[] = {4096, (1 << 20) + 4096, 3 << 20};
	struct swapio_store_options options = small_options();
	struct swapio_store *store;
	char path[STORE_PATH_BYTES + 64], name[8];
	uint64_t last;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		options.chunk_bytes = sizes[i];
		store = open_store_with(&options, &swapioi_medium_dir);
		snprintf(name, sizeof(name), "g%u", i);
		swap_out(store, name, 1 << 20, 1);
		assert_int_equal(verify(store, name), 0);
		volume_path(name, 1, path);
		last = file_size(path) - STORE_UNIT - 1; /* of place 1: not what is stored */
		flip_byte(path, last, 1);
		assert_int_equal(verify(store, name), 0);
		swap_out(store, name, 1 << 20, 2);
		flip_byte(path, last, 1);
		assert_int_equal(verify(store, name), -EBADMSG);
		assert_int_equal(damages_count, 1);
		assert_damage(0, "exp_avg_sq", ((4 << 20) - 1) / sizes[i] * sizes[i],
			      (4 << 20) - ((4 << 20) - 1) / sizes[i] * sizes[i], -EBADMSG);
		close_store(store);
	}
}

static void a_handle_with_few_requests_verifies_too(void **state)
{
	struct swapio_options options;
	struct swapio_store *store = open_store();

	(void)state;
	swap_out(store, "g", 100 * NUMEL, 1);
	close_store(store);
	close_handle(test_handle);
	swapio_options_init(&options);
	options.requests_max = 4;
	options.workers = 0;
	test_handle = open_handle(&options);
	store = open_store_with(&(struct swapio_store_options){.size_bytes = sizeof(options),
							       .slot_bytes = 4096,
							       .chunk_bytes = 4096,
							       .slots = 2},
				&swapioi_medium_dir);
	assert_int_equal(verify(store, NULL), 0);
	close_store(store);
}

static void a_foreign_group_is_listed_and_told(void **state)
{
	char path[STORE_PATH_BYTES + 64], kept[STORE_PATH_BYTES + 64];
	struct swapio_store *store = open_store();

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	close_store(store);
	volume_path("g", 1, path);
	snprintf(kept, sizeof(kept), "%s/kept", scratch_dir);
	copy_file(path, kept);
	empty_store_path();
	close_store(open_store());
	copy_file(kept, path);
	unlink(kept);
	store = open_store();
	assert_int_equal(list(store), 0);
	assert_int_equal(groups_count, 1);
	assert_string_equal(groups[0].name, "g");
	assert_int_equal(groups[0].info.damage, -EXDEV);
	assert_int_equal(verify(store, NULL), -EBADMSG);
	assert_int_equal(damages[0].error, -EXDEV);
	assert_int_equal(verify(store, "g"), -EBADMSG);
	assert_int_equal(swapio_store_remove(store, "g", &error), 0);
	assert_int_equal(access(path, F_OK), -1);
	close_store(store);
}

static void what_is_removed_is_gone(void **state)
{
	struct swapio_store *store = open_store();
	struct store_name name;

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	swap_out(store, "h", NUMEL, 1);
	assert_int_equal(swapio_store_remove(store, "i", &error), -ENOENT);
	assert_says("no group i is stored");
	assert_true(swapioi_store_name_take(store, &name, "g"));
	assert_int_equal(swapio_store_remove(store, "g", &error), -EBUSY);
	assert_says("group g is open");
	swapioi_store_name_give(store, &name);
	assert_int_equal(swapio_store_remove(store, "g", &error), 0);
	assert_int_equal(find_error(store, "g"), -ENOENT);
	assert_int_equal(swapio_store_remove(store, "g", &error), -ENOENT);
	close_store(store);
	store = open_store();
	assert_int_equal(find_error(store, "g"), -ENOENT);
	assert_stored(store, "h", 1, 1);
	swap_out(store, "g", NUMEL, 5);
	assert_stored(store, "g", 1, 5);
	close_store(store);
}

/* It is open, but who opens it next has to find it. */
static void the_record_of_an_open_store_is_verified(void **state)
{
	struct swapio_store *store = open_store(), *other;
	char record[STORE_PATH_BYTES + 64], kept[STORE_PATH_BYTES + 64];

	(void)state;
	snprintf(record, sizeof(record), "%s/swapio.store", store_path);
	snprintf(kept, sizeof(kept), "%s/kept", scratch_dir);
	swap_out(store, "g", NUMEL, 1);
	flip_byte(record, 20, 1);
	assert_int_equal(verify(store, NULL), -EBADMSG);
	assert_int_equal(damages_count, 1);
	assert_false(damages[0].has_tensor);
	assert_int_equal(damages[0].error, -EBADMSG);
	assert_string_equal(damages[0].group, store_path);
	assert_non_null(strstr(damages[0].text, "swapio.store"));
	assert_int_equal(verify(store, "g"), 0);
	flip_byte(record, 20, 1);
	assert_int_equal(verify(store, NULL), 0);
	assert_int_equal(rename(record, kept), 0);
	assert_int_equal(verify(store, NULL), -EBADMSG);
	assert_non_null(strstr(damages[0].text, "swapio.store is gone"));
	end_after = 1;
	assert_int_equal(verify(store, NULL), 42);
	end_after = 0;
	close_store(store);
	empty_store_path();
	other = open_store();
	close_store(other);
	other = open_store();
	assert_int_equal(verify(other, NULL), 0);
	copy_file(kept, record);
	assert_int_equal(verify(other, NULL), -EBADMSG);
	assert_int_equal(damages[0].error, -EXDEV);
	close_store(other);
	unlink(kept);
}

/* The next swap-out removes it; before that it is evidence. */
static void what_a_crash_left_stays_for_who_only_looks(void **state)
{
	struct swapio_store *store = open_store();
	char path[STORE_PATH_BYTES + 64];
	unsigned char torn[4096] = {0};

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	volume_path("g", 1, path);
	overwrite(path, 2 * 4096, torn, sizeof(torn));
	memset(torn, 9, 512);
	overwrite(path, 4096, torn, sizeof(torn));
	assert_int_equal(list(store), 0);
	assert_int_equal(groups_count, 0);
	assert_int_equal(verify(store, NULL), 0);
	assert_int_equal(verify(store, "g"), -ENOENT);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(find_error(store, "g"), -ENOENT);
	assert_int_equal(access(path, F_OK), -1);
	close_store(store);
}

struct race {
	struct swapio_store *store;
	_Atomic bool stop;
};

static void *swap_out_again_and_again(void *arg)
{
	struct race *race = arg;
	struct volume volume;
	struct manifest *stored = NULL;
	struct swapio_error why;

	assert_int_equal(swapioi_volume_find(race->store, "g", &volume, &stored, &why), 0);
	while (!atomic_load(&race->stop))
		assert_int_equal(swap_out_into(race->store, &volume, &stored,
					       states_of(race->store, "g", NUMEL), 7)
					 .error,
				 0);
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(stored);
	return NULL;
}

/* What changes under the reader is no damage. */
static void a_group_that_is_swapped_out_meanwhile_is_not_damaged(void **state)
{
	struct swapio_store_options options = small_options();
	struct race race = {.stop = false};
	pthread_t thread;

	(void)state;
	options.durable = false; /* faster */
	race.store = open_store_with(&options, &swapioi_medium_dir);
	swap_out(race.store, "g", NUMEL, 7);
	assert_int_equal(pthread_create(&thread, NULL, swap_out_again_and_again, &race), 0);
	for (unsigned i = 0; i < 200; i++) {
		int ret;

		assert_int_equal(list(race.store), 0);
		assert_int_equal(groups_count, 1);
		assert_int_equal(groups[0].info.damage, 0);
		damages_count = 0;
		ret = swapio_store_verify(race.store, NULL, see_damage, damages, NULL);
		if (ret != 0 && ret != -EAGAIN)
			fail_msg("%u: %d %s", i, ret, damages[0].text);
	}
	atomic_store(&race.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close_store(race.store);
}

#define VERIFY_TEST(name) cmocka_unit_test_setup_teardown(name, verify_set_up, store_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VERIFY_TEST(groups_are_listed_in_the_order_of_names),
		VERIFY_TEST(damaged_groups_are_listed_too),
		VERIFY_TEST(what_is_whole_is_verified),
		VERIFY_TEST(damage_is_told_range_by_range),
		VERIFY_TEST(a_file_that_ends_early_is_told),
		VERIFY_TEST(without_checksums_manifests_and_ends_are_checked),
		VERIFY_TEST(chunks_of_any_size_are_summed),
		VERIFY_TEST(a_handle_with_few_requests_verifies_too),
		VERIFY_TEST(a_foreign_group_is_listed_and_told),
		VERIFY_TEST(what_is_removed_is_gone),
		VERIFY_TEST(the_record_of_an_open_store_is_verified),
		VERIFY_TEST(what_a_crash_left_stays_for_who_only_looks),
		VERIFY_TEST(a_group_that_is_swapped_out_meanwhile_is_not_damaged),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
