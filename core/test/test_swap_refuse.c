/* SPDX-License-Identifier: MIT */
/*
 * test_swap_refuse.c - a swap that does not fit what is stored, or cannot be at all, is refused
 * with both values, before a byte of memory or of what is stored changes.
 */
#include "swap_helpers.h"

static const uint64_t shape[] = {100, 30};
static struct swapio_tensor stored[3];
static struct memory memory;

/* Generation 3 of three tensors is stored as group "adam". */
static int setup(void **state)
{
	struct swapio_group *group;

	(void)state;
	begin(1, 1);
	stored[0] = tensor_of("step", 1, 4);
	stored[1] = tensor_of("exp_avg", 3000, 4);
	stored[1].dtype = "fp32";
	stored[1].dims = 2;
	stored[1].shape = shape;
	stored[2] = tensor_of("exp_avg_sq", 3000, 4);
	group = open_group("adam", stored, 3);
	memory_make(&memory, stored, 3, 0);
	for (unsigned i = 1; i <= 3; i++) {
		memory_fill(&memory, i);
		swap_out_ok(group, memory.mem);
	}
	assert_int_equal(swapio_group_close(group), 0);
	return 0;
}

static int teardown(void **state)
{
	struct swapio_group *group = open_group("adam", stored, 3);

	(void)state;
	memory_poison(&memory);
	assert_int_equal(swap_in_ok(group, memory.mem).generation, 3);
	assert_memory_holds(&memory, 3);
	assert_int_equal(swapio_group_close(group), 0);
	memory_free(&memory);
	end();
	return 0;
}

/* Nothing is written into memory by a swap that is refused. */
static void assert_swap_in_refused(const struct swapio_tensor *asked, unsigned count,
				   unsigned tensor, const char *text)
{
	struct swapio_group *group = open_group("adam", asked, count);
	struct swapio_swap_result result;
	struct memory mine;

	memory_make(&mine, asked, count, 0);
	result = run(group, SWAPIO_SWAP_IN, mine.mem);
	assert_failed(&result, -EINVAL, SWAPIO_SWAP_MISMATCH, text);
	assert_int_equal(result.tensor, tensor);
	assert_int_equal(result.generation, 3);
	assert_int_equal(result.bytes, 0);
	for (unsigned i = 0; i < count; i++)
		for (size_t j = 0; j < mine.bytes[i]; j++)
			assert_int_equal(((unsigned char *)mine.mem[i])[j], POISON);
	memory_free(&mine);
	assert_int_equal(swapio_group_close(group), 0);
}

static void the_number_of_tensors_must_be_right(void **state)
{
	(void)state;
	assert_swap_in_refused(stored, 2, UINT_MAX,
			       "group adam: number of tensors: stored is 3, asked for is 2");
}

/* The mismatch of the report that this project began with: the scalar is taken for a tensor. */
static void the_numel_of_each_tensor_must_be_right(void **state)
{
	struct swapio_tensor asked[] = {stored[0], stored[1], stored[2]};

	(void)state;
	asked[0].numel = 3000;
	assert_swap_in_refused(
		asked, 3, 0, "group adam, tensor 0 (step): numel: stored is 1, asked for is 3000");
}

static void numels_beyond_32_bits_are_compared_whole(void **state)
{
	struct swapio_tensor asked[] = {stored[0], stored[1], stored[2]};
	struct swapio_group *group;
	struct swapio_swap_result result;
	char byte;
	void *mem[] = {&byte, &byte, &byte};

	(void)state;
	asked[2].numel = 3000 + (UINT64_C(1) << 32);
	group = open_group("adam", asked, 3);
	result = run(group, SWAPIO_SWAP_IN, mem);
	assert_failed(&result, -EINVAL, SWAPIO_SWAP_MISMATCH,
		      "group adam, tensor 2 (exp_avg_sq): numel: stored is 3000, asked for is "
		      "4294970296");
	assert_int_equal(swapio_group_close(group), 0);
}

static void the_element_size_must_be_right(void **state)
{
	struct swapio_tensor asked[] = {stored[0], stored[1], stored[2]};

	(void)state;
	asked[2].element_bytes = 2;
	assert_swap_in_refused(asked, 3, 2,
			       "group adam, tensor 2 (exp_avg_sq): element_bytes: stored is 4, "
			       "asked for is 2");
}

static void the_element_type_must_be_right_where_both_say_one(void **state)
{
	struct swapio_tensor asked[] = {stored[0], stored[1], stored[2]};

	(void)state;
	asked[1].dtype = "int32";
	assert_swap_in_refused(asked, 3, 1,
			       "group adam, tensor 1 (exp_avg): dtype: stored is fp32, asked for "
			       "is int32");
}

static void the_shape_must_be_right_where_both_say_one(void **state)
{
	const uint64_t turned[] = {30, 100};
	struct swapio_tensor asked[] = {stored[0], stored[1], stored[2]};

	(void)state;
	asked[1].shape = turned;
	assert_swap_in_refused(asked, 3, 1,
			       "group adam, tensor 1 (exp_avg): shape: stored is [100, 30], asked "
			       "for is [30, 100]");
}

static void the_order_must_be_right(void **state)
{
	struct swapio_tensor asked[] = {stored[0], stored[2], stored[1]};

	(void)state;
	assert_swap_in_refused(asked, 3, 1,
			       "group adam, tensor 1 (exp_avg_sq): name: stored is exp_avg, asked "
			       "for is exp_avg_sq");
}

static void the_generation_must_be_the_one_asked_for(void **state)
{
	struct swapio_group *group = open_group("adam", stored, 3);
	struct swapio_swap swap = swap_of(group, SWAPIO_SWAP_IN, memory.mem);
	struct swapio_swap_result result;

	(void)state;
	for (uint64_t generation = 2; generation <= 4; generation += 2) {
		char text[100];

		snprintf(text, sizeof(text),
			 "group adam: generation %u was asked for, and 3 is stored",
			 (unsigned)generation);
		swap.generation = generation;
		result = run_swap(&swap);
		assert_failed(&result, -ESTALE, SWAPIO_SWAP_GENERATION, text);
		assert_int_equal(result.generation, 3);
	}
	swap.generation = 3;
	result = run_swap(&swap);
	assert_good(&result);
	assert_int_equal(swapio_group_close(group), 0);
}

static void nothing_stored_is_said_so(void **state)
{
	struct swapio_group *group = open_group("new", stored, 3);
	struct swapio_swap swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
	struct swapio_swap_result result = run(group, SWAPIO_SWAP_IN, memory.mem);

	(void)state;
	assert_failed(&result, -ENOENT, SWAPIO_SWAP_MISSING, "group new: nothing is stored");
	assert_int_equal(result.generation, 0);
	swap.count = 1;
	result = run_swap(&swap);
	assert_failed(&result, -ENOENT, SWAPIO_SWAP_MISSING,
		      "group new: nothing is stored, so the first swap-out must be of all tensors");
	assert_int_equal(swapio_group_generation(group), 0);
	assert_int_equal(swapio_group_close(group), 0);
}

static void a_part_is_not_swapped_out_into_other_tensors(void **state)
{
	struct swapio_tensor asked[] = {stored[0], stored[1], stored[2]};
	struct swapio_group *group;
	struct swapio_swap swap;
	struct swapio_swap_result result;

	(void)state;
	asked[2].numel = 2999;
	group = open_group("adam", asked, 3);
	swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
	swap.count = 1;
	result = run_swap(&swap);
	assert_failed(&result, -EINVAL, SWAPIO_SWAP_MISMATCH,
		      "group adam, tensor 2 (exp_avg_sq): numel: stored is 3000, asked for is "
		      "2999; generation 3 is still stored");
	assert_int_equal(swapio_group_close(group), 0);
}

static void assert_start_refused(const struct swapio_swap *swap, int code, const char *text)
{
	struct swapio_error error = {0};
	swapio_swap_id id = 77;

	assert_int_equal(swapio_swap_start(swap, &error, &id), code);
	assert_string_equal(error.text, text);
	assert_int_equal(error.code, code);
	assert_int_equal(swapio_swap_start(swap, NULL, &id), code);
	assert_int_equal(id, 77);
}

static void what_is_no_swap_is_refused_at_once(void **state)
{
	struct swapio_group *group = open_group("adam", stored, 3);
	const struct swapio_swap good = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
	void *none[] = {memory.mem[0], NULL, memory.mem[2]};
	struct swapio_swap swap = good;
	char text[100];

	(void)state;
	swap.size_bytes = 8;
	snprintf(text, sizeof(text), "size_bytes of the swap is 8, allowed: %zu", sizeof(swap));
	assert_start_refused(&swap, -EINVAL, text);
	swap = good;
	swap.op = (enum swapio_swap_op)7;
	assert_start_refused(&swap, -EINVAL, "op is 7, allowed: 0 (in) and 1 (out)");
	swap = good;
	swap.first = 3;
	assert_start_refused(&swap, -EINVAL,
			     "group adam has 3 tensors, and 0 from index 3 were asked for");
	swap.first = 1;
	swap.count = UINT_MAX;
	assert_start_refused(
		&swap, -EINVAL,
		"group adam has 3 tensors, and 4294967295 from index 1 were asked for");
	swap = good;
	swap.generation = 4;
	assert_start_refused(&swap, -EINVAL, "generation is 4, allowed for a swap-out: 0");
	swap = good;
	swap.mem = NULL;
	assert_start_refused(&swap, -EINVAL, "mem is NULL");
	swap.mem = none;
	assert_start_refused(&swap, -EINVAL,
			     "group adam, tensor 1 (exp_avg): its memory is NULL, with 12000 bytes "
			     "to swap out");
	assert_int_equal(swapio_group_close(group), 0);
}

static void a_wait_refuses_what_it_does_not_know(void **state)
{
	struct swapio_group *group = open_group("adam", stored, 3);
	struct swapio_swap_result result = {.size_bytes = 8};
	const struct swapio_swap swap = swap_of(group, SWAPIO_SWAP_IN, memory.mem);
	swapio_swap_id id = start_swap(&swap);

	(void)state;
	assert_int_equal(swapio_swap_wait(store, id, SWAPIO_FOREVER, &result), -EINVAL);
	finish_swap(id);
	result.size_bytes = sizeof(result);
	assert_int_equal(swapio_swap_wait(store, id, SWAPIO_FOREVER, &result), -ENOENT);
	assert_int_equal(swapio_swap_wait(store, 0, SWAPIO_FOREVER, &result), -ENOENT);
	assert_int_equal(swapio_swap_cancel(store, id), -ENOENT);
	assert_int_equal(swapio_swap_cancel(store, UINT64_MAX), -ENOENT);
	assert_int_equal(swapio_group_close(group), 0);
}

static void a_read_only_store_takes_no_swap_out(void **state)
{
	struct swapio_store_options options = store_options(1);
	struct swapio_group *group;
	struct swapio_swap swap;
	char text[400];

	(void)state;
	close_store();
	options.read_only = true;
	open_store(&options);
	group = open_group("adam", stored, 3);
	swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
	snprintf(text, sizeof(text), "%s was opened read-only", store_path);
	assert_start_refused(&swap, -EROFS, text);
	memory_poison(&memory);
	swap_in_ok(group, memory.mem);
	assert_memory_holds(&memory, 3);
	assert_int_equal(swapio_group_close(group), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_number_of_tensors_must_be_right),
		CASE(the_numel_of_each_tensor_must_be_right),
		CASE(numels_beyond_32_bits_are_compared_whole),
		CASE(the_element_size_must_be_right),
		CASE(the_element_type_must_be_right_where_both_say_one),
		CASE(the_shape_must_be_right_where_both_say_one),
		CASE(the_order_must_be_right),
		CASE(the_generation_must_be_the_one_asked_for),
		CASE(nothing_stored_is_said_so),
		CASE(a_part_is_not_swapped_out_into_other_tensors),
		CASE(what_is_no_swap_is_refused_at_once),
		CASE(a_wait_refuses_what_it_does_not_know),
		CASE(a_read_only_store_takes_no_swap_out),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
