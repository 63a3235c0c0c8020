/* SPDX-License-Identifier: MIT */
/* test_options.c - ranges of the options, and what opening says of impossible ones. */
#include "helpers.h"

static void refused(const struct swapio_options *options, int code, const char *words)
{
	struct swapio *handle = (struct swapio *)&handle, *before = handle;
	struct swapio_error error = {0};

	assert_int_equal(swapio_open(options, &error, &handle), code);
	assert_ptr_equal(handle, before);
	assert_int_equal(error.code, code);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
	assert_int_equal(swapio_open(options, NULL, &handle), code);
}

#define REFUSED(member, bad_value, code, words)                                                    \
	do {                                                                                       \
		struct swapio_options options;                                                     \
		swapio_options_init(&options);                                                     \
		options.member = bad_value;                                                        \
		refused(&options, code, words);                                                    \
	} while (0)

static void impossible_options_are_refused_by_name_value_and_range(void **state)
{
	(void)state;
	REFUSED(block_bytes, 0, -EINVAL, "block_bytes is 0, allowed: 512 to 2147479552");
	REFUSED(block_bytes, 511, -EINVAL, "block_bytes is 511");
	REFUSED(block_bytes, 513, -EINVAL, "block_bytes is 513, allowed: a multiple of 512");
	REFUSED(block_bytes, 0x7ffff200, -EINVAL, "block_bytes is 2147480064");
	REFUSED(queue_depth, 0, -EINVAL, "queue_depth is 0, allowed: 1 to 4096");
	REFUSED(queue_depth, 4097, -EINVAL, "queue_depth is 4097");
	REFUSED(workers, 65, -EINVAL, "workers is 65, allowed: 0 to 64");
	REFUSED(requests_max, 0, -EINVAL, "requests_max is 0, allowed: 1 to 65536");
	REFUSED(requests_max, 65537, -EINVAL, "requests_max is 65537");
	REFUSED(alignment_bytes, 3, -EINVAL, "alignment_bytes is 3, allowed: 0");
	REFUSED(alignment_bytes, 4194304, -EINVAL, "alignment_bytes is 4194304");
	REFUSED(bounce_slots, 0, -EINVAL, "bounce_slots is 0, allowed: 1 to 256");
	REFUSED(bounce_slots, 257, -EINVAL, "bounce_slots is 257");
	REFUSED(unaligned, (enum swapio_unaligned)2, -EINVAL, "unaligned is 2, allowed: 0 to 1");
	REFUSED(direct, (enum swapio_direct)2, -EINVAL, "direct is 2, allowed: 0 to 1");
	REFUSED(size_bytes, 8, -EINVAL, "size_bytes of the options is 8");
	REFUSED(engine, "uring", -ENOTSUP, "engine is \"uring\", allowed: \"aio\"");
	REFUSED(accelerator, "cuda", -ENOTSUP, "accelerator is \"cuda\", allowed: \"host\"");
}

static void the_smallest_options_work(void **state)
{
	struct swapio_options options;
	struct swapio_info info = {.size_bytes = sizeof(info)};
	unsigned char *buf;
	struct swapio *handle;

	(void)state;
	swapio_options_init(&options);
	options.block_bytes = 512;
	options.queue_depth = options.requests_max = options.bounce_slots = 1;
	options.workers = 0;
	options.alignment_bytes = 1;
	options.engine = "aio";
	options.accelerator = "host";
	handle = open_handle(&options);
	assert_int_equal(swapio_info_get(handle, &info), 0);
	assert_int_equal(info.queue_depth, 1);
	assert_int_equal(info.queues, 1);
	assert_int_equal(info.alignment_bytes, 1);
	buf = alloc_buffer(handle, 10000);
	fill_random(buf, 9999, 1);
	assert_int_equal(swapio_write(handle, file_path, 1, buf, 9999, NULL), 0);
	memset(buf, 0, 9999);
	assert_int_equal(swapio_read(handle, file_path, 0, buf, 10000, NULL), 0);
	assert_file_equal(file_path, buf, 10000);
	close_handle(handle);
}

static void the_largest_counts_open(void **state)
{
	struct swapio_options options;
	struct swapio_info info = {.size_bytes = sizeof(info)};
	struct swapio *handle;

	(void)state;
	swapio_options_init(&options);
	options.block_bytes = 0x7ffff000;
	options.queue_depth = 4096;
	options.workers = 2;
	options.requests_max = 65536;
	options.alignment_bytes = 2097152;
	handle = open_handle(&options);
	assert_int_equal(swapio_info_get(handle, &info), 0);
	assert_int_equal(info.queues, 2);
	assert_true(info.queue_depth >= 1 && info.queue_depth <= 4096);
	assert_int_equal(info.alignment_bytes, 2097152);
	close_handle(handle);
}

static void unknown_sizes_of_info_and_stats_are_refused(void **state)
{
	struct swapio *handle = open_handle(NULL);
	struct swapio_info info = {.size_bytes = 1, .queues = 77};
	struct swapio_stats stats = {.size_bytes = 1, .blocks = 77};

	(void)state;
	assert_int_equal(swapio_info_get(handle, &info), -EINVAL);
	assert_int_equal(info.queues, 77);
	assert_int_equal(swapio_stats_get(handle, &stats), -EINVAL);
	assert_int_equal(stats.blocks, 77);
	close_handle(handle);
}

static void version_and_names_are_told(void **state)
{
	struct swapio_result result = {.id = 7, .bytes = 5};
	char text[256];

	(void)state;
	assert_string_equal(swapio_version(), "0.1.0");
	assert_string_equal(swapio_cause_name(SWAPIO_CAUSE_NO_PROGRESS), "no-progress");
	assert_string_equal(swapio_cause_name((enum swapio_cause)99), "unknown");
	for (int cause = SWAPIO_CAUSE_NONE; cause <= SWAPIO_CAUSE_FILE; cause++)
		assert_string_not_equal(swapio_cause_name((enum swapio_cause)cause), "unknown");
	assert_true(swapio_result_text(&result, text, sizeof(text)) > 0);
	assert_string_equal(text, "request 7: ok, 5 bytes");
	result.error = -EIO;
	result.cause = SWAPIO_CAUSE_DEVICE;
	assert_true(swapio_result_text(&result, text, 10) > 10);
	assert_int_equal(strlen(text), 9);
	assert_int_equal(swapio_close(NULL, 0), 0);
	swapio_abort(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(impossible_options_are_refused_by_name_value_and_range),
		cmocka_unit_test(the_smallest_options_work),
		cmocka_unit_test(the_largest_counts_open),
		cmocka_unit_test(unknown_sizes_of_info_and_stats_are_refused),
		cmocka_unit_test(version_and_names_are_told),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
