/* SPDX-License-Identifier: MIT */
/*
 * test_swap_damage.c - bytes that changed on the disk never pass a swap-in: flipped, torn, stale,
 * misdirected, cut off, of another store. The tests change them without the library.
 */
#include "group.h"
#include "swap_helpers.h"

static const struct swapio_tensor tensors[] = {
	{.size_bytes = sizeof(struct swapio_tensor),
	 .name = "a",
	 .numel = 10000,
	 .element_bytes = 4},
	{.size_bytes = sizeof(struct swapio_tensor),
	 .name = "b",
	 .numel = 50000,
	 .element_bytes = 1},
};
static struct swapio_group *group;
static struct memory memory;

static int setup(void **state)
{
	(void)state;
	begin(1, 1);
	group = open_group("g", tensors, 2);
	memory_make(&memory, tensors, 2, 0);
	for (unsigned i = 1; i <= 2; i++) {
		memory_fill(&memory, i);
		swap_out_ok(group, memory.mem);
	}
	memory_poison(&memory);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(swapio_group_close(group), 0);
	memory_free(&memory);
	end();
	return 0;
}

/* A descriptor of the volume's file that is not the library's. */
static int open_volume_file(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", group->volume.fd);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	return fd;
}

static void read_disk(uint64_t offset, void *bytes, size_t count)
{
	int fd = open_volume_file();

	assert_int_equal(pread(fd, bytes, count, (off_t)offset), (ssize_t)count);
	close(fd);
}

static void write_disk(uint64_t offset, const void *bytes, size_t count)
{
	int fd = open_volume_file();

	assert_int_equal(pwrite(fd, bytes, count, (off_t)offset), (ssize_t)count);
	assert_int_equal(fsync(fd), 0);
	close(fd);
}

static uint64_t place_of(unsigned tensor)
{
	return swapioi_volume_tensor_offset(&group->volume, &group->stored->tensors[tensor]);
}

static void flip(uint64_t offset)
{
	unsigned char byte;

	read_disk(offset, &byte, 1);
	byte ^= 0x10;
	write_disk(offset, &byte, 1);
}

static struct swapio_swap_result assert_damaged(unsigned tensor, uint64_t first, uint64_t count)
{
	struct swapio_swap_result result = run(group, SWAPIO_SWAP_IN, memory.mem);
	char part[160];

	assert_int_equal(result.error, -EBADMSG);
	assert_int_equal(result.cause, SWAPIO_SWAP_CHECKSUM);
	assert_int_equal(result.tensor, tensor);
	assert_int_equal(result.fail_offset_bytes, first);
	assert_int_equal(result.fail_length_bytes, count);
	assert_int_equal(result.generation, 2);
	snprintf(part, sizeof(part),
		 "group g, tensor %u (%s): bytes %u to %u are not what generation 2 stored: their ",
		 tensor, tensors[tensor].name, (unsigned)first, (unsigned)(first + count - 1));
	if (strncmp(result.text, part, strlen(part)) != 0)
		fail_msg("%s", result.text);
	return result;
}

static void an_untouched_store_is_read(void **state)
{
	(void)state;
	swap_in_ok(group, memory.mem);
	assert_memory_holds(&memory, 2);
}

/* Never what a slot held before, which may be anybody's. */
static void what_is_behind_a_tensor_on_the_disk_is_zero(void **state)
{
	unsigned char bytes[STORE_UNIT];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size_t tail = memory.bytes[i] % STORE_UNIT;

		read_disk(place_of(i) + memory.bytes[i] - tail, bytes, sizeof(bytes));
		for (size_t j = tail; j < sizeof(bytes); j++)
			assert_int_equal(bytes[j], 0);
	}
}

static void a_flipped_bit_is_found_in_its_chunk(void **state)
{
	(void)state;
	flip(place_of(0));
	assert_damaged(0, 0, 16384);
	flip(place_of(0));
	flip(place_of(0) + 16383);
	assert_damaged(0, 0, 16384);
	flip(place_of(0) + 16383);
	flip(place_of(1) + 16384);
	assert_damaged(1, 16384, 16384);
	flip(place_of(1) + 16384);
	/* The last byte of an odd tail. */
	flip(place_of(1) + 49999);
	assert_damaged(1, 49152, 848);
	flip(place_of(1) + 49999);
	swap_in_ok(group, memory.mem);
	assert_memory_holds(&memory, 2);
}

static void the_first_of_several_damages_is_named(void **state)
{
	(void)state;
	flip(place_of(1) + 20000);
	flip(place_of(0) + 32768);
	assert_damaged(0, 32768, 40000 - 32768);
}

/* A write that was reported and never happened: the bytes of the generation before. */
static void a_lost_write_is_found(void **state)
{
	unsigned char *before = malloc(16384);
	uint64_t place = place_of(1);

	(void)state;
	assert_non_null(before);
	read_disk(place, before, 16384);
	memory_fill(&memory, 3);
	swap_out_ok(group, memory.mem);
	memory_fill(&memory, 4);
	swap_out_ok(group, memory.mem);
	assert_true(place == place_of(1));
	write_disk(place, before, 16384);
	free(before);
	{
		struct swapio_swap_result result = run(group, SWAPIO_SWAP_IN, memory.mem);

		assert_int_equal(result.error, -EBADMSG);
		assert_int_equal(result.tensor, 1);
		assert_int_equal(result.fail_offset_bytes, 0);
		assert_int_equal(result.generation, 4);
	}
}

static void a_misdirected_write_is_found(void **state)
{
	unsigned char bytes[4096];

	(void)state;
	read_disk(place_of(0), bytes, sizeof(bytes));
	write_disk(place_of(0) + 4096, bytes, sizeof(bytes));
	assert_damaged(0, 0, 16384);
}

static void a_torn_write_is_found(void **state)
{
	unsigned char zeros[512] = {0};

	(void)state;
	write_disk(place_of(0) + 40000 - 512, zeros, sizeof(zeros));
	assert_damaged(0, 32768, 40000 - 32768);
}

static void a_volume_that_was_cut_off_says_which_bytes_are_missing(void **state)
{
	struct swapio_swap_result result;
	int fd = open_volume_file();

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)place_of(1) + 20480), 0);
	close(fd);
	result = run(group, SWAPIO_SWAP_IN, memory.mem);
	assert_failed(&result, -ENODATA, SWAPIO_SWAP_IO,
		      "group g, tensor 1 (b): bytes 20480 to 32767 are missing: the volume ends "
		      "before");
	assert_int_equal(result.tensor, 1);
	assert_int_equal(result.fail_offset_bytes, 20480);
	assert_int_equal(result.fail_length_bytes, 32768 - 20480);
}

/* Staged pieces are checked as well, and the caller's memory is not written past its end. */
static void unaligned_memory_finds_damage_too(void **state)
{
	struct memory odd;
	struct swapio_swap_result result;

	(void)state;
	memory_make(&odd, tensors, 2, 3);
	flip(place_of(0) + 39999);
	result = run(group, SWAPIO_SWAP_IN, odd.mem);
	assert_int_equal(result.error, -EBADMSG);
	assert_int_equal(result.fail_offset_bytes, 32768);
	assert_int_equal(result.fail_length_bytes, 40000 - 32768);
	memory_free(&odd);
}

/* It does not touch the place that is damaged; the next generation is whole. */
static void a_swap_out_heals(void **state)
{
	(void)state;
	flip(place_of(0));
	assert_damaged(0, 0, 16384);
	memory_fill(&memory, 3);
	swap_out_ok(group, memory.mem);
	memory_poison(&memory);
	swap_in_ok(group, memory.mem);
	assert_memory_holds(&memory, 3);
}

static void without_checksums_damage_is_not_seen(void **state)
{
	struct swapio_store_options options = store_options(1);

	(void)state;
	assert_int_equal(swapio_group_close(group), 0);
	group = NULL;
	close_store();
	options.checksum = SWAPIO_CHECKSUM_NONE;
	open_store(&options);
	group = open_group("g", tensors, 2);
	memory_fill(&memory, 3);
	swap_out_ok(group, memory.mem);
	flip(place_of(0));
	swap_in_ok(group, memory.mem);
}

static void a_flipped_manifest_is_refused_when_the_group_is_opened(void **state)
{
	const struct volume volume = group->volume;
	uint64_t slot = volume.entry.base + STORE_UNIT + volume.newest_slot * volume.slot_bytes;
	struct swapio_error error = {0};
	struct swapio_group *none;

	(void)state;
	flip(slot + 40);
	assert_int_equal(swapio_group_close(group), 0);
	group = NULL;
	assert_int_equal(swapio_group_open(store, "g", tensors, 2, &error, &none), -EBADMSG);
	assert_non_null(strstr(error.text, "g"));
	/* Removing what is damaged makes room for a new one. */
	assert_int_equal(swapio_store_remove(store, "g", &error), 0);
	group = open_group("g", tensors, 2);
	assert_int_equal(swapio_group_generation(group), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_untouched_store_is_read),
		CASE(what_is_behind_a_tensor_on_the_disk_is_zero),
		CASE(a_flipped_bit_is_found_in_its_chunk),
		CASE(the_first_of_several_damages_is_named),
		CASE(a_lost_write_is_found),
		CASE(a_misdirected_write_is_found),
		CASE(a_torn_write_is_found),
		CASE(a_volume_that_was_cut_off_says_which_bytes_are_missing),
		CASE(unaligned_memory_finds_damage_too),
		CASE(a_swap_out_heals),
		CASE(without_checksums_damage_is_not_seen),
		CASE(a_flipped_manifest_is_refused_when_the_group_is_opened),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
