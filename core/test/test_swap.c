/* SPDX-License-Identifier: MIT */
/* test_swap.c - what is swapped in is what was swapped out, for every shape of optimizer there is.
 */
#include "group.h"
#include "swap_helpers.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Out, in, out again and in: both places of every tensor are used. */
static void round_trip(const char *name, const struct swapio_tensor *tensors, unsigned count,
		       size_t offset)
{
	struct swapio_group *group = open_group(name, tensors, count);
	struct memory memory;
	uint64_t bytes = 0;

	memory_make(&memory, tensors, count, offset);
	for (unsigned i = 0; i < count; i++)
		bytes += memory.bytes[i];
	for (uint64_t generation = 1; generation <= 3; generation++) {
		struct swapio_swap_result result;

		memory_fill(&memory, generation);
		result = swap_out_ok(group, memory.mem);
		assert_int_equal(result.generation, generation);
		assert_int_equal(result.bytes, bytes);
		assert_int_equal(swapio_group_generation(group), generation);
		assert_memory_holds(&memory, generation);
		memory_poison(&memory);
		result = swap_in_ok(group, memory.mem);
		assert_int_equal(result.generation, generation);
		assert_int_equal(result.bytes, bytes);
		assert_memory_holds(&memory, generation);
	}
	memory_free(&memory);
	assert_int_equal(swapio_group_close(group), 0);
}

/* With every way to drive: callers or threads above, callers or workers below. */
static void round_trips(const struct swapio_tensor *tensors, unsigned count)
{
	const unsigned threads[] = {0, 1, 4};

	for (unsigned workers = 0; workers < 2; workers++)
		for (unsigned i = 0; i < COUNT(threads); i++) {
			begin(workers, threads[i]);
			round_trip("aligned", tensors, count, 0);
			round_trip("unaligned", tensors, count, 1);
			end();
		}
}

static void adam_of_torch_keeps_a_scalar_step(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("step", 1, 4),
		tensor_of("exp_avg", 22843, 4),
		tensor_of("exp_avg_sq", 22843, 4),
	};

	(void)state;
	round_trips(tensors, COUNT(tensors));
}

static void sgd_keeps_a_momentum(void **state)
{
	const struct swapio_tensor tensors[] = {tensor_of("momentum_buffer", 50000, 4)};

	(void)state;
	round_trips(tensors, COUNT(tensors));
}

static void fused_adam_keeps_equal_tensors(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("master", 8192, 4),
		tensor_of("exp_avg", 8192, 4),
		tensor_of("exp_avg_sq", 8192, 4),
	};

	(void)state;
	round_trips(tensors, COUNT(tensors));
}

static void adafactor_keeps_rows_and_columns(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("step", 1, 8),
		tensor_of("exp_avg_sq_row", 768, 4),
		tensor_of("exp_avg_sq_col", 3072, 4),
	};

	(void)state;
	round_trips(tensors, COUNT(tensors));
}

static void eight_bit_optimizers_keep_bytes_and_block_maxima(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("state1", 100003, 1),
		tensor_of("absmax1", (100003 + 2047) / 2048, 4),
		tensor_of("state2", 100003, 1),
		tensor_of("absmax2", (100003 + 2047) / 2048, 4),
	};

	(void)state;
	round_trips(tensors, COUNT(tensors));
}

static void bf16_parameters_go_with_fp32_states(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("param", 12345, 2),
		tensor_of("exp_avg", 12345, 4),
		tensor_of("exp_avg_sq", 12345, 4),
	};

	(void)state;
	round_trips(tensors, COUNT(tensors));
}

static void empty_tensors_move_nothing(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("empty", 0, 4),
		tensor_of("full", 100, 4),
		tensor_of("empty too", 0, 1),
	};
	const struct swapio_tensor nothing[] = {tensor_of("empty", 0, 4)};

	(void)state;
	round_trips(tensors, COUNT(tensors));
	round_trips(nothing, COUNT(nothing));
}

/* Around a unit, a slot and a chunk (16 KiB both), and two of them. */
static void sizes_around_every_step_come_back(void **state)
{
	const uint64_t around[] = {1, 512, 4096, 8192, 16384, 32768};
	struct swapio_tensor tensors[3];

	(void)state;
	begin(1, 1);
	for (unsigned i = 0; i < COUNT(around); i++) {
		char name[32];

		tensors[0] = tensor_of("below", around[i] - 1, 1);
		tensors[1] = tensor_of("at", around[i], 1);
		tensors[2] = tensor_of("above", around[i] + 1, 1);
		snprintf(name, sizeof(name), "around %u", (unsigned)around[i]);
		round_trip(name, tensors, 3, 0);
		snprintf(name, sizeof(name), "unaligned around %u", (unsigned)around[i]);
		round_trip(name, tensors, 3, 8);
	}
	end();
}

static void every_pointer_offset_works(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("a", 5000, 4),
		tensor_of("b", 4096, 1),
	};
	struct swapio_store_options options = store_options(0);
	struct swapio_group *group;

	(void)state;
	begin_with(0, &options);
	group = open_group("g", tensors, 2);
	for (size_t offset = 0; offset < 4096; offset += offset < 520 ? 1 : 61) {
		struct memory memory;
		struct swapio_swap_result result;

		memory_make(&memory, tensors, 2, offset);
		memory_fill(&memory, offset);
		result = swap_out_ok(group, memory.mem);
		/* Aligned: only the odd tail is copied. */
		assert_int_equal(result.staged_bytes, offset ? 24096 : 20000 % 4096);
		memory_poison(&memory);
		swap_in_ok(group, memory.mem);
		assert_memory_holds(&memory, offset);
		memory_free(&memory);
	}
	assert_int_equal(swapio_group_close(group), 0);
	end();
}

static void count_through(struct memory *memory)
{
	for (unsigned i = 0; i < memory->count; i++)
		for (size_t j = 0; j < memory->bytes[i] / 4; j++)
			((uint32_t *)memory->mem[i])[j] = (uint32_t)(j + i);
}

static void assert_counted_through(const struct memory *memory)
{
	for (unsigned i = 0; i < memory->count; i++) {
		size_t wrong = 0;

		for (size_t j = 0; j < memory->bytes[i] / 4; j++)
			wrong += ((uint32_t *)memory->mem[i])[j] != (uint32_t)(j + i);
		assert_int_equal(wrong, 0);
	}
}

/* The states of the report that this project began with. */
static void a_scalar_and_two_moments_of_22843136_elements_come_back(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("step", 1, 4),
		tensor_of("exp_avg", 22843136, 4),
		tensor_of("exp_avg_sq", 22843136, 4),
	};
	struct swapio_store_options options;
	struct swapio_group *group;
	struct memory memory;

	(void)state;
	swapio_store_options_init(&options);
	begin_with(1, &options);
	group = open_group("adam", tensors, 3);
	memory_make(&memory, tensors, 3, 0);
	count_through(&memory);
	assert_int_equal(swap_out_ok(group, memory.mem).bytes, 2 * 22843136 * 4ul + 4);
	memory_poison(&memory);
	swap_in_ok(group, memory.mem);
	assert_counted_through(&memory);
	memory_free(&memory);
	assert_int_equal(swapio_group_close(group), 0);
	end();
}

static void every_checksum_and_none_come_back(void **state)
{
	const struct swapio_tensor tensors[] = {tensor_of("a", 40000, 1), tensor_of("b", 7, 8)};

	(void)state;
	for (int sum = SWAPIO_CHECKSUM_NONE; sum <= SWAPIO_CHECKSUM_XXH64; sum++) {
		struct swapio_store_options options = store_options(1);

		options.checksum = (enum swapio_checksum)sum;
		begin_with(1, &options);
		round_trip("g", tensors, 2, 0);
		end();
	}
}

/* Slots of another size than chunks, both ways. */
static void chunks_and_slots_need_not_be_equal(void **state)
{
	const struct swapio_tensor tensors[] = {tensor_of("a", 100001, 1), tensor_of("b", 7, 8)};
	const size_t sizes[][2] = {{4096, 16384}, {16384, 4096}, {12288, 8192}};

	(void)state;
	for (unsigned i = 0; i < COUNT(sizes); i++) {
		struct swapio_store_options options = store_options(1);

		options.chunk_bytes = sizes[i][0];
		options.slot_bytes = sizes[i][1];
		begin_with(1, &options);
		round_trip("aligned", tensors, 2, 0);
		round_trip("unaligned", tensors, 2, 3);
		end();
	}
}

/* The handle demands more of pointers than direct I/O does. */
static void a_handle_with_a_large_alignment_is_never_given_less(void **state)
{
	const struct swapio_tensor tensors[] = {tensor_of("a", 100000, 1)};
	const struct swapio_store_options options = store_options(1);
	struct swapio_options handle_options;

	(void)state;
	swapio_options_init(&handle_options);
	handle_options.alignment_bytes = 65536;
	handle = open_handle(&handle_options);
	open_store(&options);
	round_trip("g", tensors, 1, 0);
	round_trip("h", tensors, 1, 4096);
	end();
}

static void one_tensor_is_swapped_and_the_others_stay(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("a", 10000, 4),
		tensor_of("b", 5000, 4),
		tensor_of("c", 3, 4),
	};
	struct swapio_group *group;
	struct swapio_swap swap;
	struct memory memory;

	(void)state;
	begin(1, 1);
	group = open_group("g", tensors, 3);
	memory_make(&memory, tensors, 3, 0);
	memory_fill(&memory, 1);
	swap_out_ok(group, memory.mem);
	for (unsigned round = 2; round < 5; round++) {
		struct swapio_swap_result result;

		fill_random(memory.mem[1], memory.bytes[1], round * 1000 + 1);
		swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem + 1);
		swap.first = 1;
		swap.count = 1;
		result = run_swap(&swap);
		assert_good(&result);
		assert_int_equal(result.generation, round);
		assert_int_equal(result.bytes, memory.bytes[1]);
		memory_poison(&memory);
		swap.op = SWAPIO_SWAP_IN;
		result = run_swap(&swap);
		assert_good(&result);
		assert_tensor_holds(memory.mem[1], memory.bytes[1], 1, round);
		assert_int_equal(*(unsigned char *)memory.mem[0], POISON);
		swap_in_ok(group, memory.mem);
		assert_tensor_holds(memory.mem[0], memory.bytes[0], 0, 1);
		assert_tensor_holds(memory.mem[1], memory.bytes[1], 1, round);
		assert_tensor_holds(memory.mem[2], memory.bytes[2], 2, 1);
	}
	memory_free(&memory);
	assert_int_equal(swapio_group_close(group), 0);
	end();
}

static void what_was_stored_is_there_when_the_store_is_opened_again(void **state)
{
	const struct swapio_tensor tensors[] = {tensor_of("a", 10000, 4), tensor_of("b", 3, 4)};
	struct swapio_store_options options = store_options(2);
	struct swapio_group *group;
	struct memory memory;

	(void)state;
	begin_with(1, &options);
	memory_make(&memory, tensors, 2, 0);
	for (uint64_t generation = 1; generation < 5; generation++) {
		group = open_group("g", tensors, 2);
		assert_int_equal(swapio_group_generation(group), generation - 1);
		if (generation > 1) {
			memory_poison(&memory);
			swap_in_ok(group, memory.mem);
			assert_memory_holds(&memory, generation - 1);
		}
		memory_fill(&memory, generation);
		swap_out_ok(group, memory.mem);
		assert_int_equal(swapio_group_close(group), 0);
		close_store();
		/* Another chunk and checksum: what is stored says its own. */
		options.chunk_bytes = options.chunk_bytes == 16384 ? 4096 : 16384;
		options.checksum = SWAPIO_CHECKSUM_XXH64;
		open_store(&options);
	}
	memory_free(&memory);
	end();
}

static void a_group_may_change_its_tensors_by_a_swap_out_of_all(void **state)
{
	const struct swapio_tensor small[] = {tensor_of("a", 1000, 4)};
	const struct swapio_tensor large[] = {tensor_of("a", 30000, 4), tensor_of("b", 1, 1)};

	(void)state;
	begin(1, 1);
	for (unsigned i = 0; i < 2; i++) {
		struct swapio_group *group = open_group("g", i ? small : large, i ? 1 : 2);
		struct memory memory;

		memory_make(&memory, i ? small : large, i ? 1 : 2, 0);
		memory_fill(&memory, i);
		assert_int_equal(swap_out_ok(group, memory.mem).generation, i + 1);
		memory_poison(&memory);
		swap_in_ok(group, memory.mem);
		assert_memory_holds(&memory, i);
		memory_free(&memory);
		assert_int_equal(swapio_group_close(group), 0);
	}
	end();
}

/* Transfers that begin there are faster; in both places, whatever small tensors lie before. */
static void large_tensors_begin_at_a_stride_of_the_file(void **state)
{
	const struct swapio_tensor tensors[] = {
		tensor_of("step", 1, 4),
		tensor_of("a", 65537, 4),
		tensor_of("b", 65536, 1),
	};
	struct swapio_group *group;
	struct memory memory;

	(void)state;
	begin(1, 1);
	group = open_group("g", tensors, 3);
	memory_make(&memory, tensors, 3, 0);
	for (unsigned generation = 1; generation <= 2; generation++) {
		swap_out_ok(group, memory.mem);
		for (unsigned i = 1; i < 3; i++)
			assert_int_equal(swapioi_volume_tensor_offset(&group->volume,
								      &group->stored->tensors[i]) %
						 STORE_STRIDE,
					 0);
	}
	memory_free(&memory);
	assert_int_equal(swapio_group_close(group), 0);
	end();
}

static void the_synchronous_calls_swap_everything(void **state)
{
	const struct swapio_tensor tensors[] = {tensor_of("a", 10000, 4)};
	struct swapio_error error = {0};
	struct swapio_group *group;
	struct memory memory;

	(void)state;
	for (unsigned threads = 0; threads < 2; threads++) {
		begin(1, threads);
		group = open_group("g", tensors, 1);
		memory_make(&memory, tensors, 1, 0);
		assert_int_equal(swapio_swap_in(group, memory.mem, &error), -ENOENT);
		assert_string_equal(error.text, "group g: nothing is stored");
		assert_int_equal(error.code, -ENOENT);
		memory_fill(&memory, 7);
		assert_int_equal(swapio_swap_out(group, memory.mem, NULL), 0);
		memory_poison(&memory);
		assert_int_equal(swapio_swap_in(group, memory.mem, NULL), 0);
		assert_memory_holds(&memory, 7);
		memory_free(&memory);
		assert_int_equal(swapio_group_close(group), 0);
		end();
	}
}

static void causes_have_names(void **state)
{
	(void)state;
	for (int cause = SWAPIO_SWAP_NONE; cause <= SWAPIO_SWAP_CANCELLED; cause++)
		assert_string_not_equal(swapio_swap_cause_name((enum swapio_swap_cause)cause),
					"unknown");
	assert_string_equal(swapio_swap_cause_name((enum swapio_swap_cause)99), "unknown");
	assert_string_equal(swapio_swap_cause_name(SWAPIO_SWAP_CHECKSUM), "checksum");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adam_of_torch_keeps_a_scalar_step),
		cmocka_unit_test(sgd_keeps_a_momentum),
		cmocka_unit_test(fused_adam_keeps_equal_tensors),
		cmocka_unit_test(adafactor_keeps_rows_and_columns),
		cmocka_unit_test(eight_bit_optimizers_keep_bytes_and_block_maxima),
		cmocka_unit_test(bf16_parameters_go_with_fp32_states),
		cmocka_unit_test(empty_tensors_move_nothing),
		cmocka_unit_test(sizes_around_every_step_come_back),
		cmocka_unit_test(every_pointer_offset_works),
		cmocka_unit_test(a_scalar_and_two_moments_of_22843136_elements_come_back),
		cmocka_unit_test(every_checksum_and_none_come_back),
		cmocka_unit_test(chunks_and_slots_need_not_be_equal),
		cmocka_unit_test(a_handle_with_a_large_alignment_is_never_given_less),
		cmocka_unit_test(one_tensor_is_swapped_and_the_others_stay),
		cmocka_unit_test(what_was_stored_is_there_when_the_store_is_opened_again),
		cmocka_unit_test(a_group_may_change_its_tensors_by_a_swap_out_of_all),
		cmocka_unit_test(large_tensors_begin_at_a_stride_of_the_file),
		cmocka_unit_test(the_synchronous_calls_swap_everything),
		cmocka_unit_test(causes_have_names),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
