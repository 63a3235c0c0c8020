/* SPDX-License-Identifier: MIT */
/*
 * test_device_faults.c - each fault of the device hits the request and the bytes that it names, is
 * counted as what it was, and is over when the device is disarmed. (Losses of power:
 * test_device_power.c; removals: test_device_removal.c.)
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device_fixture.h"

static uint8_t data[FIXTURE_BYTES];

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- media errors ---- */

static void a_bad_spot_fails_the_reads_that_touch_it(void **state)
{
	(void)state;
	fixture_arm("nvme.read offset=4K..8K => error:EIO");
	assert_int_equal(read_bytes(0, 4096, data), 0);
	assert_int_equal(read_bytes(8192, 4096, data), 0);
	assert_int_equal(write_bytes(4096, 4096, 3, 0), 0);
	check_outcome(0, 0, 0, 0, "");
	assert_int_equal(read_bytes(4096, 512, data), EIO);
	assert_int_equal(read_bytes(8192 - 512, 1024, data), EIO);
	assert_int_equal(read_bytes(0, FIXTURE_BYTES, data), EIO);
	check_outcome(0, 3, 3, 0, "");
	assert_int_equal(device_disarm(fixture_device), 0);
	assert_int_equal(read_bytes(4096, 512, data), 0);
	assert_int_equal(data[0], 3);
}

static void a_bad_spot_fails_writes_and_they_move_nothing(void **state)
{
	(void)state;
	fixture_arm("nvme.write offset=4K..8K => error");
	assert_int_equal(write_bytes(0, 8192, 3, 0), EIO);
	assert_int_equal(write_bytes(4096, 4096, 3, CLIENT_FUA), EIO);
	assert_true(image_holds(0, 8192, 0));
	assert_int_equal(read_bytes(4096, 512, data), 0);
	assert_int_equal(write_bytes(0, 4096, 3, 0), 0);
	assert_true(image_holds(0, 4096, 3));
	check_outcome(0, 2, 2, 0, "");
}

static void a_bad_spot_of_both_is_two_faults(void **state)
{
	(void)state;
	fixture_arm("nvme.read offset=512..1K => error; nvme.write offset=512..1K => error");
	assert_int_equal(write_bytes(512, 512, 3, 0), EIO);
	assert_int_equal(read_bytes(512, 512, data), EIO);
	assert_int_equal(read_bytes(512, 512, data), EIO);
	check_outcome(0, 2, 2, 0, "");
	check_outcome(1, 1, 1, 0, "");
}

static void an_error_once_is_over_after_once(void **state)
{
	(void)state;
	fixture_arm("nvme.read#2 offset=4K..8K => error; nvme.flush#1 => error");
	assert_int_equal(read_bytes(0, 512, data), 0); /* not counted: it touches nothing of it */
	assert_int_equal(read_bytes(4096, 512, data), 0);
	assert_int_equal(read_bytes(4096, 512, data), EIO);
	assert_int_equal(read_bytes(4096, 512, data), 0);
	check_outcome(0, 1, 1, 0, "");
	assert_int_equal(flush(), EIO);
	assert_int_equal(flush(), 0);
	check_outcome(1, 1, 1, 0, "");
}

/* ---- what is counted ---- */

static void nothing_fires_before_it_is_armed_or_after(void **state)
{
	(void)state;
	fixture_start("nvme.read#1..2 => error");
	client_connect(fixture_client);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(device_arm(fixture_device), 0);
	assert_int_equal(read_bytes(0, 512, data), EIO);
	assert_int_equal(device_disarm(fixture_device), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	check_outcome(0, 1, 1, 0, "");
}

static void arming_again_counts_anew(void **state)
{
	(void)state;
	fixture_arm("nvme.read#2 => error");
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(device_arm(fixture_device), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(read_bytes(0, 512, data), EIO);
	check_outcome(0, 1, 1, 0, "");
}

static void faults_of_other_layers_are_not_the_devices(void **state)
{
	(void)state;
	fixture_arm("io_event => zero; fsync => error; nvme.flush#1 => error");
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(flush(), EIO);
	check_outcome(0, 0, 0, 0, "");
	check_outcome(1, 0, 0, 0, "");
	check_outcome(2, 1, 1, 0, "");
}

static void depth_counts_what_is_not_answered(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => hold; nvme.read depth=2 => error");
	assert_int_equal(read_bytes(0, 512, data), 0);
	submit(CLIENT_WRITE, 1, 0);
	assert_int_equal(read_bytes(0, 512, data), EIO);
	assert_int_equal(device_disarm(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 1);
	check_outcome(1, 1, 1, 0, "");
}

static void lengths_are_of_whole_requests(void **state)
{
	(void)state;
	fixture_arm("nvme.read length=4K.. => error");
	assert_int_equal(read_bytes(0, 4096 - 512, data), 0);
	assert_int_equal(read_bytes(0, 4096, data), EIO);
	check_outcome(0, 1, 1, 0, "");
}

static void the_first_fault_of_the_transfer_rules(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => torn:512; nvme.write => error; nvme.write#1 => hold:for=1ms;"
		    "nvme.write#1 => hold");
	assert_int_equal(write_bytes(0, 1024, 3, 0), 0);
	assert_int_equal(write_bytes(0, 1024, 3, 0), EIO);
	check_outcome(0, 1, 1, 0, "");
	check_outcome(1, 2, 1, 1, "an earlier fault rules");
	check_outcome(2, 1, 1, 0, "");
	check_outcome(3, 1, 0, 1, "an earlier fault rules");
}

/* ---- holds ---- */

static void a_held_answer_comes_after_the_one_it_waits_for(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => hold:until=nvme.write#3");
	submit(CLIENT_WRITE, 1, 0);
	submit(CLIENT_WRITE, 2, 512);
	assert_int_equal(next_cookie(CLIENT_WRITE), 2);
	assert_true(client_is_quiet(fixture_client));
	assert_true(image_holds(0, 512, 1)); /* done, and not answered */
	submit(CLIENT_WRITE, 3, 1024);
	assert_int_equal(next_cookie(CLIENT_WRITE), 3);
	assert_int_equal(next_cookie(CLIENT_WRITE), 1);
	check_outcome(0, 1, 1, 0, "");
}

static void a_hold_waits_for_any_kind_of_request(void **state)
{
	(void)state;
	fixture_arm(
		"nvme.read#1 => hold:until=nvme.flush#1; nvme.flush#1 => hold:until=nvme.write#1");
	submit(CLIENT_READ, 1, 0);
	submit(CLIENT_FLUSH, 2, 0);
	assert_true(client_is_quiet(fixture_client));
	submit(CLIENT_WRITE, 3, 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 3);
	assert_int_equal(next_cookie(CLIENT_FLUSH), 2);
	assert_int_equal(next_cookie(CLIENT_READ), 1);
}

static void a_hold_for_what_is_over_is_missed(void **state)
{
	(void)state;
	fixture_arm("nvme.read#2 => hold:until=nvme.write#1");
	assert_int_equal(write_bytes(0, 512, 1, 0), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	check_outcome(0, 1, 0, 1, "what it waits for was answered before");
}

static void what_is_held_for_ever_is_let_go_when_disarmed(void **state)
{
	(void)state;
	fixture_arm("nvme.read => hold:until=never");
	for (unsigned i = 1; i <= 3; i++)
		submit(CLIENT_READ, i, 0);
	assert_int_equal(flush(), 0);
	assert_true(client_is_quiet(fixture_client));
	assert_int_equal(device_disarm(fixture_device), 0);
	for (unsigned i = 1; i <= 3; i++)
		assert_int_equal(next_cookie(CLIENT_READ), i);
	check_outcome(0, 3, 3, 0, "");
}

static void arming_again_lets_go_of_what_is_held(void **state)
{
	(void)state;
	fixture_arm("nvme.read#1 => hold");
	submit(CLIENT_READ, 1, 0);
	assert_int_equal(flush(), 0);
	assert_int_equal(device_arm(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_READ), 1);
}

static void a_hold_for_a_time_takes_that_time(void **state)
{
	uint64_t begin = now_ms();

	(void)state;
	fixture_arm("nvme.flush#1 => hold:for=100ms");
	assert_int_equal(flush(), 0);
	assert_true(now_ms() - begin >= 100);
	check_outcome(0, 1, 1, 0, "");
}

static void an_error_can_be_held_too(void **state)
{
	(void)state;
	fixture_arm("nvme.flush#1 => error; nvme.flush#1 => hold:until=nvme.read#1");
	submit(CLIENT_FLUSH, 1, 0);
	assert_true(client_is_quiet(fixture_client));
	submit(CLIENT_READ, 2, 0);
	assert_int_equal(next_cookie(CLIENT_READ), 2);
	assert_int_equal(client_reply(fixture_client, NULL, 0).error, EIO);
	check_outcome(0, 1, 1, 0, "");
	check_outcome(1, 1, 1, 0, "");
}

/* More than the device takes at a time: the rest waits in the socket, and is served in the end. */
static void any_number_of_requests_can_be_held(void **state)
{
	(void)state;
	fixture_arm("nvme.read => hold");
	for (unsigned i = 0; i < 200; i++)
		submit(CLIENT_READ, i, 0);
	while (device_requests(fixture_device) < 128)
		poll(NULL, 0, 1);
	assert_true(client_is_quiet(fixture_client));
	assert_int_equal(device_disarm(fixture_device), 0);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(next_cookie(CLIENT_READ), i);
	check_outcome(0, 128, 128, 0, "");
}

/* ---- limits ---- */

static void bytes_move_no_faster_than_the_limit(void **state)
{
	uint64_t begin;

	(void)state;
	fixture_arm("nvme.write => limit:512K");
	begin = now_ms();
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(write_bytes(0, 16 << 10, 1, 0), 0);
	assert_true(now_ms() - begin >= 125); /* 64 KiB */
	begin = now_ms();
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(read_bytes(0, 1 << 20, data), 0);
	check_outcome(0, 4, 4, 0, "");
	assert_true(now_ms() - begin < 100000); /* at the limit it would be */
}

static void requests_are_answered_no_faster_than_the_limit(void **state)
{
	uint64_t begin;

	(void)state;
	fixture_arm("nvme.read => iops:50");
	begin = now_ms();
	for (unsigned i = 0; i < 6; i++)
		submit(CLIENT_READ, i, 0);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(next_cookie(CLIENT_READ), i);
	assert_true(now_ms() - begin >= 120);
	check_outcome(0, 6, 6, 0, "");
}

static void a_limit_is_over_when_disarmed(void **state)
{
	(void)state;
	fixture_arm("nvme.write => limit:1"); /* 512 s for each */
	submit(CLIENT_WRITE, 1, 0);
	submit(CLIENT_WRITE, 2, 0);
	while (device_requests(fixture_device) < 2)
		poll(NULL, 0, 1);
	assert_true(client_is_quiet(fixture_client));
	assert_int_equal(device_disarm(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 1);
	assert_int_equal(next_cookie(CLIENT_WRITE), 2);
}

static void a_lane_is_free_when_armed_again(void **state)
{
	struct client_request request = {CLIENT_WRITE, 0, 1, 0, 512 << 10};

	(void)state;
	fixture_arm("nvme.write => limit:4K");
	client_submit(fixture_client, &request, data); /* 128 s */
	while (device_requests(fixture_device) < 1)
		poll(NULL, 0, 1);
	assert_int_equal(device_arm(fixture_device), 0);
	assert_int_equal(client_reply(fixture_client, NULL, 0).cookie, 1);
	assert_int_equal(write_bytes(0, 512, 1, 0), 0); /* not behind those */
	check_outcome(0, 2, 2, 0, "");
}

static void the_slower_of_two_limits_rules(void **state)
{
	uint64_t begin;

	(void)state;
	fixture_arm("nvme.read => iops:1000000; nvme.read => limit:8K");
	begin = now_ms();
	assert_int_equal(read_bytes(0, 1024, data), 0);
	assert_true(now_ms() - begin >= 125);
	check_outcome(0, 1, 1, 0, "");
	check_outcome(1, 1, 1, 0, "");
}

/* ---- wrong bytes ---- */

static void a_flipped_bit_of_a_read_is_not_on_the_medium(void **state)
{
	(void)state;
	fixture_arm("nvme.read#1 => flip:700");
	assert_int_equal(read_bytes(0, 1024, data), 0);
	assert_int_equal(data[700], 1);
	data[700] = 0;
	for (unsigned i = 0; i < 1024; i++)
		assert_int_equal(data[i], 0);
	assert_int_equal(read_bytes(0, 1024, data), 0);
	assert_int_equal(data[700], 0);
	check_outcome(0, 1, 1, 0, "");
}

static void a_flipped_bit_of_a_write_is_on_the_medium(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => flip:7");
	assert_int_equal(write_bytes(512, 512, 0xf0, 0), 0);
	assert_true(image_holds(512, 7, 0xf0));
	assert_int_equal(image_byte(512 + 7), 0xf1);
	assert_true(image_holds(512 + 8, 504, 0xf0));
	check_outcome(0, 1, 1, 0, "");
}

static void a_byte_that_a_request_does_not_have_is_missed(void **state)
{
	(void)state;
	fixture_arm("nvme.write => flip:512; nvme.read => flip:512");
	assert_int_equal(write_bytes(0, 512, 1, 0), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_true(image_holds(0, 512, 1));
	check_outcome(0, 1, 0, 1, "the request has no such byte");
	check_outcome(1, 1, 0, 1, "the request has no such byte");
}

static void a_torn_write_moves_its_first_bytes(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => torn:700; nvme.write#2 => torn:1K");
	assert_int_equal(write_bytes(0, 1024, 3, 0), 0);
	assert_true(image_holds(0, 700, 3));
	assert_true(image_holds(700, 324, 0));
	assert_int_equal(write_bytes(0, 1024, 4, 0), 0);
	assert_true(image_holds(0, 1024, 4));
	check_outcome(0, 1, 1, 0, "");
	check_outcome(1, 1, 0, 1, "the request is no longer than that");
}

static void a_lost_write_moves_nothing(void **state)
{
	(void)state;
	fixture_arm("nvme.write#2 => lost");
	assert_int_equal(write_bytes(0, 512, 1, 0), 0);
	assert_int_equal(write_bytes(0, 1024, 2, CLIENT_FUA), 0);
	assert_true(image_holds(0, 512, 1));
	assert_true(image_holds(512, 512, 0));
	check_outcome(0, 1, 1, 0, "");
}

static void a_misdirected_write_lands_elsewhere(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => misdirect:4K; nvme.write#2 => misdirect:-1K");
	assert_int_equal(write_bytes(1024, 512, 1, 0), 0);
	assert_int_equal(write_bytes(1024, 512, 2, 0), 0);
	assert_true(image_holds(1024, 512, 0));
	assert_true(image_holds(1024 + 4096, 512, 1));
	assert_true(image_holds(0, 512, 2));
	check_outcome(0, 1, 1, 0, "");
	check_outcome(1, 1, 1, 0, "");
}

static void a_misdirected_read_comes_from_elsewhere(void **state)
{
	(void)state;
	fixture_arm("nvme.read#1 => misdirect:4K; nvme.read#2 => misdirect:-512");
	assert_int_equal(write_bytes(4096, 512, 1, 0), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(data[0], 1);
	assert_int_equal(read_bytes(4096 + 512, 512, data), 0);
	assert_int_equal(data[511], 1);
	check_outcome(0, 1, 1, 0, "");
	check_outcome(1, 1, 1, 0, "");
}

static void misdirection_out_of_the_device_is_missed(void **state)
{
	static const char *const why = "outside of the device, or no whole sector away";

	(void)state;
	fixture_arm("nvme.write => misdirect:-512; nvme.read#1 => misdirect:512;"
		    "nvme.read#2 => misdirect:100; nvme.read#3 => misdirect:9223372036854775807");
	assert_int_equal(write_bytes(0, 512, 1, 0), 0);
	assert_true(image_holds(0, 512, 1));
	assert_int_equal(read_bytes(FIXTURE_BYTES - 512, 512, data), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(data[0], 1);
	assert_int_equal(read_bytes(0, 512, data), 0);
	for (unsigned i = 0; i < 4; i++)
		check_outcome(i, 1, 0, 1, why);
}

static void a_stale_read_gives_what_was_there_before(void **state)
{
	(void)state;
	fixture_arm("nvme.read#2.. => stale");
	assert_int_equal(write_bytes(0, 512, 1, 0), 0);
	assert_int_equal(write_bytes(0, 1024, 2, 0), 0);
	assert_int_equal(read_bytes(0, 512, data), 0);
	assert_int_equal(data[0], 2);
	assert_int_equal(read_bytes(0, 1536, data), 0);
	assert_int_equal(data[0], 1);
	assert_int_equal(data[511], 1);
	assert_int_equal(data[512], 0);
	assert_int_equal(read_bytes(4096, 512, data), 0);
	check_outcome(0, 2, 1, 1, "nothing was written there");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(a_bad_spot_fails_the_reads_that_touch_it),
		fixture_test(a_bad_spot_fails_writes_and_they_move_nothing),
		fixture_test(a_bad_spot_of_both_is_two_faults),
		fixture_test(an_error_once_is_over_after_once),
		fixture_test(nothing_fires_before_it_is_armed_or_after),
		fixture_test(arming_again_counts_anew),
		fixture_test(faults_of_other_layers_are_not_the_devices),
		fixture_test(depth_counts_what_is_not_answered),
		fixture_test(lengths_are_of_whole_requests),
		fixture_test(the_first_fault_of_the_transfer_rules),
		fixture_test(a_held_answer_comes_after_the_one_it_waits_for),
		fixture_test(a_hold_waits_for_any_kind_of_request),
		fixture_test(a_hold_for_what_is_over_is_missed),
		fixture_test(what_is_held_for_ever_is_let_go_when_disarmed),
		fixture_test(arming_again_lets_go_of_what_is_held),
		fixture_test(a_hold_for_a_time_takes_that_time),
		fixture_test(an_error_can_be_held_too),
		fixture_test(any_number_of_requests_can_be_held),
		fixture_test(bytes_move_no_faster_than_the_limit),
		fixture_test(requests_are_answered_no_faster_than_the_limit),
		fixture_test(a_limit_is_over_when_disarmed),
		fixture_test(a_lane_is_free_when_armed_again),
		fixture_test(the_slower_of_two_limits_rules),
		fixture_test(a_flipped_bit_of_a_read_is_not_on_the_medium),
		fixture_test(a_flipped_bit_of_a_write_is_on_the_medium),
		fixture_test(a_byte_that_a_request_does_not_have_is_missed),
		fixture_test(a_torn_write_moves_its_first_bytes),
		fixture_test(a_lost_write_moves_nothing),
		fixture_test(a_misdirected_write_lands_elsewhere),
		fixture_test(a_misdirected_read_comes_from_elsewhere),
		fixture_test(misdirection_out_of_the_device_is_missed),
		fixture_test(a_stale_read_gives_what_was_there_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
