/* SPDX-License-Identifier: MIT */
/*
 * test_device_io.c - a device without faults: what it serves, what it refuses, how its process
 * begins and ends, and what its maker is told when it does not answer.
 */
#undef NDEBUG
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>

#include <cmocka.h>

#include "device_fixture.h"

static uint8_t data[FIXTURE_BYTES];

/* ---- what it serves ---- */

static void what_was_written_is_read(void **state)
{
	(void)state;
	fixture_start("");
	client_connect(fixture_client);
	assert_int_equal(write_bytes(4096, 8192, 0xa5, 0), 0);
	assert_int_equal(write_bytes(FIXTURE_BYTES - 512, 512, 0x5a, CLIENT_FUA), 0);
	assert_int_equal(flush(), 0);
	assert_int_equal(read_bytes(4096 - 512, 8192 + 1024, data), 0);
	assert_int_equal(data[0], 0);
	assert_int_equal(data[511], 0);
	for (unsigned i = 0; i < 8192; i++)
		assert_int_equal(data[512 + i], 0xa5);
	assert_int_equal(data[512 + 8192], 0);
	assert_int_equal(read_bytes(FIXTURE_BYTES - 512, 512, data), 0);
	assert_int_equal(data[511], 0x5a);
	assert_true(image_holds(4096, 8192, 0xa5));
}

/* The error of a fault is the guest's to bear, one of ours is not. */
static void a_failure_of_its_own_is_told_apart_from_what_was_injected(void **state)
{
	char text[128] = "";

	(void)state;
	fixture_arm("nvme.read#1 => error");
	assert_int_equal(read_bytes(0, 512, data), EIO);
	assert_int_equal(device_failure(fixture_device, text, sizeof(text)), 0);
	assert_int_equal(ftruncate(fixture_options.image_fd, FIXTURE_BYTES / 2), 0);
	assert_int_equal(read_bytes(FIXTURE_BYTES / 2, 4096, data), EIO);
	assert_int_equal(read_bytes(FIXTURE_BYTES / 2, 512, data), EIO);
	assert_int_equal(device_failure(fixture_device, text, sizeof(text)), EIO);
	assert_non_null(strstr(text, "nvme.read#2 524288+4096: EIO")); /* the first */
}

static void the_export_says_what_the_device_is(void **state)
{
	struct client_export served;

	(void)state;
	fixture_options.sector_bytes = 4096;
	fixture_start("");
	client_greet(fixture_client, 3);
	client_ask(fixture_client, CLIENT_INFO, &served);
	assert_int_equal(served.size_bytes, FIXTURE_BYTES);
	assert_int_equal(served.flags, 1 | 4 | 8); /* flags, flush, FUA */
	assert_int_equal(served.block_min, 4096);
	assert_int_equal(served.block_max, 32u << 20);
	client_ask(fixture_client, CLIENT_GO, &served);
	assert_int_equal(write_bytes(4096, 512, 1, 0), EINVAL); /* no whole block of it */
	assert_int_equal(write_bytes(4096, 4096, 1, 0), 0);
}

static void a_read_only_device_refuses_writes_and_nothing_changes(void **state)
{
	struct client_export served;

	(void)state;
	fixture_options.read_only = true;
	fixture_start("");
	client_greet(fixture_client, 3);
	client_ask(fixture_client, CLIENT_GO, &served);
	assert_int_equal(served.flags, 1 | 2 | 4 | 8);
	assert_int_equal(write_bytes(0, 512, 7, 0), EPERM);
	assert_int_equal(flush(), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_true(image_holds(0, 512, 0));
}

static void an_image_is_used_again(void **state)
{
	(void)state;
	fixture_start("");
	client_connect(fixture_client);
	assert_int_equal(write_bytes(0, 512, 7, 0), 0);
	fixture_hang_up();
	assert_int_equal(fixture_stop(), 0);
	fixture_start("");
	client_connect(fixture_client);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(data[0], 7);
}

/* ---- what it refuses ---- */

static void ranges_that_it_does_not_have_are_refused(void **state)
{
	(void)state;
	fixture_arm("");
	memset(data, 9, sizeof(data));
	assert_int_equal(read_bytes(FIXTURE_BYTES, 512, data), EINVAL);
	assert_int_equal(read_bytes(FIXTURE_BYTES - 512, 1024, data), EINVAL);
	assert_int_equal(read_bytes(UINT64_MAX - 511, 512, data), EINVAL);
	assert_int_equal(write_bytes(FIXTURE_BYTES - 512, 1024, 9, 0), ENOSPC);
	assert_int_equal(write_bytes(UINT64_MAX - 511, 1024, 9, 0), ENOSPC);
	assert_int_equal(read_bytes(1, 512, data), EINVAL);
	assert_int_equal(read_bytes(0, 513, data), EINVAL);
	assert_int_equal(read_bytes(0, 0, data), EINVAL);
	assert_int_equal(write_bytes(256, 512, 9, 0), EINVAL);
	assert_int_equal(client_do(fixture_client, CLIENT_FLUSH, 0, 512, NULL, 0), EINVAL);
	assert_int_equal(client_do(fixture_client, CLIENT_TRIM, 0, 0, NULL, 512), EINVAL);
	assert_int_equal(client_do(fixture_client, CLIENT_READ, 4, 0, data, 512), EINVAL);
	/* None of them was a request of the device, and it goes on working. */
	assert_int_equal(device_requests(fixture_device), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_true(image_holds(FIXTURE_BYTES - 512, 512, 0));
	assert_int_equal(device_requests(fixture_device), 1);
}

static void a_read_that_is_too_long_is_refused_and_such_a_write_cut_off(void **state)
{
	struct client_request request = {CLIENT_WRITE, 0, 1, 0, (32u << 20) + 512};

	(void)state;
	fixture_options.size_bytes = 64u << 20;
	fixture_start("");
	client_connect(fixture_client);
	assert_int_equal(read_bytes(0, (32u << 20) + 512, data), EINVAL);
	client_submit(fixture_client, &request, NULL);
	assert_true(client_is_hung_up(fixture_client));
	assert_int_equal(device_arm(fixture_device), 0);
}

static void the_longest_requests_are_served(void **state)
{
	uint8_t *longest = malloc(32u << 20);

	(void)state;
	assert_non_null(longest);
	fixture_options.size_bytes = 64u << 20;
	fixture_start("");
	client_connect(fixture_client);
	assert_int_equal(write_bytes(16u << 20, 32u << 20, 0x42, 0), 0);
	assert_int_equal(read_bytes(16u << 20, 32u << 20, longest), 0);
	for (size_t i = 0; i < 32u << 20; i++)
		if (longest[i] != 0x42)
			fail_msg("byte %zu is %u", i, longest[i]);
	free(longest);
}

static void options_that_make_no_device_are_refused(void **state)
{
	static const struct {
		uint64_t size_bytes;
		unsigned sector_bytes;
		const char *says;
	} cases[] = {
		{1 << 20, 0, "sectors of 0 bytes (allowed: 512, 4096)"},
		{1 << 20, 1024, "sectors of 1024 bytes"},
		{0, 512, "a size of 0 bytes"},
		{1000, 512, "a size of 1000 bytes (must be whole sectors of 512)"},
		{(1 << 20) + 512, 4096, "whole sectors of 4096"},
		{(1ull << 62) + 4096, 4096, "whole sectors"},
	};
	struct device *device = NULL;
	struct diag diag;
	int socket = -7;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_options.size_bytes = cases[i].size_bytes;
		fixture_options.sector_bytes = cases[i].sector_bytes;
		assert_int_equal(device_start(&device, &fixture_options, &socket, &diag), -EINVAL);
		assert_non_null(strstr(diag.text, cases[i].says));
	}
	assert_null(device);
	assert_int_equal(socket, -7);
}

/* /dev/full is no file that could hold a device, and has no length. */
static void an_image_that_cannot_hold_it_is_refused(void **state)
{
	struct device *device = NULL;
	struct diag diag;
	int socket = -7, image = fixture_options.image_fd;

	(void)state;
	fixture_options.image_fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	assert_int_equal(device_start(&device, &fixture_options, &socket, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "image of 1048576 bytes: "));
	close(fixture_options.image_fd);
	fixture_options.image_fd = -1;
	assert_int_equal(device_start(&device, &fixture_options, &socket, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "image: Bad file descriptor"));
	assert_null(device);
	assert_int_equal(socket, -7);
	fixture_options.image_fd = image;
}

/* ---- its process ---- */

static void it_keeps_nothing_open_that_is_its_makers(void **state)
{
	int makers[100][2];
	char byte;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(pipe2(makers[i], 0), 0);
	fixture_start("");
	for (unsigned i = 0; i < 100; i++) {
		close(makers[i][1]);
		assert_int_equal(read(makers[i][0], &byte, 1), 0); /* nobody has the other end */
		close(makers[i][0]);
	}
}

static void a_killed_process_is_told_of_and_nobody_hangs(void **state)
{
	struct device_event event;

	(void)state;
	fixture_arm("nvme.read => hold");
	submit(CLIENT_READ, 1, 0);
	kill(fixture_pid(), SIGKILL);
	assert_true(client_is_hung_up(fixture_client));
	assert_int_equal(device_arm(fixture_device), -EPIPE);
	assert_int_equal(device_disarm(fixture_device), -EPIPE);
	assert_int_equal(device_event(fixture_device, &event), -EPIPE);
	assert_int_equal(fixture_stop(), -ECHILD);
}

static void a_process_that_does_not_answer_is_killed(void **state)
{
	(void)state;
	fixture_options.answer_ms = 50;
	fixture_start("");
	client_connect(fixture_client);
	kill(fixture_pid(), SIGSTOP);
	assert_int_equal(device_arm(fixture_device), -EPIPE);
	assert_true(client_is_hung_up(fixture_client));
	assert_int_equal(fixture_stop(), -ECHILD);
}

static void a_process_that_does_not_end_is_killed(void **state)
{
	(void)state;
	fixture_options.answer_ms = 50;
	fixture_start("");
	kill(fixture_pid(), SIGSTOP);
	assert_int_equal(fixture_stop(), -ECHILD);
	assert_int_equal(device_stop(NULL), 0);
}

static void interrupts_of_the_maker_do_not_reach_it(void **state)
{
	(void)state;
	fixture_start("");
	assert_int_equal(getpgid(fixture_pid()), fixture_pid());
}

static void end_without_a_word(struct device_options *options, int tell)
{
	struct device *device;
	struct diag diag;
	int socket;
	pid_t pid;

	if (device_start(&device, options, &socket, &diag) < 0)
		_exit(1);
	pid = fixture_pid();
	if (write(tell, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
		_exit(1);
	raise(SIGKILL);
}

static void it_ends_with_its_maker(void **state)
{
	int told[2], status;
	pid_t maker, pid;

	(void)state;
	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	fixture_options.schedule = NULL;
	maker = fork();
	if (maker == 0)
		end_without_a_word(&fixture_options, told[1]);
	close(told[1]);
	assert_int_equal(read(told[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(waitpid(maker, &status, 0), maker);
	assert_int_equal(waitpid(pid, &status, 0), pid); /* or this would wait for ever */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	close(told[0]);
}

/* ---- its log ---- */

static void requests_are_logged_with_their_numbers(void **state)
{
	struct device_request request;
	char text[128];

	(void)state;
	fixture_start("nvme.read#1 => error");
	client_connect(fixture_client);
	assert_int_equal(write_bytes(512, 1024, 1, CLIENT_FUA), 0);
	assert_int_equal(device_arm(fixture_device), 0);
	assert_int_equal(read_bytes(4096, 512, data), EIO);
	assert_int_equal(flush(), 0);
	assert_int_equal(device_requests(fixture_device), 3);
	assert_true(device_request(fixture_device, 0, &request));
	device_request_print(&request, text, sizeof(text));
	assert_string_equal(text, "nvme.write 512+1024 fua");
	assert_true(device_request(fixture_device, 1, &request));
	device_request_print(&request, text, sizeof(text));
	assert_string_equal(text, "nvme.read#1 4096+512: EIO (fault 1)");
	assert_true(device_request(fixture_device, 2, &request));
	device_request_print(&request, text, sizeof(text));
	assert_string_equal(text, "nvme.flush#1");
	assert_false(device_request(fixture_device, 3, &request));
}

static void what_is_held_is_logged_as_not_answered(void **state)
{
	struct device_request request;
	char text[128];

	(void)state;
	fixture_arm("nvme.write#1 => hold");
	submit(CLIENT_WRITE, 1, 1024);
	assert_int_equal(flush(), 0);
	assert_true(device_request(fixture_device, 0, &request));
	device_request_print(&request, text, sizeof(text));
	assert_string_equal(text, "nvme.write#1 1024+512 (fault 1), not answered");
	assert_int_equal(device_disarm(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 1);
	assert_true(device_request(fixture_device, 0, &request));
	assert_true(request.answered);
}

static void the_youngest_requests_are_kept(void **state)
{
	struct device_request request;

	(void)state;
	fixture_arm("");
	for (unsigned i = 0; i < DEVICE_LOG_MAX + 2; i++)
		assert_int_equal(read_bytes(i % 16 * 512, 512, data), 0);
	assert_int_equal(device_requests(fixture_device), DEVICE_LOG_MAX + 2);
	assert_false(device_request(fixture_device, 0, &request));
	assert_false(device_request(fixture_device, 1, &request));
	for (unsigned i = 2; i < DEVICE_LOG_MAX + 2; i++) {
		assert_true(device_request(fixture_device, i, &request));
		assert_int_equal(request.number, i + 1);
		assert_int_equal(request.offset, i % 16 * 512);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(what_was_written_is_read),
		fixture_test(a_failure_of_its_own_is_told_apart_from_what_was_injected),
		fixture_test(the_export_says_what_the_device_is),
		fixture_test(a_read_only_device_refuses_writes_and_nothing_changes),
		fixture_test(an_image_is_used_again),
		fixture_test(ranges_that_it_does_not_have_are_refused),
		fixture_test(a_read_that_is_too_long_is_refused_and_such_a_write_cut_off),
		fixture_test(the_longest_requests_are_served),
		fixture_test(options_that_make_no_device_are_refused),
		fixture_test(an_image_that_cannot_hold_it_is_refused),
		fixture_test(it_keeps_nothing_open_that_is_its_makers),
		fixture_test(a_killed_process_is_told_of_and_nobody_hangs),
		fixture_test(a_process_that_does_not_answer_is_killed),
		fixture_test(a_process_that_does_not_end_is_killed),
		fixture_test(interrupts_of_the_maker_do_not_reach_it),
		fixture_test(it_ends_with_its_maker),
		fixture_test(requests_are_logged_with_their_numbers),
		fixture_test(what_is_held_is_logged_as_not_answered),
		fixture_test(the_youngest_requests_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
