/* SPDX-License-Identifier: MIT */
/* test_engine_aio.c - the kernel's AIO behind the engine's table, and what waits fall back to. */
#include "engine.h"
#include "filtered.h"

static const struct engine_ops *ops;
static struct engine *engine;
static unsigned char *buf;
static int fd;

static int begin(void **state)
{
	void *mem = NULL;

	(void)state;
	ops = swapioi_engine_find("aio");
	assert_ptr_equal(ops, swapioi_engine_find(NULL));
	assert_int_equal(posix_memalign(&mem, 4096, 65536), 0);
	buf = mem;
	memset(buf, 0x5a, 65536);
	write_file(file_path, buf, 65536);
	fd = open(file_path, O_RDWR | O_DIRECT);
	assert_true(fd >= 0);
	return ops->create(8, 16, &engine);
}

static int end(void **state)
{
	(void)state;
	ops->destroy(engine);
	free(buf);
	return close(fd);
}

static struct engine_io io_at(unsigned index, uint64_t offset, size_t length)
{
	return (struct engine_io){.index = index,
				  .fd = fd,
				  .mem = (char *)buf + offset,
				  .offset_bytes = offset,
				  .length_bytes = length,
				  .cookie = 1000 + index};
}

static void submit(struct engine_io *io)
{
	struct engine_io *const ios[] = {io};

	assert_int_equal(ops->submit(engine, ios, 1), 1);
}

static void events_carry_cookies_and_counts(void **state)
{
	struct engine_io ios[4], *batch[4];
	struct engine_event events[8];
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		ios[i] = io_at(i * 5, i * 8192, 4096 * (1 + i % 2));
		batch[i] = &ios[i];
	}
	assert_int_equal(ops->submit(engine, batch, 4), 4);
	for (int count = 0; count < 4;) {
		int ret = ops->wait(engine, 1, 8, INT64_MAX, events);

		assert_in_range(ret, 1, 4 - count);
		for (int i = 0; i < ret; i++) {
			unsigned number = (unsigned)(events[i].cookie - 1000) / 5;

			assert_int_equal(events[i].result, 4096 * (1 + number % 2));
			seen |= 1u << number;
		}
		count += ret;
	}
	assert_int_equal(seen, 15);
}

static void nothing_in_flight_times_out_with_no_event(void **state)
{
	struct engine_event events[1];

	(void)state;
	assert_int_equal(ops->wait(engine, 0, 1, 0, events), 0);
	assert_int_equal(ops->wait(engine, 1, 1, 1000, events), 0);
}

static void failures_of_a_completion_are_negative(void **state)
{
	struct engine_io odd = io_at(0, 0, 100);
	struct engine_event event;

	(void)state;
	submit(&odd);
	assert_int_equal(ops->wait(engine, 1, 1, INT64_MAX, &event), 1);
	assert_int_equal(event.cookie, 1000);
	assert_int_equal(event.result, -EINVAL);
}

static void a_descriptor_that_cannot_be_is_refused_at_submit(void **state)
{
	struct engine_io bad = io_at(0, 0, 4096);
	struct engine_io *const batch[] = {&bad};

	(void)state;
	bad.fd = -1;
	assert_int_equal(ops->submit(engine, batch, 1), -EBADF);
	assert_int_equal(ops->wait(engine, 0, 1, 0, &(struct engine_event){0}), 0);
}

static void a_depth_that_cannot_be_is_refused_and_nothing_is_written(void **state)
{
	struct engine *none = (struct engine *)&none, *before = none;

	(void)state;
	/* Whatever fs.aio-max-nr says, the kernel's own limit is 1 << 23. */
	assert_true(ops->create((1u << 23) + 8, 1, &none) < 0);
	assert_ptr_equal(none, before);
	assert_null(swapioi_engine_find("uring"));
	assert_null(swapioi_engine_find(""));
}

static struct swapio *open_with_workers(unsigned workers)
{
	struct swapio_options options;
	struct swapio *handle = NULL;

	swapio_options_init(&options);
	options.workers = workers;
	return swapio_open(&options, NULL, &handle) < 0 ? NULL : handle;
}

static void falls_back(struct filtered *filtered)
{
	struct swapio_stats stats = {.size_bytes = sizeof(stats)};
	struct swapio_info info = {.size_bytes = sizeof(info)};
	struct swapio *handle = open_with_workers(filtered->workers);

	EXPECT(filtered, handle);
	memset(buf, 0, 65536);
	EXPECT(filtered, swapio_read(handle, file_path, 0, buf, 65536, NULL) == 0);
	EXPECT(filtered, buf[0] == 0x5a && buf[65535] == 0x5a);
	EXPECT(filtered, swapio_info_get(handle, &info) == 0);
	EXPECT(filtered, info.wait_call != SWAPIO_WAIT_IO_PGETEVENTS);
	EXPECT(filtered, swapio_stats_get(handle, &stats) == 0);
	EXPECT(filtered, stats.wait_fallbacks == (uint64_t)info.wait_call);
	EXPECT(filtered, swapio_close(handle, SWAPIO_FOREVER) == 0);
}

static void a_refused_io_pgetevents_is_replaced_at_run_time(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		run_filtered((struct filtered){.first = SYS_io_pgetevents,
					       .second = SYS_io_pgetevents,
					       .error = i % 2 ? EPERM : ENOSYS,
					       .workers = i / 2,
					       .run = falls_back});
}

static void fails_in_the_wait(struct filtered *filtered)
{
	struct swapio *handle = open_with_workers(filtered->workers);
	struct swapio_error error = {0};

	EXPECT(filtered, handle);
	EXPECT(filtered, swapio_read(handle, file_path, 0, buf, 65536, &error) == -EPERM);
	EXPECT(filtered, strstr(error.text, "waiting for completions failed"));
	EXPECT(filtered, swapio_close(handle, SWAPIO_FOREVER) == 0);
}

static void without_any_wait_transfers_fail_in_bounded_time(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 2; workers++)
		run_filtered((struct filtered){.first = SYS_io_pgetevents,
					       .second = SYS_io_getevents,
					       .error = EPERM,
					       .workers = workers,
					       .run = fails_in_the_wait});
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(events_carry_cookies_and_counts),
		CASE(nothing_in_flight_times_out_with_no_event),
		CASE(failures_of_a_completion_are_negative),
		CASE(a_descriptor_that_cannot_be_is_refused_at_submit),
		CASE(a_depth_that_cannot_be_is_refused_and_nothing_is_written),
		CASE(a_refused_io_pgetevents_is_replaced_at_run_time),
		CASE(without_any_wait_transfers_fail_in_bounded_time),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
