/* SPDX-License-Identifier: MIT */
/* test_piece.c - every byte of every tensor is in one piece, and each piece can move as it says. */
#include "helpers.h"
#include "piece.h"

#define UNIT STORE_UNIT
#define CHUNK (4 * UNIT)
#define SLOT (3 * UNIT)
#define TENSORS_MAX 4

/* Addresses are never touched. */
static char *const aligned = (char *)(uintptr_t)(1024 * UNIT);

static struct manifest_tensor tensors[TENSORS_MAX];
static struct manifest manifest = {.tensors = tensors, .chunk_bytes = CHUNK};
static void *mem[TENSORS_MAX];
static bool lent[TENSORS_MAX];
static struct cutter cutter;

static void set_tensor(unsigned index, uint64_t bytes, void *where)
{
	tensors[index] = (struct manifest_tensor){.numel = bytes, .element_bytes = 1};
	mem[index] = where;
	lent[index] = false;
}

static void begin(unsigned count)
{
	manifest.count = count;
	cutter = (struct cutter){
		.manifest = &manifest,
		.end = count,
		.mem = mem,
		.lent = lent,
		.accel = swapioi_accel_find(NULL),
		.alignment_bytes = UNIT,
		.slot_bytes = SLOT,
	};
	swapioi_cutter_begin(&cutter);
}

static struct piece next(void)
{
	struct piece piece;

	assert_true(swapioi_cutter_next(&cutter, &piece));
	return piece;
}

static void assert_piece(unsigned tensor, uint64_t offset, size_t bytes, size_t padded, bool staged)
{
	struct piece piece = next();

	assert_int_equal(piece.tensor, tensor);
	assert_int_equal(piece.offset, offset);
	assert_int_equal(piece.bytes, bytes);
	assert_int_equal(piece.padded_bytes, padded);
	assert_int_equal(piece.staged, staged);
	assert_ptr_equal(piece.mem, (char *)mem[tensor] + offset);
}

static void assert_end(void)
{
	struct piece piece;

	assert_false(swapioi_cutter_next(&cutter, &piece));
	assert_false(swapioi_cutter_next(&cutter, &piece));
}

static void aligned_memory_moves_chunk_by_chunk_as_it_is(void **state)
{
	(void)state;
	set_tensor(0, 2 * CHUNK + UNIT, aligned);
	begin(1);
	assert_piece(0, 0, CHUNK, CHUNK, false);
	assert_piece(0, CHUNK, CHUNK, CHUNK, false);
	assert_piece(0, 2 * CHUNK, UNIT, UNIT, false);
	assert_end();
}

static void an_odd_tail_goes_through_a_slot_as_a_whole_unit(void **state)
{
	(void)state;
	set_tensor(0, CHUNK + UNIT + 1, aligned);
	set_tensor(1, 4, aligned);
	begin(2);
	assert_piece(0, 0, CHUNK, CHUNK, false);
	assert_piece(0, CHUNK, UNIT, UNIT, false);
	assert_piece(0, CHUNK + UNIT, 1, UNIT, true);
	assert_piece(1, 0, 4, UNIT, true);
	assert_end();
}

static void a_lent_slot_has_room_for_the_padding(void **state)
{
	(void)state;
	set_tensor(0, UNIT + 1, aligned);
	lent[0] = true;
	begin(1);
	assert_piece(0, 0, UNIT + 1, 2 * UNIT, false);
	assert_end();
}

static void unaligned_memory_is_staged_slot_by_slot_and_never_across_chunks(void **state)
{
	(void)state;
	set_tensor(0, CHUNK + UNIT + 5, aligned + 1);
	begin(1);
	assert_piece(0, 0, SLOT, SLOT, true);
	assert_piece(0, SLOT, CHUNK - SLOT, CHUNK - SLOT, true);
	assert_piece(0, CHUNK, UNIT + 5, 2 * UNIT, true);
	assert_end();
}

static void empty_tensors_have_no_piece(void **state)
{
	(void)state;
	set_tensor(0, 0, NULL);
	set_tensor(1, UNIT, aligned);
	set_tensor(2, 0, NULL);
	set_tensor(3, 0, NULL);
	begin(4);
	assert_piece(1, 0, UNIT, UNIT, false);
	assert_end();
	begin(1);
	assert_end();
}

static void a_part_of_the_tensors_uses_its_own_memory(void **state)
{
	(void)state;
	set_tensor(0, UNIT, aligned);
	set_tensor(1, UNIT, aligned + UNIT);
	set_tensor(2, UNIT, aligned + 2 * UNIT);
	begin(3);
	cutter.first = 1;
	cutter.end = 2;
	cutter.mem = mem + 1;
	swapioi_cutter_begin(&cutter);
	assert_piece(1, 0, UNIT, UNIT, false);
	assert_end();
}

/* The handle refuses pointers that are not multiples of its alignment. */
static void a_larger_alignment_is_kept_by_every_piece(void **state)
{
	(void)state;
	set_tensor(0, 2 * CHUNK, aligned);
	begin(1);
	cutter.alignment_bytes = 2 * CHUNK;
	assert_piece(0, 0, CHUNK, CHUNK, false);
	assert_piece(0, CHUNK, SLOT, SLOT, true);
	assert_piece(0, CHUNK + SLOT, CHUNK - SLOT, CHUNK - SLOT, true);
	assert_end();
}

static bool never_host(struct accel *accel, const void *ptr)
{
	(void)accel;
	(void)ptr;
	return false;
}

static void device_memory_is_staged_however_it_is_aligned(void **state)
{
	const struct accel_ops device_ops = {.name = "device", .is_host = never_host};
	struct accel device = {.ops = &device_ops};

	(void)state;
	set_tensor(0, SLOT, aligned);
	begin(1);
	cutter.accel = &device;
	assert_piece(0, 0, SLOT, SLOT, true);
	assert_end();
}

static void check_chunks(uint64_t bytes)
{
	uint64_t chunk_starts = 0, chunk_ends = 0, at = 0;

	while (at < bytes) {
		struct piece piece = next();

		assert_int_equal(piece.offset, at);
		assert_true(piece.bytes > 0 && piece.padded_bytes <= CHUNK);
		assert_int_equal(piece.padded_bytes % UNIT, 0);
		assert_true(piece.padded_bytes - piece.bytes < UNIT);
		assert_int_equal(piece.begins_chunk, at % CHUNK == 0);
		at += piece.bytes;
		assert_int_equal(piece.ends_chunk, at % CHUNK == 0 || at == bytes);
		assert_true(piece.staged || (uintptr_t)piece.mem % UNIT == 0);
		assert_true(piece.staged || piece.bytes == piece.padded_bytes);
		chunk_starts += piece.begins_chunk;
		chunk_ends += piece.ends_chunk;
	}
	assert_int_equal(chunk_starts, (bytes + CHUNK - 1) / CHUNK);
	assert_int_equal(chunk_ends, chunk_starts);
	assert_end();
}

static void sizes_around_every_boundary_are_covered_once_in_order(void **state)
{
	const uint64_t around[] = {1, UNIT, SLOT, CHUNK, CHUNK + SLOT, 2 * CHUNK, 5 * CHUNK};

	(void)state;
	for (unsigned offset = 0; offset < UNIT; offset += 511)
		for (unsigned i = 0; i < sizeof(around) / sizeof(*around); i++)
			for (uint64_t bytes = around[i] - 1; bytes <= around[i] + 1; bytes++) {
				set_tensor(0, bytes, aligned + offset);
				begin(1);
				check_chunks(bytes);
			}
}

/* Nothing of it is allocated; only the arithmetic is tried. */
static void tensors_beyond_32_bits_are_cut_right(void **state)
{
	const uint64_t bytes = (UINT64_C(1) << 33) + 3;

	(void)state;
	set_tensor(0, bytes, aligned);
	begin(1);
	manifest.chunk_bytes = UINT64_C(1) << 30;
	for (uint64_t at = 0; at < bytes - 3; at += manifest.chunk_bytes)
		assert_piece(0, at, manifest.chunk_bytes, manifest.chunk_bytes, false);
	assert_piece(0, bytes - 3, 3, UNIT, true);
	assert_end();
	manifest.chunk_bytes = CHUNK;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned_memory_moves_chunk_by_chunk_as_it_is),
		cmocka_unit_test(an_odd_tail_goes_through_a_slot_as_a_whole_unit),
		cmocka_unit_test(a_lent_slot_has_room_for_the_padding),
		cmocka_unit_test(unaligned_memory_is_staged_slot_by_slot_and_never_across_chunks),
		cmocka_unit_test(empty_tensors_have_no_piece),
		cmocka_unit_test(a_part_of_the_tensors_uses_its_own_memory),
		cmocka_unit_test(a_larger_alignment_is_kept_by_every_piece),
		cmocka_unit_test(device_memory_is_staged_however_it_is_aligned),
		cmocka_unit_test(sizes_around_every_boundary_are_covered_once_in_order),
		cmocka_unit_test(tensors_beyond_32_bits_are_cut_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
