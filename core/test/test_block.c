/* SPDX-License-Identifier: MIT */
/* test_block.c - one block against every outcome the kernel can report, and shared sectors. */
#include "script_engine.h"

#define FILE_BYTES ((size_t)64 << 10)

static unsigned char model[FILE_BYTES];
static struct swapio *handle;
static unsigned char *buf;
static int fd;
static uint64_t sector;

static int begin(void **state)
{
	struct swapio_options options = script_options(0);
	struct file_facts facts;

	(void)state;
	script_reset();
	options.block_bytes = 16384;
	handle = script_open(&options);
	buf = alloc_buffer(handle, FILE_BYTES);
	fill_random(model, FILE_BYTES, 1);
	write_file(file_path, model, FILE_BYTES);
	fd = open(file_path, O_RDWR | O_DIRECT);
	if (fd < 0 || swapioi_file_facts(fd, &facts) < 0)
		return -1;
	sector = facts.align.offset;
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_close(handle);
	return close(fd);
}

static struct swapio_result run(enum swapio_op op, uint64_t offset, uint64_t bytes)
{
	struct swapio_io io = io_of(op, NULL, fd, offset, buf, bytes);

	return finish(handle, start(handle, &io));
}

static void read_is_exact(uint64_t offset, uint64_t bytes)
{
	struct swapio_result result;

	memset(buf, 0xee, bytes);
	result = run(SWAPIO_READ, offset, bytes);
	assert_int_equal(result.error, 0);
	assert_int_equal(result.bytes, bytes);
	assert_memory_equal(buf, model + offset, bytes);
}

static void write_is_exact(uint64_t offset, uint64_t bytes, uint64_t seed)
{
	struct swapio_result result;

	fill_random(model + offset, bytes, seed);
	memcpy(buf, model + offset, bytes);
	result = run(SWAPIO_WRITE, offset, bytes);
	assert_int_equal(result.error, 0);
	assert_int_equal(result.bytes, bytes);
	assert_memory_equal(buf, model + offset, bytes);
	assert_file_equal(file_path, model, FILE_BYTES);
}

static void failed(const struct swapio_result *result, int error, enum swapio_cause cause,
		   int64_t raw, uint64_t fail_offset, uint64_t fail_length)
{
	assert_int_equal(result->error, error);
	assert_int_equal(result->cause, cause);
	assert_int_equal(result->raw_status, raw);
	assert_int_equal(result->fail_offset_bytes, fail_offset);
	assert_int_equal(result->fail_length_bytes, fail_length);
}

/* After a failure the handle does what it did before it. */
static void still_works(void)
{
	read_is_exact(0, 40000);
	write_is_exact(700, 5000, 99);
}

static void short_completions_resume_at_every_kind_of_byte(void **state)
{
	const int64_t shorts[] = {1, 511, 512, 513, 4095, 4096, 8191, 16383};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		script.accepted = 0;
		script.steps[1] = (struct step){STEP_SHORT, shorts[i]};
		read_is_exact(0, FILE_BYTES);
		script.accepted = 0;
		write_is_exact(0, FILE_BYTES, i + 2);
	}
	assert_int_equal(stats_of(handle).resumes, 16);
}

static void repeated_shorts_that_make_progress_succeed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++)
		script.steps[i] = (struct step){STEP_SHORT, 512 + i};
	read_is_exact(0, 8192);
	script.accepted = 0;
	write_is_exact(4096, 8192, 7);
}

static void reports_of_less_than_moved_do_no_harm(void **state)
{
	(void)state;
	script.steps[0] = (struct step){STEP_LIE, 700};
	script.steps[1] = (struct step){STEP_LIE, 512};
	write_is_exact(0, 16384, 3);
	script.accepted = 0;
	read_is_exact(0, 16384);
}

static void zero_bytes_in_mid_file_are_tried_again(void **state)
{
	(void)state;
	script.steps[0] = script.steps[1] = (struct step){STEP_RESULT, 0};
	read_is_exact(8192, 4096);
	script.accepted = 0;
	write_is_exact(8192, 4096, 3);
}

static void zero_bytes_for_ever_are_an_error(void **state)
{
	struct swapio_result result;

	(void)state;
	for (unsigned i = 0; i < SCRIPT_STEPS; i++)
		script.steps[i] = (struct step){STEP_RESULT, 0};
	result = run(SWAPIO_READ, 8192, 4096);
	failed(&result, -EIO, SWAPIO_CAUSE_NO_PROGRESS, 0, 8192, 4096);
	result = run(SWAPIO_WRITE, 8192, 4096);
	failed(&result, -EIO, SWAPIO_CAUSE_NO_PROGRESS, 0, 8192, 4096);
	assert_int_equal(script.accepted, 6);
	script.accepted = SCRIPT_STEPS;
	still_works();
}

static void the_end_of_the_file_is_an_error_with_the_count(void **state)
{
	struct swapio_result result;

	(void)state;
	assert_int_equal(truncate(file_path, 20000), 0);
	memset(buf, 0xee, FILE_BYTES);
	result = run(SWAPIO_READ, 0, FILE_BYTES);
	failed(&result, -ENODATA, SWAPIO_CAUSE_EOF, (int64_t)(20000 % sector), 20000,
	       FILE_BYTES - 20000);
	assert_int_equal(result.bytes, 20000);
	assert_memory_equal(buf, model, 20000);
	result = run(SWAPIO_READ, 30000, 1);
	failed(&result, -ENODATA, SWAPIO_CAUSE_EOF, 0, 30000, 1);
}

static void a_result_beyond_the_length_is_a_protocol_error(void **state)
{
	struct swapio_result result;

	(void)state;
	memset(buf, 0xee, FILE_BYTES);
	script.steps[0] = (struct step){STEP_RESULT, 4097};
	result = run(SWAPIO_READ, 4096, 4096);
	failed(&result, -EPROTO, SWAPIO_CAUSE_PROTOCOL, 4097, 4096, 4096);
	assert_int_equal(result.bytes, 0);
	for (unsigned i = 0; i < 4096; i++)
		assert_int_equal(buf[i], 0xee);
	script.steps[1] = (struct step){STEP_RESULT, INT64_MAX};
	result = run(SWAPIO_WRITE, 4096, 4096);
	failed(&result, -EPROTO, SWAPIO_CAUSE_PROTOCOL, INT64_MAX, 4096, 4096);
	still_works();
}

static void a_negative_result_is_that_errno_on_that_request_alone(void **state)
{
	const int errnos[] = {EIO, ENOSPC, ENODATA, EFBIG, EFAULT, EINVAL};
	struct swapio_result result;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct swapio_io other = io_of(SWAPIO_READ, NULL, fd, 0, buf + 32768, 16384);
		swapio_id id;

		script.accepted = 0;
		script.steps[0].kind = STEP_FULL;
		script.steps[1] = (struct step){STEP_RESULT, -errnos[i]};
		id = start(handle, &other);
		result = run(SWAPIO_READ, 16384, 16384);
		failed(&result, -errnos[i], SWAPIO_CAUSE_DEVICE, -errnos[i], 16384, 16384);
		assert_int_equal(finish(handle, id).error, 0);
		assert_memory_equal(buf + 32768, model, 16384);
	}
	still_works();
}

static void blocks_before_a_failed_one_move_and_those_behind_are_dropped(void **state)
{
	struct swapio_result result;

	(void)state;
	script.steps[1] = (struct step){STEP_RESULT, -EIO};
	memset(buf, 0xee, FILE_BYTES);
	result = run(SWAPIO_READ, 0, FILE_BYTES);
	assert_int_equal(result.error, -EIO);
	assert_int_equal(result.cause, SWAPIO_CAUSE_DEVICE);
	assert_int_equal(result.fail_offset_bytes, 16384);
	assert_memory_equal(buf, model, 16384);
	assert_true(result.bytes >= 16384);
}

static void a_write_that_fails_past_the_end_leaves_no_padding(void **state)
{
	struct swapio_result result;

	(void)state;
	assert_int_equal(truncate(file_path, 60000), 0);
	fill_random(buf, 5000, 5);
	script.steps[1] = (struct step){STEP_RESULT, -ENOSPC};
	result = run(SWAPIO_WRITE, 59900, 300);
	failed(&result, -ENOSPC, SWAPIO_CAUSE_DEVICE, -ENOSPC, 59900, 300);
	assert_file_equal(file_path, model, 60000);
	/* The first bytes of the padded write arrive: the file ends with the caller's bytes. */
	script.accepted = 0;
	script.steps[1] = (struct step){STEP_SHORT, (int64_t)(59904 - round_down(59900, sector))};
	script.steps[2] = (struct step){STEP_RESULT, -EIO};
	result = run(SWAPIO_WRITE, 59900, 1000);
	failed(&result, -EIO, SWAPIO_CAUSE_DEVICE, -EIO, 59904, 996);
	memcpy(model + 59900, buf, 4);
	assert_file_equal(file_path, model, 60000);
}

static void reading_the_shared_sector_may_fail(void **state)
{
	struct swapio_result result;

	(void)state;
	script.steps[0] = (struct step){STEP_RESULT, -EIO};
	memset(buf, 0x11, 8192);
	result = run(SWAPIO_WRITE, 100, 50);
	failed(&result, -EIO, SWAPIO_CAUSE_DEVICE, -EIO, 100, 50);
	script.accepted = 0;
	script.steps[0].kind = STEP_FULL;
	script.steps[1] = (struct step){STEP_RESULT, -EIO};
	result = run(SWAPIO_WRITE, 8292, 50);
	failed(&result, -EIO, SWAPIO_CAUSE_DEVICE, -EIO, 8292, 50);
	assert_file_equal(file_path, model, FILE_BYTES);
	still_works();
}

static void neighbours_of_one_sector_written_at_once_keep_each_other(void **state)
{
	swapio_id ids[16];

	(void)state;
	fill_random(model, 1600, 77);
	for (unsigned i = 0; i < 16; i++) {
		struct swapio_io io = io_of(SWAPIO_WRITE, NULL, fd, i * 100u, buf + i * 4096u, 100);

		memcpy(io.buf, model + i * 100u, 100);
		ids[i] = start(handle, &io);
	}
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(finish(handle, ids[i]).error, 0);
	assert_file_equal(file_path, model, FILE_BYTES);
	assert_int_equal(stats_of(handle).rmws, 16);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(short_completions_resume_at_every_kind_of_byte),
		CASE(repeated_shorts_that_make_progress_succeed),
		CASE(reports_of_less_than_moved_do_no_harm),
		CASE(zero_bytes_in_mid_file_are_tried_again),
		CASE(zero_bytes_for_ever_are_an_error),
		CASE(the_end_of_the_file_is_an_error_with_the_count),
		CASE(a_result_beyond_the_length_is_a_protocol_error),
		CASE(a_negative_result_is_that_errno_on_that_request_alone),
		CASE(blocks_before_a_failed_one_move_and_those_behind_are_dropped),
		CASE(a_write_that_fails_past_the_end_leaves_no_padding),
		CASE(reading_the_shared_sector_may_fail),
		CASE(neighbours_of_one_sector_written_at_once_keep_each_other),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
