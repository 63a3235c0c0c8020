/* SPDX-License-Identifier: MIT */
/*
 * test_store.c - the independent reader finds what a store holds, and refuses what is damaged, on
 * images made by hand from docs/STORE.md.
 */
#undef NDEBUG
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store_image.h"
#include "store_reader.h"

#define SLOT_AT(slot) (IMAGE_UNIT + (slot)*IMAGE_SLOT_BYTES)
#define PLACE_AT(place) (IMAGE_UNIT + 2 * IMAGE_SLOT_BYTES + (place)*IMAGE_PLACE_BYTES)
#define RANGE_BYTES (2u << 20)
#define VOLUMES_AT (1u << 20)

struct fixture {
	char directory[64];
	unsigned char record[IMAGE_UNIT];
	unsigned char volume[IMAGE_VOLUME_BYTES];
	char text[STORE_TEXT_BYTES];
	struct store_group *group;
};

static void write_file(const struct fixture *fixture, const char *name, const void *bytes,
		       size_t count)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

static void volume_name(const char *group, uint64_t number, char name[64])
{
	snprintf(name, 64, "%016" PRIx64 "-%" PRIu64 ".vol",
		 (uint64_t)XXH64(group, strlen(group), 0), number);
}

static void write_volume(const struct fixture *fixture, uint64_t number)
{
	char name[64];

	volume_name("optimizer", number, name);
	write_file(fixture, name, fixture->volume, sizeof(fixture->volume));
}

/* A directory with one generation of Adam's states. */
static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct image_group adam = image_adam(1);

	assert_non_null(fixture);
	snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/test_store.XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	image_record(fixture->record, 0);
	image_head(fixture->volume, "optimizer", 1);
	image_generation(fixture->volume, &adam);
	write_file(fixture, "swapio.store", fixture->record, sizeof(fixture->record));
	write_volume(fixture, 1);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char command[128];
	const char *const names[] = {"swapio.store", "range"};

	store_group_close(fixture->group);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), "%s/%s", fixture->directory, names[i]);
		unlink(command);
	}
	for (uint64_t number = 1; number <= 3; number++) {
		char name[64];

		volume_name("optimizer", number, name);
		snprintf(command, sizeof(command), "%s/%s", fixture->directory, name);
		unlink(command);
	}
	assert_int_equal(rmdir(fixture->directory), 0);
	free(fixture);
	return 0;
}

static int open_group(struct fixture *fixture, const char *name)
{
	struct store_place place = {fixture->directory, 0, 0};
	int error;

	store_group_close(fixture->group);
	fixture->group = NULL;
	error = store_group_open(&place, name, &fixture->group, fixture->text);
	assert_true((error == 0) == (fixture->group != NULL));
	if (error)
		assert_true(fixture->text[0] != '\0');
	return error;
}

static void refused(struct fixture *fixture, int error, const char *complaint)
{
	assert_int_equal(open_group(fixture, "optimizer"), error);
	if (!strstr(fixture->text, complaint))
		fail_msg("'%s' lacks '%s'", fixture->text, complaint);
}

static void remember_damage(void *arg, unsigned tensor, uint64_t offset, uint64_t length,
			    const char *what)
{
	char *text = arg;
	size_t used = strlen(text);

	snprintf(text + used, 512 - used, "[%u %" PRIu64 "+%" PRIu64 " %s]", tensor, offset, length,
		 what);
}

static int check_all(const struct store_group *group, char text[512])
{
	int damaged = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < group->manifest->count; i++)
		damaged += store_group_check(group, i, remember_damage, text);
	return damaged;
}

static void a_group_is_found_with_numel_dtype_shape_and_bytes(void **state)
{
	struct fixture *fixture = *state;
	const struct store_tensor *moment;
	unsigned char bytes[12000];
	char text[512];

	assert_int_equal(open_group(fixture, "optimizer"), 0);
	assert_int_equal(fixture->group->manifest->generation, 1);
	assert_int_equal(fixture->group->manifest->count, 4);
	moment = &fixture->group->manifest->tensors[1];
	assert_string_equal(moment->name, "exp_avg");
	assert_string_equal(moment->dtype, "fp32");
	assert_int_equal(moment->numel, 3000);
	assert_int_equal(moment->element_bytes, 4);
	assert_int_equal(moment->dims, 2);
	assert_int_equal(moment->shape[0], 30);
	assert_int_equal(moment->shape[1], 100);
	assert_int_equal(store_group_tensor_offset(fixture->group, 1), PLACE_AT(1) + 4096);
	assert_int_equal(store_group_find(fixture->group, "exp_avg_sq"), 3);
	assert_int_equal(store_group_find(fixture->group, "exp"), -ENOENT);
	assert_int_equal(store_group_read(fixture->group, 1, 0, bytes, sizeof(bytes)), 0);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], image_byte(1, 1, i));
	assert_int_equal(check_all(fixture->group, text), 0);
}

static void the_highest_valid_generation_counts_wherever_it_is(void **state)
{
	struct fixture *fixture = *state;
	struct image_group second = image_adam(2), third = image_adam(3);

	image_generation(fixture->volume, &second);
	write_volume(fixture, 1);
	assert_int_equal(open_group(fixture, "optimizer"), 0);
	assert_int_equal(fixture->group->manifest->generation, 2);
	assert_int_equal(fixture->group->slot, 0);

	image_head(fixture->volume, "optimizer", 3);
	image_generation(fixture->volume, &third);
	write_volume(fixture, 3);
	assert_int_equal(open_group(fixture, "optimizer"), 0);
	assert_int_equal(fixture->group->manifest->generation, 3);
	assert_int_equal(fixture->group->number, 3);
}

static void a_torn_newer_manifest_leaves_the_older_one(void **state)
{
	struct fixture *fixture = *state;
	struct image_group second = image_adam(2);
	char text[512];

	image_generation(fixture->volume, &second);
	fixture->volume[SLOT_AT(0) + 100] ^= 1;
	write_volume(fixture, 1);
	assert_int_equal(open_group(fixture, "optimizer"), 0);
	assert_int_equal(fixture->group->manifest->generation, 1);
	assert_int_equal(check_all(fixture->group, text), 0);
}

static void every_algorithm_finds_the_flipped_bit_and_none_does_not(void **state)
{
	struct fixture *fixture = *state;
	char text[512];

	for (unsigned algorithm = 0; algorithm <= (XXH_VERSION_NUMBER >= 800 ? 2 : 1);
	     algorithm++) {
		struct image_group adam = image_adam(1);

		adam.algorithm = algorithm;
		image_generation(fixture->volume, &adam);
		fixture->volume[PLACE_AT(1) + 4096 + 5000] ^= 0x40;
		write_volume(fixture, 1);
		assert_int_equal(open_group(fixture, "optimizer"), 0);
		assert_int_equal(check_all(fixture->group, text), algorithm != 0);
		if (algorithm)
			assert_non_null(strstr(text, "[1 4096+4096 checksum"));
	}
}

static void padding_that_is_not_zero_is_damage(void **state)
{
	struct fixture *fixture = *state;
	char text[512];

	fixture->volume[PLACE_AT(1) + 9] = 1;
	write_volume(fixture, 1);
	assert_int_equal(open_group(fixture, "optimizer"), 0);
	assert_int_equal(check_all(fixture->group, text), 1);
	assert_string_equal(text, "[0 9+4087 the padding is not zero]");
}

static void a_torn_tail_is_damage_of_the_tensors_in_it(void **state)
{
	struct fixture *fixture = *state;
	char name[64], path[128], text[512];

	volume_name("optimizer", 1, name);
	snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
	assert_int_equal(truncate(path, PLACE_AT(1) + 4096 * 5), 0);
	assert_int_equal(open_group(fixture, "optimizer"), 0);
	assert_int_equal(check_all(fixture->group, text), 2);
	assert_string_equal(text, "[3 4096+4096 No data available][3 8192+4096 No data available]");
}

static void what_is_not_there_is_told_apart_from_what_is_damaged(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_group(fixture, "parameters"), -ENOENT);
	memset(fixture->volume + SLOT_AT(1), 0, IMAGE_SLOT_BYTES);
	write_volume(fixture, 1);
	refused(fixture, -ENOENT, "nothing is stored");
	fixture->volume[SLOT_AT(1) + 7] = 1;
	write_volume(fixture, 1);
	refused(fixture, -EBADMSG, "SWAPMANI");
	memset(fixture->record, 0, sizeof(fixture->record));
	write_file(fixture, "swapio.store", fixture->record, sizeof(fixture->record));
	refused(fixture, -EBADMSG, "SWAPSTOR");
	write_file(fixture, "swapio.store", fixture->record, 100);
	refused(fixture, -EBADMSG, "cut");
}

/* Generation 1 in slot 0, where a volume's first one belongs, and nothing in slot 1. */
static size_t make_first(struct fixture *fixture)
{
	static char long_name[1000];
	struct image_group first = image_adam(1);

	memset(fixture->volume + SLOT_AT(0), 0, 2 * (size_t)IMAGE_SLOT_BYTES);
	memset(long_name, 'n', sizeof(long_name) - 1);
	first.slot = 0;
	first.tensors[3].name = long_name;
	return image_generation(fixture->volume, &first);
}

/* Whatever sectors of it are there: only a whole one is a generation. */
static void a_first_manifest_that_was_torn_is_nothing(void **state)
{
	struct fixture *fixture = *state;
	size_t bytes = make_first(fixture);
	unsigned sectors = (unsigned)((bytes + 511) / 512);

	assert_true(sectors >= 3);
	for (unsigned there = 0; there < 1u << sectors; there++) {
		make_first(fixture);
		for (unsigned i = 0; i < sectors; i++)
			if (!(there & 1u << i))
				memset(fixture->volume + SLOT_AT(0) + (size_t)i * 512, 0, 512);
		write_volume(fixture, 1);
		if (there + 1 < 1u << sectors)
			refused(fixture, -ENOENT, "nothing is stored");
		else
			assert_int_equal(open_group(fixture, "optimizer"), 0);
	}
}

/* The other slot says that a commit came to its end. */
static void a_manifest_that_is_damaged_beside_another_record_is_damage(void **state)
{
	struct fixture *fixture = *state;

	make_first(fixture);
	fixture->volume[SLOT_AT(0) + 100] ^= 1;
	fixture->volume[SLOT_AT(1) + IMAGE_SLOT_BYTES - 1] = 1;
	write_volume(fixture, 1);
	assert_int_equal(open_group(fixture, "optimizer"), -EBADMSG);
}

static void a_head_that_is_not_there_is_damage(void **state)
{
	struct fixture *fixture = *state;

	memset(fixture->volume, 0, IMAGE_UNIT);
	write_volume(fixture, 1);
	refused(fixture, -EBADMSG, "SWAPVOLU");
}

static void a_volume_of_another_store_is_foreign(void **state)
{
	struct fixture *fixture = *state;

	fixture->volume[16] ^= 1;
	image_sum(fixture->volume, 4088);
	write_volume(fixture, 1);
	refused(fixture, -EXDEV, "another store");
	fixture->volume[16] ^= 1;
	image_sum(fixture->volume, 4088);
	fixture->volume[SLOT_AT(1) + 24] ^= 1; /* only the manifest is of another one */
	image_sum(fixture->volume + SLOT_AT(1), store_u64(fixture->volume + SLOT_AT(1) + 16) - 8);
	write_volume(fixture, 1);
	refused(fixture, -EXDEV, "manifest belongs to another store");
}

static void a_volume_under_the_name_of_another_is_refused(void **state)
{
	struct fixture *fixture = *state;
	char from[64], name[64], path[128];

	write_volume(fixture, 2); /* its head says 1 */
	volume_name("optimizer", 1, from);
	snprintf(path, sizeof(path), "%s/%s", fixture->directory, from);
	unlink(path);
	refused(fixture, -EBADMSG, "-1");
	volume_name("parameters", 1, name);
	write_file(fixture, name, fixture->volume, sizeof(fixture->volume));
	assert_int_equal(open_group(fixture, "parameters"), -EBADMSG);
	snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
	unlink(path);
}

/* One field of the manifest is changed, and its sum made right again. */
static void refuse_field(struct fixture *fixture, size_t at, uint64_t value, unsigned bytes,
			 int error, const char *complaint)
{
	unsigned char *slot = fixture->volume + SLOT_AT(1), kept[8];
	size_t end = store_u64(slot + 16) - 8;

	memcpy(kept, slot + at, 8);
	image_put(slot + at, value, bytes);
	image_sum(slot, end);
	write_volume(fixture, 1);
	refused(fixture, error, complaint);
	memcpy(slot + at, kept, 8);
	image_sum(slot, end);
}

static void a_manifest_that_cannot_be_is_refused_though_its_sum_is_right(void **state)
{
	struct fixture *fixture = *state;
	size_t step = 64 + 16, moment = step + 40 + 8 + 8, sq;

	sq = moment + 40 + 16 + 8 + 3 * 8 + 40 + 8 + 8;
	refuse_field(fixture, 8, 2, 4, -ENOTSUP, "version 2");
	refuse_field(fixture, 12, 3, 4, -ENOTSUP, "algorithm 3");
	refuse_field(fixture, 40, 0, 8, -EBADMSG, "generation 0");
	refuse_field(fixture, 48, 0, 8, -EBADMSG, "chunks of 0");
	refuse_field(fixture, 48, 4097, 8, -EBADMSG, "chunks of 4097");
	refuse_field(fixture, 56, 0, 4, -EBADMSG, "0 tensors");
	refuse_field(fixture, 56, 0xffffffff, 4, -EBADMSG, "4294967295 tensors");
	refuse_field(fixture, 56, 3, 4, -EBADMSG, "between the last tensor and the sum");
	refuse_field(fixture, 60, 0, 4, -EBADMSG, "name of the group has 0 bytes");
	refuse_field(fixture, 60, 1024, 4, -EBADMSG, "name of the group has 1024 bytes");
	refuse_field(fixture, 60, 8, 4, -EBADMSG, "tensor 0");
	refuse_field(fixture, 64, 'O', 1, -EBADMSG, "of group Optimizer");
	refuse_field(fixture, step, UINT64_MAX, 8, -EBADMSG, "18446744073709551615 elements");
	refuse_field(fixture, step + 8, 1, 8, -EBADMSG, "offset 1 is no multiple");
	refuse_field(fixture, step + 8, 4096, 8, -EBADMSG, "exp_avg begins at 4096, before");
	refuse_field(fixture, step + 16, 0, 4, -EBADMSG, "0 bytes an element");
	refuse_field(fixture, step + 16, 65, 4, -EBADMSG, "65 bytes an element");
	refuse_field(fixture, step + 20, 0, 2, -EBADMSG, "name of tensor 0 has 0 bytes");
	refuse_field(fixture, step + 20, 3, 2, -EBADMSG, "is not ended by zeros");
	refuse_field(fixture, step + 22, 9, 1, -EBADMSG, "9 dimensions");
	refuse_field(fixture, step + 23, 2, 1, -EBADMSG, "place 2");
	refuse_field(fixture, step + 29, 'x', 1, -EBADMSG, "element type is not ended");
	refuse_field(fixture, moment, 2999, 8, -EBADMSG, "shape does not hold its 2999");
	refuse_field(fixture, moment + 40, UINT64_MAX, 8, -EBADMSG, "shape does not hold");
	refuse_field(fixture, moment + 8, IMAGE_PLACE_BYTES - 4096, 8, -EBADMSG, "before the end");
	refuse_field(fixture, sq + 8, IMAGE_PLACE_BYTES - 4096, 8, -EBADMSG, "behind its place");
	refuse_field(fixture, sq + 8, -4096ull, 8, -EBADMSG, "exp_avg_sq begins at 1844");
	refuse_field(fixture, sq, 1ull << 40, 8, -EBADMSG, "checksums do not fit");
	write_volume(fixture, 1);
	assert_int_equal(open_group(fixture, "optimizer"), 0);
}

static void two_tensors_of_one_name_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct image_group adam = image_adam(1);

	adam.tensors[3].name = "step";
	image_generation(fixture->volume, &adam);
	write_volume(fixture, 1);
	refused(fixture, -EBADMSG, "two tensors are named step");
}

static void refuse_head(struct fixture *fixture, size_t at, uint64_t value, int error,
			const char *complaint)
{
	unsigned char kept[8];

	memcpy(kept, fixture->volume + at, 8);
	image_put(fixture->volume + at, value, 8);
	image_sum(fixture->volume, 4088);
	write_volume(fixture, 1);
	refused(fixture, error, complaint);
	memcpy(fixture->volume + at, kept, 8);
}

static void a_head_that_cannot_be_is_refused(void **state)
{
	struct fixture *fixture = *state;

	refuse_head(fixture, 8, 2, -ENOTSUP, "version 2");
	refuse_head(fixture, 12, 1024, -EBADMSG, "a name of 1024 bytes");
	refuse_head(fixture, 48, 0, -EBADMSG, "slots of 0");
	refuse_head(fixture, 48, 4097, -EBADMSG, "slots of 4097");
	refuse_head(fixture, 48, -4096ull, -EBADMSG, "slots of 1844");
	refuse_head(fixture, 56, -4096ull, -EBADMSG, "places of 1844");
	refuse_head(fixture, 64, 1, -EBADMSG, "its head says group");
	refuse_head(fixture, 80, 1, -EBADMSG, "must be zero");
	fixture->volume[50] ^= 1;
	write_volume(fixture, 1);
	refused(fixture, -EBADMSG, "sum of SWAPVOLU");
}

/* Generation 1 is in slot 1. */
static void put_seal(struct fixture *fixture, uint64_t generation)
{
	unsigned char *seal = fixture->volume + IMAGE_UNIT;

	image_unit(seal, "SWAPSEAL");
	image_put(seal + 32, XXH64("optimizer", 9, 0), 8);
	image_put(seal + 40, 1, 8);
	image_put(seal + 48, generation, 8);
	image_sum(seal, 4088);
	write_volume(fixture, 1);
}

static void what_a_seal_says_was_committed_is_missed(void **state)
{
	struct fixture *fixture = *state;

	put_seal(fixture, 1);
	assert_int_equal(open_group(fixture, "optimizer"), 0);
	put_seal(fixture, 2);
	refused(fixture, -EBADMSG, "generation 2 was committed");
	put_seal(fixture, 1);
	fixture->volume[IMAGE_UNIT + IMAGE_SLOT_BYTES + 70] ^= 1;
	write_volume(fixture, 1);
	assert_int_equal(open_group(fixture, "optimizer"), -EBADMSG);
}

/* The same group in a range that begins at 4096 of a file. */
static void write_range(struct fixture *fixture, const uint64_t sequence[2], unsigned valid)
{
	unsigned char *range = calloc(1, RANGE_BYTES + 4096);
	static const unsigned at[2] = {4096, 524288};

	assert_non_null(range);
	image_record(range + 4096, RANGE_BYTES);
	for (unsigned i = 0; i < 2; i++) {
		unsigned char *catalog = range + 4096 + at[i], *entry = catalog + 40;

		memcpy(catalog, "SWAPCATA", 8);
		image_put(catalog + 8, 1, 4);
		image_put(catalog + 12, i, 4); /* the first one is empty */
		memcpy(catalog + 16, image_id, 16);
		image_put(catalog + 32, sequence[i], 8);
		if (i) {
			image_put(entry, XXH64("optimizer", 9, 0), 8);
			image_put(entry + 8, 1, 8);
			image_put(entry + 16, VOLUMES_AT, 8);
			image_put(entry + 24, IMAGE_VOLUME_BYTES, 8);
		}
		image_sum(catalog, 40 + i * 32);
		if (!(valid & 1u << i))
			catalog[33] ^= 1;
	}
	memcpy(range + 4096 + VOLUMES_AT, fixture->volume, IMAGE_VOLUME_BYTES);
	write_file(fixture, "range", range, RANGE_BYTES + 4096);
	free(range);
}

static int open_range(struct fixture *fixture, uint64_t length)
{
	char path[128];
	struct store_place place = {path, 4096, length};

	snprintf(path, sizeof(path), "%s/range", fixture->directory);
	store_group_close(fixture->group);
	fixture->group = NULL;
	return store_group_open(&place, "optimizer", &fixture->group, fixture->text);
}

static void a_range_is_read_by_the_newer_of_its_valid_catalogs(void **state)
{
	struct fixture *fixture = *state;
	char text[512];

	write_range(fixture, (const uint64_t[]){1, 2}, 3);
	assert_int_equal(open_range(fixture, 0), 0);
	assert_int_equal(fixture->group->base, 4096 + VOLUMES_AT);
	assert_int_equal(check_all(fixture->group, text), 0);
	assert_int_equal(open_range(fixture, RANGE_BYTES), 0);
	write_range(fixture, (const uint64_t[]){3, 2}, 3); /* the empty one is newer */
	assert_int_equal(open_range(fixture, 0), -ENOENT);
	write_range(fixture, (const uint64_t[]){3, 2}, 2);
	assert_int_equal(open_range(fixture, 0), 0);
	write_range(fixture, (const uint64_t[]){3, 2}, 0);
	assert_int_equal(open_range(fixture, 0), -EBADMSG);
	assert_non_null(strstr(fixture->text, "catalog"));
	assert_int_equal(open_range(fixture, RANGE_BYTES - 4096), -EBADMSG);
	assert_int_equal(open_range(fixture, RANGE_BYTES + 4096), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_group_is_found_with_numel_dtype_shape_and_bytes),
		TEST(the_highest_valid_generation_counts_wherever_it_is),
		TEST(a_torn_newer_manifest_leaves_the_older_one),
		TEST(every_algorithm_finds_the_flipped_bit_and_none_does_not),
		TEST(padding_that_is_not_zero_is_damage),
		TEST(a_torn_tail_is_damage_of_the_tensors_in_it),
		TEST(what_is_not_there_is_told_apart_from_what_is_damaged),
		TEST(a_first_manifest_that_was_torn_is_nothing),
		TEST(a_manifest_that_is_damaged_beside_another_record_is_damage),
		TEST(a_head_that_is_not_there_is_damage),
		TEST(a_volume_of_another_store_is_foreign),
		TEST(a_volume_under_the_name_of_another_is_refused),
		TEST(a_manifest_that_cannot_be_is_refused_though_its_sum_is_right),
		TEST(two_tensors_of_one_name_are_refused),
		TEST(a_head_that_cannot_be_is_refused),
		TEST(what_a_seal_says_was_committed_is_missed),
		TEST(a_range_is_read_by_the_newer_of_its_valid_catalogs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
