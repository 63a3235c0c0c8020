/* SPDX-License-Identifier: MIT */
/*
 * test_store_range_power.c - the power goes at any moment of a store in a range of a device. What
 * was written since the last sync is there, or not, or in part, but for units of 4096 bytes, which
 * are whole; whatever it is, the store opens, and a group is what was reported last, or begun
 * since.
 */
/* link: -Wl,--wrap=pwrite,--wrap=fdatasync */
#include "script_engine.h"
#include "store_helpers.h"

#define DEVICE_BYTES (3u << 20)
#define RANGE_AT (1u << 20)
#define EVENTS_MAX 512
#define NUMEL 700

enum event_kind { EVENT_WRITE, EVENT_SYNC, EVENT_MADE, EVENT_BEGUN, EVENT_DURABLE };

/* What reached the device, and what was said about store and group meanwhile, in order. */
struct event {
	enum event_kind kind;
	uint64_t offset, length;
	unsigned char *bytes;
	uint64_t generation; /* 0: the group is not there */
};

static struct event events[EVENTS_MAX];
static unsigned events_count;
static bool recording;
static dev_t device_dev;
static ino_t device_inode;

static struct event *record(enum event_kind kind)
{
	assert_true(events_count < EVENTS_MAX);
	events[events_count] = (struct event){.kind = kind};
	return &events[events_count++];
}

static bool is_device(int fd)
{
	struct stat status;

	return recording && fstat(fd, &status) == 0 && status.st_dev == device_dev &&
	       status.st_ino == device_inode;
}

ssize_t __real_pwrite(int fd, const void *buf, size_t count, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *buf, size_t count, off_t offset);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);

ssize_t __wrap_pwrite(int fd, const void *buf, size_t count, off_t offset)
{
	if (is_device(fd)) {
		struct event *event = record(EVENT_WRITE);

		event->offset = (uint64_t)offset;
		event->length = count;
		event->bytes = malloc(count);
		assert_non_null(event->bytes);
		memcpy(event->bytes, buf, count);
	}
	return __real_pwrite(fd, buf, count, offset);
}

int __wrap_fdatasync(int fd)
{
	int ret = __real_fdatasync(fd);

	if (is_device(fd))
		record(EVENT_SYNC);
	return ret;
}

static void make_device(void)
{
	struct stat status;
	int fd = open(store_path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, DEVICE_BYTES), 0);
	assert_int_equal(fstat(fd, &status), 0);
	device_dev = status.st_dev;
	device_inode = status.st_ino;
	close(fd);
}

static int set_up(void **state)
{
	struct swapio_options options = script_options(0);

	store_set_up(state);
	close_handle(test_handle);
	script_reset();
	options.block_bytes = DEVICE_BYTES; /* one transfer for each write */
	test_handle = script_open(&options);
	make_device();
	events_count = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < events_count; i++)
		free(events[i].bytes);
	script_close(test_handle);
	empty_store_path();
	return 0;
}

static struct swapio_store *open_range(bool create, bool durable)
{
	struct swapio_store_options options = small_options();

	options.range_offset_bytes = RANGE_AT;
	options.create = create;
	options.durable = durable;
	script_anew();
	return open_store_with(&options, &swapioi_medium_range);
}

/* ---- what may be on the device ---- */

/* Which of the writes that were not synced are there. */
enum survivors { NONE, ALL, ONLY_ONE, ALL_BUT_ONE, HALF_OF_ONE };

static unsigned last_sync_before(unsigned cut)
{
	unsigned sync = 0;

	for (unsigned i = 0; i < cut; i++)
		if (events[i].kind == EVENT_SYNC)
			sync = i;
	return sync;
}

static bool is_there(enum survivors survivors, unsigned chosen, unsigned index)
{
	if (survivors == NONE || survivors == ALL)
		return survivors == ALL;
	return (index == chosen) == (survivors != ALL_BUT_ONE);
}

static void apply(int fd, const struct event *event, bool half)
{
	uint64_t length = half ? event->length / 2 / STORE_UNIT * STORE_UNIT : event->length;

	assert_true(event->offset + event->length <= DEVICE_BYTES);
	assert_int_equal(__real_pwrite(fd, event->bytes, length, (off_t)event->offset),
			 (ssize_t)length);
}

static void put_device(unsigned cut, enum survivors survivors, unsigned chosen)
{
	unsigned sync = last_sync_before(cut);
	int fd = open(store_path, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(ftruncate(fd, DEVICE_BYTES), 0);
	for (unsigned i = 0; i < cut; i++)
		if (events[i].kind == EVENT_WRITE && (i < sync || is_there(survivors, chosen, i)))
			apply(fd, &events[i], i == chosen && survivors == HALF_OF_ONE);
	close(fd);
}

/* ---- what has to be found ---- */

/* What was reported last, or was begun since. */
static bool may_be(unsigned cut, uint64_t generation)
{
	bool may = generation == 0; /* in the beginning there is no group */

	for (unsigned i = 0; i < cut; i++) {
		if (events[i].kind == EVENT_BEGUN)
			may |= events[i].generation == generation;
		if (events[i].kind == EVENT_DURABLE)
			may = events[i].generation == generation;
	}
	return may;
}

/* Somebody was told that there is a store. */
static bool is_made(unsigned cut)
{
	for (unsigned i = 0; i < cut; i++)
		if (events[i].kind == EVENT_MADE)
			return true;
	return false;
}

/* Of the group, whose seeds are its generations; 0: it is not there. */
static uint64_t found_generation(struct swapio_store *store)
{
	struct volume volume = {.fd = -1};
	struct manifest *manifest = NULL;
	uint64_t generation = 0;
	int ret = swapioi_volume_find(store, "g", &volume, &manifest, &error);

	if (ret < 0 && ret != -ENOENT)
		fail_msg("find: %s", error.text);
	if (ret == 0)
		generation = manifest->generation;
	swapioi_volume_close(&volume);
	swapioi_manifest_destroy(manifest);
	return generation;
}

static void look(unsigned cut, enum survivors survivors, unsigned chosen)
{
	struct swapio_store *store;
	uint64_t generation;

	put_device(cut, survivors, chosen);
	store = open_range(!is_made(cut), true);
	generation = found_generation(store);
	if (!may_be(cut, generation))
		fail_msg("cut behind event %u, survivors %d of %u: generation %" PRIu64 " is there",
			 cut, (int)survivors, chosen, generation);
	if (generation)
		assert_stored(store, "g", generation, generation);
	close_store(store);
}

static void look_at_everything_that_may_be(unsigned cut)
{
	look(cut, NONE, 0);
	look(cut, ALL, 0);
	for (unsigned i = last_sync_before(cut); i < cut; i++) {
		if (events[i].kind != EVENT_WRITE)
			continue;
		look(cut, ONLY_ONE, i);
		look(cut, ALL_BUT_ONE, i);
		if (events[i].length > STORE_UNIT)
			look(cut, HALF_OF_ONE, i);
	}
}

/* Right before a sync is the moment at which most can be lost, and behind the last event. */
static void cut_the_power_everywhere(void)
{
	unsigned count = events_count;

	recording = false;
	for (unsigned cut = 1; cut <= count; cut++)
		if (cut == count || events[cut].kind != EVENT_WRITE)
			look_at_everything_that_may_be(cut);
}

/* ---- what happens ---- */

static void say(enum event_kind kind, uint64_t generation)
{
	record(kind)->generation = generation;
}

static struct swapio_store *make_store(void)
{
	struct swapio_store *store;

	recording = true;
	store = open_range(true, true);
	say(EVENT_MADE, 0);
	return store;
}

static void swap_out_generation(struct swapio_store *store, uint64_t generation, uint64_t numel)
{
	say(EVENT_BEGUN, generation);
	script_anew();
	swap_out(store, "g", numel, generation);
	say(EVENT_DURABLE, generation);
}

static void a_store_that_is_made(void **state)
{
	(void)state;
	close_store(make_store());
	assert_true(events_count > 4);
	cut_the_power_everywhere();
}

/* Of a store that promises nothing it is promised all the same that it is one. */
static void a_store_that_is_not_durable_is_made(void **state)
{
	(void)state;
	recording = true;
	close_store(open_range(true, false));
	say(EVENT_MADE, 0);
	cut_the_power_everywhere();
}

static void swap_outs_into_one_volume(void **state)
{
	struct swapio_store *store = make_store();

	(void)state;
	for (uint64_t generation = 1; generation <= 3; generation++)
		swap_out_generation(store, generation, NUMEL);
	close_store(store);
	cut_the_power_everywhere();
}

/* Room that a volume left is another's at once. */
static void swap_outs_into_volumes_that_follow_each_other(void **state)
{
	struct swapio_store *store = make_store();

	(void)state;
	swap_out_generation(store, 1, NUMEL);
	swap_out_generation(store, 2, 2 * NUMEL);
	swap_out_generation(store, 3, NUMEL);
	swap_out_generation(store, 4, NUMEL);
	close_store(store);
	cut_the_power_everywhere();
}

static void a_group_that_is_removed_and_comes_back(void **state)
{
	struct swapio_store *store = make_store();

	(void)state;
	swap_out_generation(store, 1, NUMEL);
	say(EVENT_BEGUN, 0);
	script_anew();
	assert_int_equal(swapio_store_remove(store, "g", &error), 0);
	say(EVENT_DURABLE, 0);
	swap_out_generation(store, 1, NUMEL);
	close_store(store);
	cut_the_power_everywhere();
}

int main(void)
{
#define POWER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		POWER_TEST(a_store_that_is_made),
		POWER_TEST(a_store_that_is_not_durable_is_made),
		POWER_TEST(swap_outs_into_one_volume),
		POWER_TEST(swap_outs_into_volumes_that_follow_each_other),
		POWER_TEST(a_group_that_is_removed_and_comes_back),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
