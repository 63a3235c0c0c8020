/* SPDX-License-Identifier: MIT */
/*
 * test_reader_look.c - what the second reader takes down of a store that is being verified, and how
 * the worker's words about it are read.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/stat.h>

#include "reader.h"
#include "store_image.h"
#include "store_reader.h"

#define PLACE_AT(place) (IMAGE_UNIT + 2 * IMAGE_SLOT_BYTES + (place)*IMAGE_PLACE_BYTES)
#define GENERATION 1u
#define PATH_BYTES 256u

struct looked { /* a case with one generation of Adam's states in its store */
	char work_dir[64], record[PATH_BYTES], volume[PATH_BYTES], note[PATH_BYTES];
	unsigned char bytes[IMAGE_VOLUME_BYTES];
	struct workload workload;
	struct outcome outcome;
	struct outcome_verify verify;
	struct store_look look;
};

static void write_file(const char *path, const void *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

static int set_up(void **state)
{
	struct looked *it = calloc(1, sizeof(*it));
	struct image_group adam = image_adam(GENERATION);
	unsigned char record[IMAGE_UNIT];
	char store[PATH_BYTES - 64];

	assert_non_null(it);
	snprintf(it->work_dir, sizeof(it->work_dir), "/tmp/test_reader_look.XXXXXX");
	assert_non_null(mkdtemp(it->work_dir));
	snprintf(store, sizeof(store), "%s/store", it->work_dir);
	assert_int_equal(mkdir(store, 0700), 0);
	snprintf(it->record, sizeof(it->record), "%s/swapio.store", store);
	snprintf(it->note, sizeof(it->note), "%s/note", store);
	snprintf(it->volume, sizeof(it->volume), "%s/%016" PRIx64 "-1.vol", store,
		 (uint64_t)XXH64("optimizer", 9, 0));
	image_record(record, 0);
	image_head(it->bytes, "optimizer", 1);
	image_generation(it->bytes, &adam);
	write_file(it->record, record, sizeof(record));
	write_file(it->volume, it->bytes, sizeof(it->bytes));
	workload_defaults(&it->workload);
	it->verify = (struct outcome_verify){.place = "store"};
	it->outcome.verifies = &it->verify;
	it->outcome.verifies_count = 1;
	*state = it;
	return 0;
}

static int tear_down(void **state)
{
	struct looked *it = *state;
	char store[PATH_BYTES];

	snprintf(store, sizeof(store), "%s/store", it->work_dir);
	unlink(it->record);
	unlink(it->volume);
	unlink(it->note);
	assert_int_equal(rmdir(store), 0);
	assert_int_equal(rmdir(it->work_dir), 0);
	free(it);
	return 0;
}

static void look(struct looked *it, bool before)
{
	struct reader_job job = {
		.work_dir = it->work_dir,
		.workload = &it->workload,
		.outcome = &it->outcome,
		.look = &it->look,
		.before = before,
	};

	if (before)
		memset(&it->look, 0, sizeof(it->look));
	reader_look(&job);
}

/* Change a byte of a tensor of the image. */
static void flip(struct looked *it, unsigned tensor, uint64_t offset)
{
	struct image_group adam = image_adam(GENERATION);

	it->bytes[PLACE_AT(adam.tensors[tensor].place) + adam.tensors[tensor].offset + offset] ^= 1;
	write_file(it->volume, it->bytes, sizeof(it->bytes));
}

static void assert_range(const struct looked *it, unsigned index, unsigned tensor, uint64_t offset,
			 uint64_t length)
{
	assert_true(index < it->look.ranges_count);
	assert_int_equal(it->look.ranges[index].tensor, tensor);
	assert_int_equal(it->look.ranges[index].offset, offset);
	assert_int_equal(it->look.ranges[index].length, length);
}

static void a_whole_store_is_taken_down_with_its_tensors(void **state)
{
	struct looked *it = *state;

	look(it, true);
	look(it, false);
	assert_int_equal(it->look.error, 0);
	assert_int_equal(it->look.sum_before, it->look.sum_after);
	assert_true(it->look.sum_before != 0);
	assert_int_equal(it->look.ranges_count, 0);
	assert_int_equal(it->look.tensors_count, 4);
	assert_int_equal(it->look.chunk_bytes, 4096);
	assert_string_equal(it->look.tensors[3].name, "exp_avg_sq");
	assert_int_equal(it->look.tensors[1].bytes, 12000);
	assert_int_equal(it->look.tensors[1].begin, PLACE_AT(1) + 4096);
	assert_int_equal(it->look.tensors[1].end, PLACE_AT(1) + 4096 + 3 * 4096);
}

static void damage_is_taken_down_by_the_chunk_and_neighbours_joined(void **state)
{
	struct looked *it = *state;

	look(it, true);
	flip(it, 0, 3);
	flip(it, 1, 4096);
	flip(it, 1, 11999);
	flip(it, 3, 0);
	look(it, false);
	assert_int_equal(it->look.ranges_count, 3);
	assert_range(it, 0, 0, 0, 4);
	assert_range(it, 1, 1, 4096, 12000 - 4096);
	assert_range(it, 2, 3, 0, 4096);
}

/* The library need not tell of it: nothing was stored there. */
static void damage_in_padding_is_none(void **state)
{
	struct looked *it = *state;

	look(it, true);
	flip(it, 1, 12000);
	look(it, false);
	assert_int_equal(it->look.ranges_count, 0);
}

static void a_group_that_cannot_be_read_is_taken_down_with_the_reason(void **state)
{
	struct looked *it = *state;

	look(it, true);
	it->bytes[IMAGE_UNIT + IMAGE_SLOT_BYTES + 40] ^= 1;
	write_file(it->volume, it->bytes, sizeof(it->bytes));
	look(it, false);
	assert_int_equal(it->look.error, -EBADMSG);
	assert_int_equal(it->look.tensors_count, 0);
	assert_true(it->look.text[0] != '\0');
	unlink(it->volume);
	look(it, false);
	assert_int_equal(it->look.error, -ENOENT);
	unlink(it->record);
	look(it, false);
	assert_int_equal(it->look.error, -EBADMSG);
}

static void the_store_that_was_verified_is_the_one_that_is_read(void **state)
{
	struct looked *it = *state;

	snprintf(it->verify.place, sizeof(it->verify.place), "other");
	look(it, true);
	look(it, false);
	assert_int_equal(it->look.error, -EBADMSG);
	assert_non_null(strstr(it->look.text, "/other"));
}

static void every_change_of_a_file_changes_the_sum(void **state)
{
	struct looked *it = *state;
	uint64_t sums[5];

	look(it, true);
	sums[0] = it->look.sum_before;
	it->bytes[sizeof(it->bytes) - 1] ^= 1; /* in a place that nothing is in */
	write_file(it->volume, it->bytes, sizeof(it->bytes));
	look(it, true);
	sums[1] = it->look.sum_before;
	write_file(it->note, "", 0);
	look(it, true);
	sums[2] = it->look.sum_before;
	assert_int_equal(chmod(it->note, 0640), 0);
	look(it, true);
	sums[3] = it->look.sum_before;
	assert_int_equal(truncate(it->note, 4096), 0);
	look(it, true);
	sums[4] = it->look.sum_before;
	for (unsigned i = 0; i < 5; i++)
		for (unsigned k = 0; k < i; k++)
			assert_true(sums[i] != sums[k]);
	unlink(it->note);
	it->bytes[sizeof(it->bytes) - 1] ^= 1;
	write_file(it->volume, it->bytes, sizeof(it->bytes));
	look(it, true);
	assert_int_equal(it->look.sum_before, sums[0]);
}

static void a_case_pauses_around_a_verify_whatever_comes_later(void **state)
{
	struct looked *it = *state;

	it->workload.store.used = true;
	it->workload.steps_count = 3;
	step_defaults(&it->workload.steps[0], STEP_SWAP_OUT);
	step_defaults(&it->workload.steps[1], STEP_VERIFY);
	step_defaults(&it->workload.steps[2], STEP_SWAP_IN);
	assert_int_equal(reader_pause_steps(&it->workload), 1u << 1);
}

static void say(struct wire_outcome *said, const char *line)
{
	size_t length = strlen(line);

	memcpy(said->text + said->used, line, length);
	said->used += length;
}

/* Each verify has the damage that was told since the one before it ended, or died. */
static void what_is_told_of_damage_belongs_to_its_verify(void **state)
{
	struct wire_outcome *said = calloc(1, sizeof(*said) + 4096);
	struct outcome outcome = {0};

	(void)state;
	assert_non_null(said);
	say(said, "{\"k\":\"damage\",\"step\":1,\"group\":\"g\",\"named\":1,\"name\":\"a\","
		  "\"offset\":4096,\"length\":10,\"error\":74,\"text\":\"why\"}\n");
	say(said, "{\"k\":\"damage\",\"step\":1,\"group\":\"g\",\"named\":0,\"error\":5}\n");
	say(said, "{\"k\":\"verify\",\"step\":1,\"call\":\"verify\",\"place\":\"store\","
		  "\"error\":74,\"text\":\"damaged\"}\n");
	say(said, "{\"k\":\"damage\",\"step\":2,\"group\":\"g\",\"named\":0,\"error\":5}\n");
	assert_int_equal(outcome_read(&outcome, said), 0);
	outcome_next_process(&outcome);
	say(said, "{\"k\":\"verify\",\"step\":4,\"call\":\"verify\",\"place\":\"other\","
		  "\"error\":0,\"text\":\"\"}\n");
	assert_int_equal(outcome_read(&outcome, said), 0);
	assert_int_equal(outcome.damages_count, 3);
	assert_true(outcome.damages[0].named);
	assert_string_equal(outcome.damages[0].group, "g");
	assert_string_equal(outcome.damages[0].tensor, "a");
	assert_int_equal(outcome.damages[0].offset, 4096);
	assert_int_equal(outcome.damages[0].length, 10);
	assert_int_equal(outcome.damages[0].error, EBADMSG);
	assert_false(outcome.damages[1].named);
	assert_int_equal(outcome.verifies_count, 2);
	assert_int_equal(outcome.verifies[0].damages_count, 2);
	assert_int_equal(outcome.verifies[0].error, EBADMSG);
	assert_string_equal(outcome.verifies[1].place, "other");
	assert_int_equal(outcome.verifies[1].step, 4);
	assert_int_equal(outcome.verifies[1].damages_count, 0);
	assert_int_equal(outcome.calls_count, 2);
	assert_string_equal(outcome.calls[0].call, "verify");
	assert_int_equal(outcome.calls[0].error, EBADMSG);
	outcome_free(&outcome);
	free(said);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_store_is_taken_down_with_its_tensors),
		TEST(damage_is_taken_down_by_the_chunk_and_neighbours_joined),
		TEST(damage_in_padding_is_none),
		TEST(a_group_that_cannot_be_read_is_taken_down_with_the_reason),
		TEST(the_store_that_was_verified_is_the_one_that_is_read),
		TEST(every_change_of_a_file_changes_the_sum),
		TEST(a_case_pauses_around_a_verify_whatever_comes_later),
		TEST(what_is_told_of_damage_belongs_to_its_verify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
