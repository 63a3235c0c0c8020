/* SPDX-License-Identifier: MIT */
/*
 * test_reader_crash_store.c - what a loss of power may leave of a store: one generation whole, the
 * last that was durable or a later one that was begun. Anything else is found.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reader.h"
#include "swap_fixture.h"

#define WRITES_MAX 32

/* Told of all tensors at once, as a swap-out of the group is. */
static void told(struct fixture *fixture, uint32_t generation, bool durable)
{
	static struct outcome_write writes[WRITES_MAX];
	const struct workload *workload = &fixture->it->test_case.workload;
	struct outcome *outcome = &fixture->it->outcome;

	outcome->writes = writes;
	for (unsigned i = 0; i < workload->tensors_count; i++) {
		assert_true(outcome->writes_count < WRITES_MAX);
		writes[outcome->writes_count++] = (struct outcome_write){
			i, generation, tensor_bytes(&workload->tensors[i]), false, durable};
	}
}

/* As a removal of the group is told. */
static void told_gone(struct fixture *fixture, uint32_t generation, bool durable)
{
	struct outcome *outcome = &fixture->it->outcome;
	unsigned first = outcome->writes_count;

	told(fixture, generation, durable);
	for (unsigned i = first; i < outcome->writes_count; i++) {
		outcome->writes[i].gone = true;
		outcome->writes[i].length = 0;
	}
}

static int crash_set_up(void **state)
{
	set_up(state);
	told(*state, 1, false);
	told(*state, 1, true);
	told(*state, 2, false);
	return 0;
}

static int crash_tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->it->outcome.writes = NULL;
	fixture->it->outcome.writes_count = 0;
	return tear_down(state);
}

/* Generation 1 is durable, 2 was begun. @kept: what every tensor is known to hold then. */
static void check(struct fixture *fixture, uint32_t kept)
{
	struct wire_kept known[WIRE_TENSORS_MAX] = {0};
	struct reader_job job = {.work_dir = fixture->directory,
				 .workload = &fixture->it->test_case.workload,
				 .outcome = &fixture->it->outcome,
				 .seed = SEED,
				 .after = "the crash"};

	fixture->it->result.findings_count = 0;
	reader_check_crash(&job, EXPECT_DATA_EXACT, known, &fixture->it->result);
	for (unsigned i = 0; i < job.workload->tensors_count; i++)
		if (kept && tensor_bytes(&job.workload->tensors[i]))
			assert_int_equal(known[i].stored, kept);
}

static void check_right(struct fixture *fixture, uint32_t kept)
{
	check(fixture, kept);
	if (fixture->it->result.findings_count)
		fail_msg("'%s'", fixture->it->result.findings[0].text);
}

static void check_wrong(struct fixture *fixture, const char *oracle, const char *words)
{
	check(fixture, 0);
	found(fixture, oracle, words);
}

static unsigned char *slot_of(struct fixture *fixture, unsigned slot)
{
	return fixture->volume + IMAGE_UNIT + slot * (size_t)IMAGE_SLOT_BYTES;
}

/* Bytes of a tensor, in the place of this generation. */
static unsigned char *data_of(struct fixture *fixture, unsigned tensor, unsigned generation)
{
	return fixture->volume + IMAGE_UNIT + 2 * (size_t)IMAGE_SLOT_BYTES +
	       generation % 2 * (size_t)IMAGE_PLACE_BYTES + tensors()[tensor].offset;
}

static void keep_bytes(unsigned tensor, uint64_t generation, unsigned char *data, uint64_t bytes)
{
	(void)tensor;
	(void)generation;
	(void)data;
	(void)bytes;
}

/* The sums of what is there, whatever it is. */
static void make_manifest_fit(struct fixture *fixture, uint64_t generation)
{
	struct image_group adam = image_adam(generation);

	adam.fill = keep_bytes;
	image_generation(fixture->volume, &adam);
	write_volume(fixture);
}

static void remove_volume(const struct fixture *fixture)
{
	char name[64], path[192];

	volume_name(name);
	snprintf(path, sizeof(path), "%s/store/%s", fixture->directory, name);
	assert_int_equal(unlink(path), 0);
}

static void the_durable_generation_is_right_and_so_is_one_that_was_begun(void **state)
{
	struct fixture *fixture = *state;

	check_right(fixture, 1);
	make_generation(fixture, 2);
	write_volume(fixture);
	check_right(fixture, 2);
	told(fixture, 2, true);
	check_right(fixture, 2);
}

static void a_generation_that_was_reported_is_missed(void **state)
{
	struct fixture *fixture = *state;

	told(fixture, 2, true);
	check_wrong(fixture, "data", "hold generation 1");
	remove_volume(fixture);
	check_wrong(fixture, "data", "nothing is stored; generation 2 was made durable");
}

/* Before the first commit was reported nothing need be there, nor a store. */
static void nothing_is_right_where_nothing_was_reported(void **state)
{
	struct fixture *fixture = *state;

	fixture->it->outcome.writes_count = 0;
	told(fixture, 1, false);
	check_right(fixture, 1);
	remove_volume(fixture);
	check_right(fixture, 0);
	write_file(fixture->directory, "swapio.store", "", 0);
	check_wrong(fixture, "medium", "cut");
}

/* Until it was reported the newest generation may be there, too, and no older one. */
static void a_removal_leaves_the_newest_generation_or_nothing(void **state)
{
	struct fixture *fixture = *state;

	told(fixture, 2, true);
	told_gone(fixture, 3, false);
	check_wrong(fixture, "data", "hold generation 1");
	make_generation(fixture, 2);
	write_volume(fixture);
	check_right(fixture, 2);
	remove_volume(fixture);
	check_right(fixture, 0);
}

static void a_group_that_was_removed_for_good_may_not_come_back(void **state)
{
	struct fixture *fixture = *state;

	told_gone(fixture, 2, false);
	told_gone(fixture, 2, true);
	check_wrong(fixture, "data",
		    "hold generation 1: lost write; group optimizer was removed for good");
	remove_volume(fixture);
	check_right(fixture, 0);
}

/* A later generation of other lengths was begun, or replaced a longer one. */
static void a_generation_is_whole_whatever_the_length_of_others(void **state)
{
	struct fixture *fixture = *state;
	struct outcome *outcome = &fixture->it->outcome;

	for (unsigned i = 0; i < outcome->writes_count; i++)
		if (outcome->writes[i].generation == 2)
			outcome->writes[i].length *= 2;
	check_right(fixture, 1);
	told(fixture, 3, true);
	make_generation(fixture, 3);
	write_volume(fixture);
	check_right(fixture, 3);
	told(fixture, 4, true);
	for (unsigned i = 0; i < outcome->writes_count; i++)
		if (outcome->writes[i].generation == 4)
			outcome->writes[i].length *= 2;
	check_wrong(fixture, "data", "hold generation 3: lost write; generation 4 was");
}

static void what_was_swapped_out_behind_a_removal_is_missed(void **state)
{
	struct fixture *fixture = *state;

	told_gone(fixture, 2, true);
	told(fixture, 3, false);
	told(fixture, 3, true);
	remove_volume(fixture);
	check_wrong(fixture, "data", "nothing is stored; generation 3 was made durable");
}

static void tensors_of_two_generations_are_a_mixture(void **state)
{
	struct fixture *fixture = *state;

	make_generation(fixture, 2);
	memcpy(data_of(fixture, 0, 2), data_of(fixture, 0, 1), 4);
	make_manifest_fit(fixture, 2);
	check_wrong(fixture, "data", "holds generation 2, and tensor step generation 1");
}

static void half_of_a_tensor_is_a_mixture(void **state)
{
	struct fixture *fixture = *state;

	make_generation(fixture, 2);
	memcpy(data_of(fixture, 1, 2) + 4096, data_of(fixture, 1, 1) + 4096, 4096);
	make_manifest_fit(fixture, 2);
	check_wrong(fixture, "data",
		    "tensor exp_avg is a mixture: generation 2, and from byte 4096 on "
		    "generation 1");
}

static void sums_that_do_not_fit_are_damage_of_the_medium(void **state)
{
	struct fixture *fixture = *state;

	make_generation(fixture, 2);
	memcpy(data_of(fixture, 0, 2), data_of(fixture, 0, 1), 4);
	memcpy(data_of(fixture, 1, 2), data_of(fixture, 1, 1), 12000);
	memcpy(data_of(fixture, 3, 2), data_of(fixture, 3, 1), 12288);
	write_volume(fixture);
	check_wrong(fixture, "medium", "tensor step, bytes 0-3 of the store");
}

static void a_manifest_that_is_damaged_is_found(void **state)
{
	struct fixture *fixture = *state;

	slot_of(fixture, 1)[100] ^= 1;
	write_volume(fixture);
	check_wrong(fixture, "medium", "after the crash: ");
}

/* A tensor of no bytes cannot be lost, one that the group has not can. */
static void a_tensor_that_is_not_in_the_group_is_missed(void **state)
{
	struct fixture *fixture = *state;
	struct workload *workload = &fixture->it->test_case.workload;

	snprintf(workload->tensors[2].name, sizeof(workload->tensors[2].name), "none");
	check_right(fixture, 1);
	snprintf(workload->tensors[3].name, sizeof(workload->tensors[3].name), "other");
	check_wrong(fixture, "data", "the group has no such tensor");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, crash_set_up, crash_tear_down)
		TEST(the_durable_generation_is_right_and_so_is_one_that_was_begun),
		TEST(a_generation_that_was_reported_is_missed),
		TEST(nothing_is_right_where_nothing_was_reported),
		TEST(a_removal_leaves_the_newest_generation_or_nothing),
		TEST(a_group_that_was_removed_for_good_may_not_come_back),
		TEST(a_generation_is_whole_whatever_the_length_of_others),
		TEST(what_was_swapped_out_behind_a_removal_is_missed),
		TEST(tensors_of_two_generations_are_a_mixture),
		TEST(half_of_a_tensor_is_a_mixture),
		TEST(sums_that_do_not_fit_are_damage_of_the_medium),
		TEST(a_manifest_that_is_damaged_is_found),
		TEST(a_tensor_that_is_not_in_the_group_is_missed),
#undef TEST
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
