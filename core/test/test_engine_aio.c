/* SPDX-License-Identifier: MIT */
/* test_engine_aio.c - the kernel's AIO behind the engine's table, and what waits fall back to. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "engine.h"
#include "helpers.h"

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
	assert_true(ops->create(1u << 28, 1, &none) < 0);
	assert_ptr_equal(none, before);
	assert_null(swapioi_engine_find("uring"));
	assert_null(swapioi_engine_find(""));
}

/* The kernel answers @error to the given calls from here on, as a container's filter does. */
static int refuse_calls(int error, unsigned first, unsigned second)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
	};
	const struct sock_fprog program = {.len = 5, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* Numbers of lines tell what went wrong in a child. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_exit(__LINE__ % 255 + 1);                                                 \
	} while (0)

static void child_falls_back(int error, unsigned workers)
{
	struct swapio_stats stats = {.size_bytes = sizeof(stats)};
	struct swapio_info info = {.size_bytes = sizeof(info)};
	struct swapio_options options;
	struct swapio *handle;

	EXPECT(refuse_calls(error, SYS_io_pgetevents, SYS_io_pgetevents) == 0);
	swapio_options_init(&options);
	options.workers = workers;
	EXPECT(swapio_open(&options, NULL, &handle) == 0);
	memset(buf, 0, 65536);
	EXPECT(swapio_read(handle, file_path, 0, buf, 65536, NULL) == 0);
	EXPECT(buf[0] == 0x5a && buf[65535] == 0x5a);
	EXPECT(swapio_info_get(handle, &info) == 0);
	EXPECT(info.wait_call != SWAPIO_WAIT_IO_PGETEVENTS);
	EXPECT(swapio_stats_get(handle, &stats) == 0);
	EXPECT(stats.wait_fallbacks == (uint64_t)info.wait_call);
	EXPECT(swapio_close(handle, SWAPIO_FOREVER) == 0);
	_exit(0);
}

static void child_has_no_wait_at_all(unsigned workers)
{
	struct swapio_options options;
	struct swapio_error error = {0};
	struct swapio *handle;

	EXPECT(refuse_calls(EPERM, SYS_io_pgetevents, SYS_io_getevents) == 0);
	swapio_options_init(&options);
	options.workers = workers;
	EXPECT(swapio_open(&options, NULL, &handle) == 0);
	EXPECT(swapio_read(handle, file_path, 0, buf, 65536, &error) == -EPERM);
	EXPECT(strstr(error.text, "waiting for completions failed"));
	EXPECT(swapio_close(handle, SWAPIO_FOREVER) == 0);
	_exit(0);
}

static void child_ends_well(pid_t child)
{
	int status = -1;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_refused_io_pgetevents_is_replaced_at_run_time(void **state)
{
	const int errors[] = {ENOSYS, EPERM};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		pid_t child = fork();

		if (child == 0)
			child_falls_back(errors[i % 2], i / 2);
		child_ends_well(child);
	}
}

static void without_any_wait_transfers_fail_in_bounded_time(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		pid_t child = fork();

		if (child == 0)
			child_has_no_wait_at_all(workers);
		child_ends_well(child);
	}
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
