/* SPDX-License-Identifier: MIT */
/*
 * test_pattern.c - data that says where it comes from, and what a checker makes of it when it is
 * wrong.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "pattern.h"

#define BYTES 16384u
/* Instruction by instruction under an emulator: no rate can be asked for. */
#define RUNNING_SLOWLY (getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "vgpreload"))

static const struct pattern first = {.seed = 1, .tensor = 0, .generation = 1};
static const struct pattern second = {.seed = 1, .tensor = 0, .generation = 2};
static const struct pattern other = {.seed = 1, .tensor = 1, .generation = 2};
static const char *const names[] = {"exp_avg", "exp_avg_sq"};
static char memory[BYTES + 64];

static struct pattern_finding check(const struct pattern *pattern, uint64_t offset,
				    const char *seen, size_t bytes)
{
	struct pattern_finding finding;

	assert_int_equal(pattern_check(pattern, offset, seen, bytes, names, 2, &finding), 1);
	return finding;
}

static void any_slice_is_the_same_as_in_the_whole(void **state)
{
	char slice[2000];
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&second, 0, memory, BYTES);
	for (uint64_t offset = 0; offset < 1100; offset += 37) {
		for (size_t bytes = 0; bytes < sizeof(slice); bytes += 111) {
			pattern_fill(&second, offset, slice, bytes);
			assert_memory_equal(slice, memory + offset, bytes);
			assert_int_equal(pattern_check(&second, offset, slice, bytes, names, 2,
						       &finding),
					 0);
		}
	}
}

static void filling_stays_inside_its_range(void **state)
{
	(void)state;
	memset(memory, 7, sizeof(memory));
	pattern_fill(&first, 5, memory + 1, 1000);
	assert_int_equal(memory[0], 7);
	assert_int_equal(memory[1001], 7);
}

static void every_generation_tensor_and_seed_differs_in_every_cell(void **state)
{
	struct pattern foreign = {.seed = 2, .tensor = 0, .generation = 2};
	const struct pattern *others[] = {&first, &other, &foreign};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct pattern_finding finding;

		pattern_fill(others[i], 0, memory, BYTES);
		finding = check(&second, 0, memory, BYTES);
		assert_true(finding.begin < 16);
		assert_true(finding.end > BYTES - 16);
		assert_true(finding.bad_bytes > BYTES * 9 / 10);
	}
}

static void an_old_generation_is_a_lost_write_with_its_range(void **state)
{
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&second, 0, memory, BYTES);
	pattern_fill(&first, 4096, memory + 4096, 4096);
	finding = check(&second, 0, memory, BYTES);
	assert_true(finding.begin >= 4096 && finding.begin < 4096 + 16);
	assert_true(finding.end <= 8192 && finding.end > 8192 - 16);
	assert_string_equal(finding.story, "hold generation 1: lost write");
}

static void poison_means_never_written(void **state)
{
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&second, 0, memory, BYTES);
	pattern_poison(memory + BYTES - 700, 700);
	finding = check(&second, 0, memory, BYTES);
	assert_int_equal(finding.end, BYTES);
	assert_string_equal(finding.story, "were never written (poison)");
}

static void zeros_are_called_zeros(void **state)
{
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&second, 0, memory, BYTES);
	memset(memory + 512, 0, 512);
	finding = check(&second, 0, memory, BYTES);
	assert_string_equal(finding.story, "hold zeros");
}

static void another_tensors_bytes_name_that_tensor(void **state)
{
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&second, 0, memory, BYTES);
	pattern_fill(&other, 8192, memory + 4096, 512);
	finding = check(&second, 0, memory, BYTES);
	/* The first bytes of a cell may be equal by chance; the place is told where the run begins.
	 */
	assert_non_null(strstr(finding.story, "hold tensor exp_avg_sq at 819"));
	assert_non_null(strstr(finding.story, ": misdirected"));
}

static void shifted_bytes_tell_by_how_much(void **state)
{
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&second, 0, memory, BYTES);
	pattern_fill(&second, 1001, memory + 1000, 5000);
	finding = check(&second, 0, memory, BYTES);
	assert_non_null(strstr(finding.story, ": shifted by 1"));
	pattern_fill(&second, 0, memory, BYTES);
	pattern_fill(&second, 1000 - 512, memory + 1000, 5000);
	finding = check(&second, 0, memory, BYTES);
	assert_non_null(strstr(finding.story, ": shifted by -512"));
}

static void one_flipped_bit_is_found_at_its_byte(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < BYTES; byte += 997) {
		struct pattern_finding finding;
		char story[64];

		pattern_fill(&second, 100, memory, BYTES);
		memory[byte] ^= 0x10;
		finding = check(&second, 100, memory, BYTES);
		assert_int_equal(finding.begin, 100 + byte);
		assert_int_equal(finding.end, 100 + byte + 1);
		assert_int_equal(finding.bad_bytes, 1);
		snprintf(story, sizeof(story), "one bit of byte %u flipped", 100 + byte);
		assert_string_equal(finding.story, story);
	}
}

static void a_tail_of_four_bytes_knows_its_generation(void **state)
{
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&first, 0, memory, 4);
	finding = check(&second, 0, memory, 4);
	assert_string_equal(finding.story, "hold generation 1: lost write");
}

static void only_the_first_run_is_placed_and_all_bytes_are_counted(void **state)
{
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&second, 0, memory, BYTES);
	memory[600] ^= 1;
	memory[9000] ^= 1;
	memory[9001] ^= 1;
	finding = check(&second, 0, memory, BYTES);
	assert_int_equal(finding.begin, 600);
	assert_int_equal(finding.end, 601);
	assert_int_equal(finding.bad_bytes, 3);
}

static void bytes_of_nobody_are_said_to_be_so(void **state)
{
	struct pattern_finding finding;

	(void)state;
	pattern_fill(&second, 0, memory, BYTES);
	for (unsigned i = 0; i < 512; i++)
		memory[1024 + i] = (char)(i * 7 + 3);
	finding = check(&second, 0, memory, BYTES);
	assert_string_equal(finding.story, "hold bytes of no tensor");
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The states of the first bug report are 91 MB each: the check may not be what takes the time. */
static void filling_and_checking_pass_two_gibibytes_a_second(void **state)
{
	const size_t bytes = 32u << 20;
	struct pattern_finding finding;
	char *large = malloc(bytes);
	double best = 0;

	(void)state;
	assert_non_null(large);
	for (unsigned round = 0; round < 5; round++) {
		double begin, rate;

		pattern_fill(&second, 0, large, bytes);
		begin = seconds_now();
		assert_int_equal(pattern_check(&second, 0, large, bytes, NULL, 0, &finding), 0);
		rate = (double)bytes / (seconds_now() - begin);
		best = rate > best ? rate : best;
	}
	free(large);
	print_message("pattern_check: %.1f GB/s\n", best / 1e9);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(best > (double)(UINT64_C(2) << 30) || RUNNING_SLOWLY);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_slice_is_the_same_as_in_the_whole),
		cmocka_unit_test(filling_stays_inside_its_range),
		cmocka_unit_test(every_generation_tensor_and_seed_differs_in_every_cell),
		cmocka_unit_test(an_old_generation_is_a_lost_write_with_its_range),
		cmocka_unit_test(poison_means_never_written),
		cmocka_unit_test(zeros_are_called_zeros),
		cmocka_unit_test(another_tensors_bytes_name_that_tensor),
		cmocka_unit_test(shifted_bytes_tell_by_how_much),
		cmocka_unit_test(one_flipped_bit_is_found_at_its_byte),
		cmocka_unit_test(a_tail_of_four_bytes_knows_its_generation),
		cmocka_unit_test(only_the_first_run_is_placed_and_all_bytes_are_counted),
		cmocka_unit_test(bytes_of_nobody_are_said_to_be_so),
		cmocka_unit_test(filling_and_checking_pass_two_gibibytes_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
