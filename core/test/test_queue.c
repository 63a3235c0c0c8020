/* SPDX-License-Identifier: MIT */
/* test_queue.c - scarce slots and locks: blocks that wait for either get it and none is stuck. */
#include "script_engine.h"

#define BYTES ((size_t)200000)

static unsigned char model[BYTES];
static unsigned char *buf;

static struct swapio *open_scarce(unsigned workers)
{
	struct swapio_options options = script_options(workers);
	struct swapio *handle;

	options.bounce_slots = 1;
	options.unaligned = SWAPIO_UNALIGNED_BOUNCE;
	script_reset();
	handle = script_open(&options);
	buf = alloc_buffer(handle, BYTES + 1);
	fill_random(model, BYTES, 8);
	return handle;
}

static void a_transfer_larger_than_all_slots_goes_through_one(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		struct swapio *handle = open_scarce(workers);

		unlink(file_path);
		memcpy(buf + 1, model, BYTES);
		assert_int_equal(swapio_write(handle, file_path, 0, buf + 1, BYTES, NULL), 0);
		assert_file_equal(file_path, model, BYTES);
		memset(buf, 0, BYTES + 1);
		assert_int_equal(swapio_read(handle, file_path, 0, buf + 1, BYTES, NULL), 0);
		assert_memory_equal(buf + 1, model, BYTES);
		assert_true(stats_of(handle).bounces >= BYTES / 4096);
		script_close(handle);
	}
}

static void parked_blocks_do_not_keep_others_out(void **state)
{
	struct swapio *handle = open_scarce(0);
	struct swapio_result result;
	swapio_id bounced[6];
	struct swapio_io io;

	(void)state;
	script.steps[0].kind = STEP_HOLD;
	write_file(file_path, model, BYTES);
	for (unsigned i = 0; i < 3; i++) {
		io = io_of(SWAPIO_READ, file_path, -1, i * 4096u, buf + 1 + i * 4096u, 4096);
		bounced[i] = start(handle, &io);
	}
	io = io_of(SWAPIO_READ, file_path, -1, 40960, buf + 40960, 4096);
	assert_int_equal(finish(handle, start(handle, &io)).error, 0);
	assert_int_equal(swapio_wait(handle, bounced[1], 0, &result), -ETIMEDOUT);
	script_release();
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(finish(handle, bounced[i]).error, 0);
	assert_memory_equal(buf + 1, model, 3 * 4096);
	script_close(handle);
}

/*
 * The file becomes shorter between submit and start, so the write needs a wider lock than it took.
 * It must not wait for that with the only slot in hand: who holds the lock may need the slot.
 */
static void a_slot_is_not_held_while_waiting_for_a_lock(void **state)
{
	struct swapio *handle = open_scarce(0);
	swapio_id ids[8];

	(void)state;
	write_file(file_path, model, BYTES);
	script.steps[0].kind = STEP_HOLD;
	for (unsigned i = 0; i < 8; i++) {
		struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, 100000 + i * 700u,
					    buf + 1 + i * 700u, 700);

		memcpy(io.buf, model + i * 700u, 700);
		ids[i] = start(handle, &io);
	}
	assert_int_equal(truncate(file_path, 101), 0);
	script_release();
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(finish(handle, ids[i]).error, 0);
	assert_int_equal(file_size(file_path), 100000 + 8 * 700);
	memset(buf, 0, 8 * 700);
	assert_int_equal(swapio_read(handle, file_path, 100000, buf, 8 * 700, NULL), 0);
	assert_memory_equal(buf, model, 8 * 700);
	script_close(handle);
}

static void writes_that_make_the_file_longer_keep_the_end_exact_in_any_order(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 3; workers++) {
		struct swapio *handle = open_scarce(workers);
		swapio_id ids[16];

		unlink(file_path);
		for (unsigned i = 0; i < 16; i++) {
			unsigned at = (15 - i) * 1001u;
			struct swapio_io io =
				io_of(SWAPIO_WRITE, file_path, -1, at, buf + at, 1001);

			memcpy(io.buf, model + at, 1001);
			ids[i] = start(handle, &io);
		}
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(finish(handle, ids[i]).error, 0);
		assert_file_equal(file_path, model, 16 * 1001);
		script_close(handle);
	}
}

static void requests_beyond_the_depth_all_get_through_a_queue_of_one(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio_result results[50];
	struct swapio *handle;

	(void)state;
	script_reset();
	options.queue_depth = 1;
	handle = script_open(&options);
	buf = alloc_buffer(handle, 50 * 4096);
	write_file(file_path, buf, 50 * 4096);
	for (unsigned i = 0; i < 50; i++) {
		struct swapio_io io =
			io_of(SWAPIO_READ, file_path, -1, i * 4096u, buf + i * 4096u, 4096);

		start(handle, &io);
	}
	assert_int_equal(swapio_wait_some(handle, 50, 50, SWAPIO_FOREVER, results), 50);
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(results[i].error, 0);
	script_close(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_transfer_larger_than_all_slots_goes_through_one),
		cmocka_unit_test(parked_blocks_do_not_keep_others_out),
		cmocka_unit_test(a_slot_is_not_held_while_waiting_for_a_lock),
		cmocka_unit_test(writes_that_make_the_file_longer_keep_the_end_exact_in_any_order),
		cmocka_unit_test(requests_beyond_the_depth_all_get_through_a_queue_of_one),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
