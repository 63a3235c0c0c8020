/* SPDX-License-Identifier: MIT */
/*
 * test_device_removal.c - a device that is pulled out: what it answers and carries out on its way,
 * while it is out and when it is back, and when the removal counts as one.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device_fixture.h"

static uint8_t data[FIXTURE_BYTES];

/* The next one that it tells is a removal at that request. */
static void expect_removal(unsigned fault, enum point_id point, uint64_t number)
{
	struct pollfd polled = {.fd = device_event_fd(fixture_device), .events = POLLIN};
	struct device_event event;

	assert_int_equal(poll(&polled, 1, CLIENT_DEADLINE_MS), 1);
	assert_int_equal(device_event(fixture_device, &event), 1);
	assert_int_equal(event.kind, DEVICE_REMOVAL);
	assert_int_equal(event.fault_index, fault);
	assert_int_equal(event.point, point);
	assert_int_equal(event.number, number);
	assert_int_equal(device_event(fixture_device, &event), 0);
}

static void what_is_torn_out_does_nothing_any_more(void **state)
{
	(void)state;
	fixture_arm("nvme.write#2 => remove");
	assert_int_equal(write_bytes(0, 512, 1, 0), 0);
	submit(CLIENT_WRITE, 2, 512);
	expect_removal(0, POINT_nvme_write, 2);
	submit(CLIENT_WRITE, 3, 1024);
	assert_true(client_is_quiet(fixture_client));
	assert_true(image_holds(1024, 512, 0)); /* it came too late */
	check_outcome(0, 1, 0, 0, "");		/* and is not out yet */
}

static void what_came_too_late_is_not_carried_out(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => remove:surprise");
	submit(CLIENT_WRITE, 1, 512);
	expect_removal(0, POINT_nvme_write, 1);
	submit(CLIENT_WRITE, 2, 1024);
	assert_int_equal(device_pulled(fixture_device), 0);
	check_outcome(0, 1, 1, 0, "");
	assert_int_equal(next_cookie(CLIENT_WRITE), 1); /* so that QEMU lets go of it */
	assert_int_equal(client_reply(fixture_client, NULL, 0).error, EIO);
	assert_true(image_holds(1024, 512, 0));
	assert_int_equal(write_bytes(2048, 512, 5, 0), EIO);
	assert_int_equal(read_bytes(0, 512, data), EIO);
	assert_int_equal(flush(), EIO);
	assert_true(image_holds(2048, 512, 0));
}

static void what_is_put_back_works_and_counts_on(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => remove; nvme.write#3 => error");
	submit(CLIENT_WRITE, 1, 512);
	expect_removal(0, POINT_nvme_write, 1);
	assert_int_equal(device_pulled(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 1);
	assert_int_equal(write_bytes(512, 512, 4, 0), EIO); /* not counted: nobody was there */
	assert_int_equal(device_put_back(fixture_device), 0);
	assert_int_equal(write_bytes(512, 512, 5, 0), 0);
	assert_true(image_holds(512, 512, 5));
	assert_int_equal(write_bytes(512, 512, 6, 0), EIO);
	check_outcome(1, 1, 1, 0, "");
}

/* In order nothing is lost: one request is kept in flight until the guest gives no more. */
static void what_goes_in_order_answers_all_but_one(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => remove:orderly");
	submit(CLIENT_WRITE, 7, 512);
	expect_removal(0, POINT_nvme_write, 1);
	submit(CLIENT_WRITE, 8, 1024);
	assert_int_equal(next_cookie(CLIENT_WRITE), 8);
	assert_true(client_is_quiet(fixture_client));
	check_outcome(0, 1, 0, 0, "");
	assert_int_equal(device_pulled(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 7);
	check_outcome(0, 1, 1, 0, "");
	assert_true(image_holds(512, 512, 7));
	assert_int_equal(write_bytes(2048, 512, 9, 0), 0);
}

static void what_is_disarmed_before_it_is_out_is_missed(void **state)
{
	(void)state;
	fixture_arm("nvme.flush#1 => remove");
	submit(CLIENT_FLUSH, 1, 0);
	expect_removal(0, POINT_nvme_flush, 1);
	submit(CLIENT_WRITE, 2, 1024);
	assert_int_equal(device_disarm(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_FLUSH), 1);
	assert_int_equal(next_cookie(CLIENT_WRITE), 2);
	assert_true(image_holds(1024, 512, 2));
	assert_int_equal(device_pulled(fixture_device), 0); /* too late: it stays */
	assert_int_equal(write_bytes(2048, 512, 9, 0), 0);
	check_outcome(0, 1, 0, 1, "the faults were over before it was out");
}

static void what_is_on_its_way_out_is_pulled_out_once(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => remove:orderly; nvme.write#2 => remove");
	submit(CLIENT_WRITE, 1, 512);
	expect_removal(0, POINT_nvme_write, 1);
	assert_int_equal(write_bytes(1024, 512, 2, 0), 0);
	check_outcome(1, 1, 0, 1, "the device is on its way out already");
	assert_int_equal(device_pulled(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 1);
	check_outcome(0, 1, 1, 0, "");
}

/* Nobody could wait for it any longer. */
static void what_else_was_held_is_let_go_with_a_device_that_is_torn_out(void **state)
{
	(void)state;
	fixture_arm("nvme.write#1 => hold:until=never; nvme.write#2 => remove");
	submit(CLIENT_WRITE, 1, 512);
	submit(CLIENT_WRITE, 2, 1024);
	expect_removal(1, POINT_nvme_write, 2);
	assert_int_equal(device_pulled(fixture_device), 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 1);
	assert_int_equal(next_cookie(CLIENT_WRITE), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(what_is_torn_out_does_nothing_any_more),
		fixture_test(what_came_too_late_is_not_carried_out),
		fixture_test(what_is_put_back_works_and_counts_on),
		fixture_test(what_goes_in_order_answers_all_but_one),
		fixture_test(what_is_disarmed_before_it_is_out_is_missed),
		fixture_test(what_is_on_its_way_out_is_pulled_out_once),
		fixture_test(what_else_was_held_is_let_go_with_a_device_that_is_torn_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
