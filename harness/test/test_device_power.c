/* SPDX-License-Identifier: MIT */
/*
 * test_device_power.c - what outlives a loss of power: all that the device promised, and of the
 * rest what the seed says, always the same for one seed.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device_fixture.h"
#include "medium.h"

#define SECTORS 64u
#define SEEDS 40u

static uint8_t data[FIXTURE_BYTES];

/* Armed with a power cut at the first read, drawn from @seed. */
static void arm_cut(unsigned seed, const char *more)
{
	char faults[160];

	snprintf(faults, sizeof(faults), "nvme.read#1 => powercut:%u; %s", seed, more);
	fixture_arm(faults);
}

/* The power goes: the device says so, and nothing else any more. */
static void cut(void)
{
	struct pollfd polled = {.fd = device_event_fd(fixture_device), .events = POLLIN};
	struct device_event event;

	submit(CLIENT_READ, 77, 0);
	assert_int_equal(poll(&polled, 1, CLIENT_DEADLINE_MS), 1);
	assert_int_equal(device_event(fixture_device, &event), 1);
	assert_int_equal(event.kind, DEVICE_POWER_CUT);
	assert_int_equal(event.fault_index, 0);
	assert_int_equal(event.point, POINT_nvme_read);
	assert_int_equal(event.number, 1);
	check_outcome(0, 1, 1, 0, "");
}

static void start_anew(void)
{
	fixture_hang_up();
	assert_int_equal(fixture_stop(), 0);
}

/* How many of the first sectors hold @byte; each holds either that or @other, whole. */
static unsigned count_sectors(uint8_t byte, uint8_t other)
{
	unsigned count = 0;

	for (unsigned i = 0; i < SECTORS; i++) {
		bool holds = image_holds(i * 512, 512, byte);

		assert_true(holds || image_holds(i * 512, 512, other));
		count += holds;
	}
	return count;
}

static void clear_image(void)
{
	memset(data, 0, SECTORS * 512);
	assert_int_equal(pwrite(fixture_options.image_fd, data, SECTORS * 512, 0), SECTORS * 512);
}

static void what_was_flushed_is_there(void **state)
{
	(void)state;
	fixture_options.write_cache = true;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		clear_image();
		arm_cut(seed, "");
		assert_int_equal(write_bytes(0, SECTORS * 512, 1, 0), 0);
		assert_int_equal(flush(), 0);
		cut();
		start_anew();
		assert_int_equal(count_sectors(1, 0), SECTORS);
	}
}

static void what_was_not_flushed_is_lost_as_the_seed_says(void **state)
{
	static uint8_t first[SECTORS * 512], second[SECTORS * 512];
	unsigned all = 0, none = 0, some = 0;

	(void)state;
	fixture_options.write_cache = true;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		for (unsigned again = 0; again < 2; again++) {
			clear_image();
			arm_cut(seed, "");
			assert_int_equal(write_bytes(0, SECTORS * 512, 1, 0), 0);
			cut();
			start_anew();
			assert_int_equal(pread(fixture_options.image_fd, again ? second : first,
					       sizeof(first), 0),
					 sizeof(first));
		}
		assert_memory_equal(first, second, sizeof(first));
		all += count_sectors(1, 0) == 0;
		none += count_sectors(1, 0) == SECTORS;
		some += count_sectors(1, 0) > 0 && count_sectors(1, 0) < SECTORS;
	}
	assert_true(all && none && some);
}

static void what_was_written_with_fua_is_there(void **state)
{
	(void)state;
	fixture_options.write_cache = true;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		clear_image();
		arm_cut(seed, "");
		assert_int_equal(write_bytes(0, SECTORS * 512, 1, 0), 0);
		assert_int_equal(write_bytes(0, SECTORS * 256, 2, CLIENT_FUA), 0);
		cut();
		start_anew();
		assert_true(image_holds(0, SECTORS * 256, 2));
	}
}

static void a_device_without_a_cache_keeps_what_it_answered(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		clear_image();
		arm_cut(seed, "");
		assert_int_equal(write_bytes(0, SECTORS * 512, 1, 0), 0);
		cut();
		start_anew();
		assert_int_equal(count_sectors(1, 0), SECTORS);
	}
}

static void a_write_that_was_not_answered_may_be_lost(void **state)
{
	unsigned lost = 0;

	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		clear_image();
		arm_cut(seed, "nvme.write#1 => hold");
		submit(CLIENT_WRITE, 1, 0);
		assert_int_equal(flush(), 0); /* it covers what was answered, and that was not */
		cut();
		start_anew();
		lost += image_holds(0, 512, 0);
	}
	assert_in_range(lost, 1, SEEDS - 1);
}

static void a_lost_flush_makes_nothing_durable(void **state)
{
	unsigned lost = 0;

	(void)state;
	fixture_options.write_cache = true;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		clear_image();
		arm_cut(seed, "nvme.flush#1 => lost");
		assert_int_equal(write_bytes(0, SECTORS * 512, 1, 0), 0);
		assert_int_equal(flush(), 0);
		check_outcome(1, 1, 1, 0, "");
		cut();
		start_anew();
		lost += count_sectors(0, 1) > 0;
	}
	assert_true(lost > 0);
}

static void a_flush_that_failed_makes_nothing_durable(void **state)
{
	unsigned lost = 0;

	(void)state;
	fixture_options.write_cache = true;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		clear_image();
		arm_cut(seed, "nvme.flush#1 => error");
		assert_int_equal(write_bytes(0, SECTORS * 512, 1, 0), 0);
		assert_int_equal(flush(), EIO);
		cut();
		start_anew();
		lost += count_sectors(0, 1) > 0;
	}
	assert_true(lost > 0);
}

static void a_device_without_power_says_nothing_any_more(void **state)
{
	(void)state;
	arm_cut(1, "nvme.read#1 => hold:for=1ms; nvme.read#1 => error; nvme.read#1 => powercut:2");
	submit(CLIENT_WRITE, 1, 0);
	assert_int_equal(next_cookie(CLIENT_WRITE), 1);
	cut();
	for (unsigned i = 1; i <= 2; i++)
		check_outcome(i, 1, 0, 1, "the power went");
	check_outcome(3, 1, 0, 1, "an earlier fault rules");
	submit(CLIENT_WRITE, 2, 512);
	assert_true(client_is_quiet(fixture_client));
	assert_int_equal(device_disarm(fixture_device), 0);
	assert_int_equal(device_arm(fixture_device), 0);
	assert_true(client_is_quiet(fixture_client));
	assert_true(image_holds(512, 512, 0));
}

static void the_power_can_go_at_a_write_or_a_flush(void **state)
{
	static const char *const faults[] = {"nvme.write#2 => powercut",
					     "nvme.flush#1 => powercut"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct pollfd polled = {.events = POLLIN};
		struct device_event event;

		clear_image();
		fixture_arm(faults[i]);
		submit(CLIENT_WRITE, 1, 0);
		submit(i ? CLIENT_FLUSH : CLIENT_WRITE, 2, i ? 0 : 512);
		polled.fd = device_event_fd(fixture_device);
		assert_int_equal(poll(&polled, 1, CLIENT_DEADLINE_MS), 1);
		assert_int_equal(device_event(fixture_device, &event), 1);
		assert_int_equal(event.kind, DEVICE_POWER_CUT);
		start_anew();
		assert_true(image_holds(0, 512, 1));   /* it was answered */
		assert_true(image_holds(512, 512, 0)); /* not carried out */
	}
}

/* ---- the medium by itself ---- */

static struct medium *medium_of(int fd)
{
	struct medium_options options = {.fd = fd,
					 .sector_bytes = 512,
					 .size_bytes = FIXTURE_BYTES,
					 .write_cache = true,
					 .keeps_undo = true};
	struct medium *medium;

	assert_int_equal(ftruncate(fd, FIXTURE_BYTES), 0);
	assert_int_equal(medium_create(&medium, &options), 0);
	return medium;
}

static uint64_t put(struct medium *medium, uint64_t sector, uint64_t sectors, uint8_t byte)
{
	uint64_t write;

	memset(data, byte, sectors * 512);
	assert_int_equal(medium_write(medium, sector * 512, data, sectors * 512, &write), 0);
	assert_true(write > 0);
	return write;
}

/* Of three writes the second is durable: the third may be lost, and then the second is there. */
static void a_sector_falls_back_to_what_is_durable_or_later(void **state)
{
	unsigned kept = 0, lost = 0;

	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct medium *medium = medium_of(fixture_options.image_fd);

		medium_answered(medium, put(medium, 0, 1, 1), false);
		medium_answered(medium, put(medium, 0, 1, 2), false);
		medium_flush_end(medium, medium_flush_begin(medium));
		medium_answered(medium, put(medium, 0, 1, 3), false);
		assert_int_equal(medium_cut(medium, seed), 0);
		kept += image_holds(0, 512, 3);
		lost += image_holds(0, 512, 2);
		medium_destroy(medium);
	}
	assert_int_equal(kept + lost, SEEDS);
	assert_true(kept && lost);
}

/* Nothing is durable: each of four contents is what is left for some seed. */
static void a_sector_may_fall_back_to_any_write(void **state)
{
	unsigned left[4] = {0};

	(void)state;
	for (unsigned seed = 0; seed < 10 * SEEDS; seed++) {
		struct medium *medium = medium_of(fixture_options.image_fd);

		clear_image();
		for (uint8_t byte = 1; byte <= 3; byte++)
			medium_answered(medium, put(medium, 0, 1, byte), false);
		assert_int_equal(medium_cut(medium, seed), 0);
		assert_in_range(image_byte(0), 0, 3);
		left[image_byte(0)]++;
		medium_destroy(medium);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_true(left[i] > 0);
}

/* A flush that began before a write was answered says nothing of it. */
static void a_flush_covers_what_was_answered_when_it_came(void **state)
{
	unsigned lost[2] = {0};

	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct medium *medium = medium_of(fixture_options.image_fd);
		uint64_t begun, late;

		clear_image();
		medium_answered(medium, put(medium, 0, 2, 1), false);
		late = put(medium, 4, 2, 1);
		begun = medium_flush_begin(medium);
		medium_answered(medium, late, false);
		medium_flush_end(medium, begun);
		assert_int_equal(medium_cut(medium, seed), 0);
		lost[0] += !image_holds(0, 1024, 1);
		lost[1] += !image_holds(4 * 512, 1024, 1);
		medium_destroy(medium);
	}
	assert_int_equal(lost[0], 0);
	assert_true(lost[1] > 0);
}

/* FUA on a part of an earlier write makes just that part durable. */
static void durability_is_of_sectors(void **state)
{
	unsigned lost[3] = {0};

	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct medium *medium = medium_of(fixture_options.image_fd);

		clear_image();
		medium_answered(medium, put(medium, 0, 3, 1), false);
		medium_answered(medium, put(medium, 1, 1, 2), true);
		assert_int_equal(medium_cut(medium, seed), 0);
		lost[0] += image_holds(0, 512, 0);
		lost[1] += !image_holds(512, 512, 2);
		lost[2] += image_holds(1024, 512, 0);
		medium_destroy(medium);
	}
	assert_true(lost[0] > 0);
	assert_int_equal(lost[1], 0);
	assert_true(lost[2] > 0);
}

/* 64 MiB that were answered, and then some: the oldest are durable, the youngest are not. */
static void a_cache_has_a_size(void **state)
{
	uint64_t rounds = (64u << 20) / FIXTURE_BYTES;
	unsigned lost = 0;

	(void)state;
	for (unsigned seed = 0; seed < 8; seed++) {
		struct medium *medium = medium_of(fixture_options.image_fd);

		clear_image();
		medium_answered(medium, put(medium, 0, 1, 1), false);
		for (uint64_t i = 0; i < rounds; i++)
			medium_answered(medium, put(medium, 1, FIXTURE_BYTES / 512 - 1, 2), false);
		medium_answered(medium, put(medium, 1, FIXTURE_BYTES / 512 - 1, 3), false);
		assert_int_equal(medium_cut(medium, seed), 0);
		assert_true(image_holds(0, 512, 1));
		lost += !image_holds(512, 512, 3);
		medium_destroy(medium);
	}
	assert_true(lost > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(what_was_flushed_is_there),
		fixture_test(what_was_not_flushed_is_lost_as_the_seed_says),
		fixture_test(what_was_written_with_fua_is_there),
		fixture_test(a_device_without_a_cache_keeps_what_it_answered),
		fixture_test(a_write_that_was_not_answered_may_be_lost),
		fixture_test(a_lost_flush_makes_nothing_durable),
		fixture_test(a_flush_that_failed_makes_nothing_durable),
		fixture_test(a_device_without_power_says_nothing_any_more),
		fixture_test(the_power_can_go_at_a_write_or_a_flush),
		fixture_test(a_sector_falls_back_to_what_is_durable_or_later),
		fixture_test(a_sector_may_fall_back_to_any_write),
		fixture_test(a_flush_covers_what_was_answered_when_it_came),
		fixture_test(durability_is_of_sectors),
		fixture_test(a_cache_has_a_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
