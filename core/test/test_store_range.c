/* SPDX-License-Identifier: MIT */
/*
 * test_store_range.c - stores in ranges of a device: on a file that stands for one, and on a loop
 * device where one can be had.
 */
/* link: -Wl,--wrap=fdatasync */
#include <linux/loop.h>
#include <sys/ioctl.h>

#include "catalog.h"
#include "script_engine.h"
#include "store_helpers.h"

#define NUMEL 3000
#define DEVICE_BYTES (4u << 20)
#define RANGE_AT (1u << 20)
#define RANGE_BYTES (3u << 20)

static int range_set_up(void **state)
{
	int fd;

	store_set_up(state);
	fd = open(store_path, O_RDWR | O_CREAT, 0644);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, DEVICE_BYTES), 0);
	close(fd);
	return 0;
}

static struct swapio_store_options range_options(void)
{
	struct swapio_store_options options = small_options();

	options.range_offset_bytes = RANGE_AT;
	return options;
}

static struct swapio_store *open_range(void)
{
	struct swapio_store_options options = range_options();

	return open_store_with(&options, &swapioi_medium_range);
}

static int try_range(const struct swapio_store_options *options)
{
	struct swapio_store *store = NULL;
	int ret;

	memset(&error, 0, sizeof(error));
	ret = swapioi_store_open_with(test_handle, store_path, options, &swapioi_medium_range,
				      &error, &store);
	if (store)
		close_store(store);
	return ret;
}

static void generations_and_groups_are_kept(void **state)
{
	struct swapio_store_info info = {.size_bytes = sizeof(info)};
	struct swapio_store *store = open_range();
	uint64_t free_bytes;

	(void)state;
	assert_int_equal(swapio_store_info_get(store, &info), 0);
	assert_true(info.block_device);
	free_bytes = info.free_bytes;
	assert_int_equal(free_bytes, RANGE_BYTES - VOLUMES_AT);
	for (uint64_t generation = 1; generation <= 3; generation++) {
		swap_out(store, "g", NUMEL, generation);
		swap_out(store, "h", generation * NUMEL, 10 + generation);
	}
	close_store(store);
	store = open_range();
	assert_stored(store, "g", 3, 3);
	assert_stored(store, "h", 3, 13);
	assert_int_equal(store->medium.index.count, 2);
	assert_int_equal(swapio_store_remove(store, "g", &error), 0);
	assert_int_equal(swapio_store_remove(store, "h", &error), 0);
	assert_int_equal(find_error(store, "g"), -ENOENT);
	assert_int_equal(swapio_store_info_get(store, &info), 0);
	assert_int_equal(info.free_bytes, free_bytes);
	close_store(store);
	store = open_range();
	assert_int_equal(store->medium.index.count, 0);
	close_store(store);
}

static unsigned syncs;

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);

int __wrap_fdatasync(int fd)
{
	syncs++;
	return __real_fdatasync(fd);
}

static bool slot_is_empty(const struct volume *volume, unsigned index)
{
	unsigned char slot[4096];
	int fd = open(store_path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(volume->slot_bytes, sizeof(slot));
	assert_int_equal(pread(fd, slot, sizeof(slot), (off_t)volume_slot_offset(volume, index)),
			 sizeof(slot));
	close(fd);
	return all_zeros(slot, sizeof(slot));
}

/* Transfers of a commit into a new volume, in this order. */
enum { WRITE_HEAD, WRITE_CATALOG };

/* A commit of @next into a new volume that ends where it would become findable. */
static void commit_up_to_the_catalog(struct swapio_store *store, struct manifest *next,
				     struct volume *prepared)
{
	struct volume none = {.fd = -1};
	enum swapio_swap_cause cause;

	memcpy(next->store_id, store->id, sizeof(next->store_id));
	next->generation = 1;
	assert_int_equal(swapioi_volume_prepare(store, NULL, next, false, &none, prepared, &error),
			 0);
	script_anew();
	script.steps[WRITE_CATALOG] = (struct step){STEP_RESULT, -EIO};
	syncs = 0;
	assert_int_equal(swapioi_volume_commit(prepared, next, NULL, INT64_MAX, &cause, &error),
			 -EIO);
	assert_says("write the catalog");
	assert_int_equal(script.accepted, WRITE_CATALOG + 1);
	assert_int_equal(cause, SWAPIO_SWAP_SYNC);
	script_anew();
}

static struct volume find_volume(struct swapio_store *store, const char *group)
{
	struct volume volume;
	struct manifest *manifest;

	if (swapioi_volume_find(store, group, &volume, &manifest, &error) < 0)
		fail_msg("find %s: %s", group, error.text);
	swapioi_manifest_destroy(manifest);
	return volume;
}

/*
 * Whatever lay in a room before is no generation of who gets it next: its slots are empty, and that
 * is synced, before the catalog says that a volume is there.
 */
static void room_is_used_again_and_tells_nothing(void **state)
{
	struct swapio_options options = script_options(0);
	struct volume before, prepared;
	struct swapio_store *store;
	struct manifest *next;

	(void)state;
	close_handle(test_handle);
	script_reset();
	options.block_bytes = 1u << 20; /* one transfer for each write */
	test_handle = script_open(&options);
	store = open_range();
	swap_out(store, "g", NUMEL, 1);
	swap_out(store, "g", NUMEL, 2);
	before = find_volume(store, "g");
	assert_false(slot_is_empty(&before, 0) || slot_is_empty(&before, 1));
	swapioi_volume_close(&before);
	assert_int_equal(swapio_store_remove(store, "g", &error), 0);
	next = states_of(store, "g", NUMEL);
	commit_up_to_the_catalog(store, next, &prepared);
	assert_int_equal(prepared.entry.base, before.entry.base);
	assert_false(prepared.entry.published);
	assert_true(slot_is_empty(&prepared, 0) && slot_is_empty(&prepared, 1));
	assert_int_equal(syncs, 1);
	assert_true(swapioi_volume_abandon(&prepared, NULL));
	swapioi_manifest_destroy(next);
	swap_out(store, "g", NUMEL, 3);
	assert_stored(store, "g", 1, 3);
	close_store(store);
}

static void a_full_range_is_told(void **state)
{
	struct swapio_store *store = open_range();

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(try_swap_out(store, "g", 200000, 2).error, -ENOSPC);
	assert_says("no room for a volume of");
	assert_says("the largest gap has");
	assert_stored(store, "g", 1, 1);
	swap_out(store, "g", NUMEL, 2);
	assert_stored(store, "g", 2, 2);
	close_store(store);
}

static void gaps_between_volumes_are_filled(void **state)
{
	struct swapio_store *store = open_range();
	char name[16];
	unsigned made = 0;

	(void)state;
	for (;; made++) {
		snprintf(name, sizeof(name), "g%u", made);
		if (try_swap_out(store, name, NUMEL, made).error < 0)
			break;
	}
	assert_true(made > 10);
	assert_int_equal(swapio_store_remove(store, "g3", &error), 0);
	swap_out(store, "last", NUMEL, 99);
	assert_int_equal(try_swap_out(store, "more", NUMEL, 1).error, -ENOSPC);
	close_store(store);
	store = open_range();
	assert_stored(store, "last", 1, 99);
	for (unsigned i = 0; i < made; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		if (i != 3)
			assert_stored(store, name, 1, i);
	}
	close_store(store);
}

static void what_is_outside_the_range_stays(void **state)
{
	static unsigned char before[RANGE_AT], after[RANGE_AT];
	struct swapio_store *store;
	int fd;

	(void)state;
	fill_random(before, sizeof(before), 5);
	overwrite(store_path, 0, before, sizeof(before));
	store = open_range();
	swap_out(store, "g", NUMEL, 1);
	close_store(store);
	fd = open(store_path, O_RDONLY);
	assert_int_equal(pread(fd, after, sizeof(after), 0), sizeof(after));
	close(fd);
	assert_memory_equal(before, after, sizeof(after));
}

static void what_is_no_range_is_refused(void **state)
{
	struct swapio_store_options options = range_options();

	(void)state;
	options.range_offset_bytes = 2 * DEVICE_BYTES;
	assert_int_equal(try_range(&options), -EINVAL);
	assert_says("range_offset_bytes 8388608");
	assert_says("it has 4194304 bytes");
	options.range_offset_bytes = DEVICE_BYTES - (1u << 20);
	assert_int_equal(try_range(&options), -EINVAL);
	options = range_options();
	options.range_length_bytes = DEVICE_BYTES;
	assert_int_equal(try_range(&options), -EINVAL);
	options = range_options();
	options.create = false;
	assert_int_equal(try_range(&options), -ENOENT);
	options.create = true;
	overwrite(store_path, RANGE_AT + 1080, "\x53\xef", 2); /* as ext4 has it */
	assert_int_equal(try_range(&options), -ENOTEMPTY);
	assert_says("are neither a store nor zeros");
}

static void the_length_stands_in_the_record(void **state)
{
	struct swapio_store_options options = range_options();

	(void)state;
	options.range_length_bytes = 2u << 20;
	assert_int_equal(try_range(&options), 0);
	options.range_length_bytes = 0;
	assert_int_equal(try_range(&options), 0);
	options.range_length_bytes = RANGE_BYTES;
	assert_int_equal(try_range(&options), -EINVAL);
	assert_says("range_length_bytes is 3145728, and the store there has 2097152");
	options.range_length_bytes = 0;
	assert_int_equal(truncate(store_path, RANGE_AT + (2u << 20) - 4096), 0);
	options.range_offset_bytes = RANGE_AT;
	assert_int_equal(try_range(&options), -EINVAL);
}

static void a_damaged_record_is_refused(void **state)
{
	struct swapio_store_options options = range_options();

	(void)state;
	assert_int_equal(try_range(&options), 0);
	for (uint64_t at = 8; at < 48; at++) {
		flip_byte(store_path, RANGE_AT + at, 1);
		assert_int_equal(try_range(&options), -EBADMSG);
		flip_byte(store_path, RANGE_AT + at, 1);
	}
	flip_byte(store_path, RANGE_AT, 1);
	assert_int_equal(try_range(&options), -ENOTEMPTY);
}

static void either_catalog_will_do(void **state)
{
	static const uint64_t places[] = {CATALOG_0_AT, CATALOG_1_AT};
	struct swapio_store_options options = range_options();
	struct swapio_store *store = open_range();

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	swap_out(store, "h", NUMEL, 2);
	close_store(store);
	for (unsigned i = 0; i < 2; i++) {
		flip_byte(store_path, RANGE_AT + places[i] + 50, 1);
		store = open_range();
		assert_stored(store, "g", 1, 1);
		assert_stored(store, "h", 1, 2);
		close_store(store);
		flip_byte(store_path, RANGE_AT + places[i] + 50, 1);
	}
	flip_byte(store_path, RANGE_AT + places[0] + 50, 1);
	flip_byte(store_path, RANGE_AT + places[1] + 50, 1);
	assert_int_equal(try_range(&options), -EBADMSG);
	assert_says("the sum of the catalog differs");
}

static int note_damage(const struct swapio_damage *damage, void *arg)
{
	assert_null(damage->tensor);
	snprintf(arg, SWAPIO_ERROR_TEXT_BYTES, "%s", damage->text);
	return 0;
}

static void record_and_catalog_of_an_open_range_are_verified(void **state)
{
	static const uint64_t places[] = {0, CATALOG_0_AT, CATALOG_1_AT};
	struct swapio_store *store = open_range();
	char text[SWAPIO_ERROR_TEXT_BYTES] = "";

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(swapio_store_verify(store, NULL, note_damage, text, &error), 0);
	flip_byte(store_path, RANGE_AT + places[0] + 20, 1);
	assert_int_equal(swapio_store_verify(store, NULL, note_damage, text, &error), -EBADMSG);
	assert_non_null(strstr(text, store_path));
	flip_byte(store_path, RANGE_AT + places[0] + 20, 1);
	/* Either catalog will do. */
	flip_byte(store_path, RANGE_AT + places[1] + 50, 1);
	assert_int_equal(swapio_store_verify(store, NULL, note_damage, text, &error), 0);
	flip_byte(store_path, RANGE_AT + places[2] + 50, 1);
	assert_int_equal(swapio_store_verify(store, NULL, note_damage, text, &error), -EBADMSG);
	assert_non_null(strstr(text, "the sum of the catalog differs"));
	close_store(store);
}

static void a_range_is_open_once_and_shared_by_readers(void **state)
{
	struct swapio_store_options options = range_options();
	struct swapio_store *store = open_range(), *other;

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(try_range(&options), -EBUSY);
	assert_int_equal(swapioi_store_destroy_with(store_path, &options, &swapioi_medium_range,
						    &error),
			 -EBUSY);
	close_store(store);
	options.read_only = true;
	store = open_store_with(&options, &swapioi_medium_range);
	other = open_store_with(&options, &swapioi_medium_range);
	assert_stored(other, "g", 1, 1);
	close_store(store);
	close_store(other);
}

static void a_range_that_is_destroyed_is_gone(void **state)
{
	struct swapio_store_options options = range_options();
	struct swapio_store *store = open_range();

	(void)state;
	swap_out(store, "g", NUMEL, 1);
	close_store(store);
	assert_int_equal(
		swapioi_store_destroy_with(store_path, &options, &swapioi_medium_range, &error), 0);
	assert_int_equal(swapioi_store_destroy_with(store_path, &options, &swapioi_medium_range,
						    &error),
			 -ENOENT);
	store = open_range();
	assert_int_equal(store->medium.index.count, 0);
	close_store(store);
}

/* Fields of a catalog that its sum does not protect: whoever wrote it computed the sum, too. */
static void catalogs_that_cannot_be_are_refused(void **state)
{
	static const unsigned char id[SWAPIO_STORE_ID_BYTES] = "fifteen letters";
	struct medium_entry entries[] = {
		{.group_sum = 1, .number = 1, .base = VOLUMES_AT, .length_bytes = 8192},
		{.group_sum = 2, .number = 1, .base = VOLUMES_AT + 8192, .length_bytes = 4096}};
	static const struct {
		size_t at;
		uint64_t value;
		int error;
	} table[] = {{0, 0, -EBADMSG},	      {8, UINT64_C(2) << 32 | 2, -ENOTSUP},
		     {16, 0, -EXDEV},	      {8, UINT64_C(2) << 32 | 0xffff, -ENOTSUP},
		     {48, 0, -EBADMSG},	      {56, VOLUMES_AT - 4096, -EBADMSG},
		     {56, 1, -EBADMSG},	      {64, 8193, -EBADMSG},
		     {64, 12288, -EBADMSG},   {64, 0, -EBADMSG},
		     {88, 4096, -EBADMSG},    {88, UINT64_MAX - 4095, -EBADMSG},
		     {96, 1u << 31, -EBADMSG}};
	struct catalog catalog = {.sequence = 3, .entries = entries, .count = 2}, back;
	unsigned char *bytes = calloc(1, CATALOG_BYTES);

	(void)state;
	assert_non_null(bytes);
	memcpy(catalog.store_id, id, sizeof(id));
	assert_int_equal(swapioi_catalog_encode(&catalog, bytes), 4096);
	assert_int_equal(swapioi_catalog_decode(bytes, id, RANGE_BYTES, &back, &error), 0);
	assert_int_equal(back.count, 2);
	assert_int_equal(back.sequence, 3);
	assert_int_equal(back.entries[1].base, VOLUMES_AT + 8192);
	free(back.entries);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		memset(bytes, 0, CATALOG_BYTES);
		swapioi_catalog_encode(&catalog, bytes);
		put_u64(bytes + table[i].at, table[i].value);
		put_u64(bytes + 104, swapioi_record_sum(bytes, 104));
		if (swapioi_catalog_decode(bytes, id, RANGE_BYTES, &back, &error) != table[i].error)
			fail_msg("row %zu: %s", i, error.text);
	}
	put_u32(bytes + 12, CATALOG_ENTRIES_MAX + 1);
	assert_int_equal(swapioi_catalog_decode(bytes, id, RANGE_BYTES, &back, &error), -EBADMSG);
	assert_says("the catalog has 16255 entries, room is for 16254");
	free(bytes);
}

/* The device that the file became, or false. */
static bool attach_loop(char device[64], int *ret_fd)
{
	int control = open("/dev/loop-control", O_RDWR), file, number, ret;

	number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	close(control);
	if (number < 0)
		return false;
	snprintf(device, 64, "/dev/loop%d", number);
	*ret_fd = open(device, O_RDWR);
	file = open(store_path, O_RDWR);
	ret = *ret_fd < 0 || file < 0 ? -1 : ioctl(*ret_fd, LOOP_SET_FD, file);
	close(file);
	if (ret == 0)
		return true;
	close(*ret_fd);
	return false;
}

static void a_block_device_is_a_range(void **state)
{
	struct swapio_store_options options = small_options();
	struct swapio_store *store = NULL, *second = NULL;
	char device[64];
	int fd = -1;

	(void)state;
	if (!attach_loop(device, &fd)) {
		print_message("no loop device can be had here: %s\n", strerror(errno));
		skip();
	}
	if (swapio_store_open(test_handle, device, &options, &error, &store) < 0)
		fail_msg("%s", error.text);
	swap_out(store, "g", NUMEL, 1);
	assert_int_equal(swapio_store_open(test_handle, device, &options, &error, &second), -EBUSY);
	swap_out(store, "g", NUMEL, 2);
	close_store(store);
	assert_int_equal(swapio_store_open(test_handle, device, &options, &error, &store), 0);
	assert_stored(store, "g", 2, 2);
	close_store(store);
	assert_int_equal(swapio_store_destroy(device, NULL, &error), 0);
	assert_int_equal(swapio_store_destroy(device, NULL, &error), -ENOENT);
	assert_int_equal(ioctl(fd, LOOP_CLR_FD), 0);
	close(fd);
}

#define RANGE_TEST(name) cmocka_unit_test_setup_teardown(name, range_set_up, store_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RANGE_TEST(generations_and_groups_are_kept),
		RANGE_TEST(room_is_used_again_and_tells_nothing),
		RANGE_TEST(a_full_range_is_told),
		RANGE_TEST(gaps_between_volumes_are_filled),
		RANGE_TEST(what_is_outside_the_range_stays),
		RANGE_TEST(what_is_no_range_is_refused),
		RANGE_TEST(the_length_stands_in_the_record),
		RANGE_TEST(a_damaged_record_is_refused),
		RANGE_TEST(either_catalog_will_do),
		RANGE_TEST(record_and_catalog_of_an_open_range_are_verified),
		RANGE_TEST(a_range_is_open_once_and_shared_by_readers),
		RANGE_TEST(a_range_that_is_destroyed_is_gone),
		RANGE_TEST(catalogs_that_cannot_be_are_refused),
		RANGE_TEST(a_block_device_is_a_range),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
