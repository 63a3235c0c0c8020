/* SPDX-License-Identifier: MIT */
/*
 * test_schedule_effect.c - what a correct program must do about a fault depends on its argument and
 * on whether it ever ends.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <stdio.h>

#include <cmocka.h>

#include "schedule.h"

struct effect_case {
	const char *text;
	enum effect effect;
};

static void check(const struct effect_case *cases, size_t count)
{
	static struct schedule schedule;
	struct schedule_error error;

	for (size_t i = 0; i < count; i++) {
		enum effect effect;

		if (schedule_parse(cases[i].text, &schedule, &error) < 0)
			fail_msg("%s: %s", cases[i].text, error.text);
		effect = fault_effect(&schedule.faults[0]);
		if (effect != cases[i].effect)
			fail_msg("%s: %s", cases[i].text, effect_name(effect));
	}
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof((cases)[0]))

static void submit_again_is_transparent_unless_for_ever(void **state)
{
	static const struct effect_case cases[] = {
		{"io_submit#3 => error:EAGAIN", EFFECT_TRANSPARENT},
		{"io_submit#1..5 => error:EAGAIN", EFFECT_TRANSPARENT},
		{"io_submit => error:EAGAIN", EFFECT_FAILS_ALL},
		{"io_submit#9.. => error:EAGAIN", EFFECT_FAILS_ALL},
		{"io_submit#1..+2 => error:EAGAIN", EFFECT_TRANSPARENT},
		{"io_submit depth=4 => error:EAGAIN", EFFECT_TRANSPARENT},
		{"io_submit#3 => error:EINVAL", EFFECT_FAILS_ONE},
		{"io_submit => error:EINVAL", EFFECT_FAILS_ALL},
		{"io_submit#1 => accept:0", EFFECT_TRANSPARENT},
		{"io_submit => accept:1", EFFECT_TRANSPARENT},
		{"io_submit => accept:0", EFFECT_FAILS_ALL},
	};

	(void)state;
	CHECK(cases);
}

static void waits_are_restarted_or_made_with_the_other_call(void **state)
{
	static const struct effect_case cases[] = {
		{"io_getevents#1 => error:EINTR", EFFECT_TRANSPARENT},
		{"io_getevents => error:EINTR", EFFECT_FAILS_ALL},
		{"io_getevents#1 => error:ENOSYS", EFFECT_TRANSPARENT},
		{"io_getevents => error:ENOSYS", EFFECT_FAILS_ALL},
		{"io_getevents call=io_pgetevents => error:ENOSYS", EFFECT_TRANSPARENT},
		{"io_getevents call=io_getevents => error:EPERM", EFFECT_TRANSPARENT},
		{"io_getevents#1 => error:EINVAL", EFFECT_FAILS_ALL},
		{"io_pgetevents => error:ENOSYS", EFFECT_TRANSPARENT},
		{"io_pgetevents => error:EPERM", EFFECT_TRANSPARENT},
		{"io_pgetevents#2 => error:EINTR", EFFECT_TRANSPARENT},
		{"io_pgetevents => error:EINTR", EFFECT_FAILS_ALL},
		{"io_pgetevents#1 => error:EFAULT", EFFECT_FAILS_ALL},
		{"io_pgetevents => missing", EFFECT_TRANSPARENT},
		{"io_getevents => few:1", EFFECT_TRANSPARENT},
		{"io_getevents#1..9 => few:0", EFFECT_TRANSPARENT},
		{"io_getevents => few:0", EFFECT_FAILS_ALL},
	};

	(void)state;
	CHECK(cases);
}

static void signals_are_transparent_unless_no_event_can_ever_come(void **state)
{
	static const struct effect_case cases[] = {
		{"io_getevents#1 ready=0 => signal:USR1", EFFECT_TRANSPARENT},
		{"io_getevents#1 ready=2 => signal:USR1", EFFECT_TRANSPARENT},
		{"io_getevents => signal:USR1", EFFECT_FAILS_ALL},
		{"io_getevents ready=2 => signal:USR1", EFFECT_TRANSPARENT},
		{"io_getevents ready=0 => signal:USR1", EFFECT_FAILS_ALL},
		{"io_getevents ready=0 => signal:USR1 restart", EFFECT_FAILS_ALL},
		{"io_getevents ready=0 => signal:USR1 masked", EFFECT_TRANSPARENT},
		{"io_getevents ready=0 => signal:USR1 ignored", EFFECT_TRANSPARENT},
		{"io_getevents#1 ready=0 => stop", EFFECT_TRANSPARENT},
		{"io_getevents ready=0 => stop", EFFECT_FAILS_ALL},
		{"io_getevents ready=0 => attach", EFFECT_FAILS_ALL},
	};

	(void)state;
	CHECK(cases);
}

static void completions_are_resumed_refused_or_caught(void **state)
{
	static const struct effect_case cases[] = {
		{"io_event#7 => short:512", EFFECT_TRANSPARENT},
		{"io_event length=1K.. => short:512", EFFECT_TRANSPARENT},
		{"io_event => short:512", EFFECT_FAILS_ONE},
		{"io_event#7 => lie:512", EFFECT_TRANSPARENT},
		{"io_event#7 => lie:-512", EFFECT_FAILS_ONE},
		{"io_event#7 => zero", EFFECT_TRANSPARENT},
		{"io_event offset=16K..32K => zero", EFFECT_FAILS_ONE},
		{"io_event#7 => res:EIO", EFFECT_FAILS_ONE},
		{"io_event#7 => res:EIO after", EFFECT_FAILS_ONE},
		{"io_event#5 => hold:until=io_event#7", EFFECT_TRANSPARENT},
		{"io_event#5 => hold:until=wait#2", EFFECT_TRANSPARENT},
		{"io_event#5 => hold:until=never", EFFECT_FAILS_ONE},
		{"io_event#5 => drop", EFFECT_FAILS_ONE},
		{"io_event#5 => dup", EFFECT_TRANSPARENT},
		{"io_event#5 => unknown", EFFECT_TRANSPARENT},
		{"io_event => reorder:3", EFFECT_TRANSPARENT},
		{"io_event#5 => flip:0", EFFECT_CORRUPTS},
		{"io_event#5 => torn:512", EFFECT_CORRUPTS},
		{"io_event#5 => stale", EFFECT_CORRUPTS},
		{"io_event#5 => lost", EFFECT_CORRUPTS},
		{"io_event#5 => misdirect:4096", EFFECT_CORRUPTS},
	};

	(void)state;
	CHECK(cases);
}

static void calls_on_files_and_memory_have_their_own(void **state)
{
	static const struct effect_case cases[] = {
		{"open => error:EINVAL direct", EFFECT_TRANSPARENT},
		{"open => error:EOPNOTSUPP direct", EFFECT_TRANSPARENT},
		{"open => error:EACCES direct", EFFECT_FAILS_ONE},
		{"open => error:EINVAL", EFFECT_FAILS_ONE},
		{"open#1 => error:EINTR", EFFECT_TRANSPARENT},
		{"open => error:EINTR", EFFECT_FAILS_ONE},
		{"pwrite#1 => error:EINTR", EFFECT_TRANSPARENT},
		{"pwrite#1 => error:ENOSPC", EFFECT_FAILS_ONE},
		{"pread => short:512", EFFECT_FAILS_ONE},
		{"pread#1 => short:512", EFFECT_TRANSPARENT},
		{"close => error:EIO", EFFECT_TRANSPARENT},
		{"fstat => nodio", EFFECT_TRANSPARENT},
		{"fsync#1 => error:EIO", EFFECT_FAILS_ALL},
		{"mlock => error:ENOMEM", EFFECT_TRANSPARENT},
		{"mmap#1 => error:ENOMEM", EFFECT_FAILS_ALL},
		{"io_setup => error:EAGAIN", EFFECT_FAILS_ALL},
		{"io_setup#1..2 => error:EAGAIN", EFFECT_TRANSPARENT},
		{"io_setup#1 => error:ENOMEM", EFFECT_FAILS_ALL},
		{"io_cancel => error:EINVAL", EFFECT_TRANSPARENT},
		{"io_destroy => error:EINVAL", EFFECT_TRANSPARENT},
	};

	(void)state;
	CHECK(cases);
}

static void crashes_and_kills_end_the_process(void **state)
{
	static const struct effect_case cases[] = {
		{"fsync#1 => crash:3", EFFECT_FAILS_ALL},
		{"fsync#1 => kill", EFFECT_FAILS_ALL},
	};
	unsigned crashes = 0, kills = 0, cuts = 0;

	(void)state;
	CHECK(cases);
	for (unsigned i = 0; i < KIND_COUNT; i++) {
		struct fault fault = {.kind = (enum kind_id)i};
		bool crash = strcmp(kind_info(fault.kind)->name, "crash") == 0;
		bool kill = strcmp(kind_info(fault.kind)->name, "kill") == 0;
		bool cut = strcmp(kind_info(fault.kind)->name, "powercut") == 0;

		assert_int_equal(fault_crashes(&fault), crash);
		assert_int_equal(fault_kills(&fault), kill);
		assert_int_equal(fault_cuts_power(&fault), cut);
		assert_int_equal(fault_ends_process(&fault), crash || kill || cut);
		crashes += crash;
		kills += kill;
		cuts += cut;
	}
	assert_int_equal(cuts, 3);
	assert_int_equal(crashes, kills);
	assert_int_not_equal(kills, 0);
}

/* The driver of the guest does not try again, so each error is one that the program sees. */
static void what_a_device_does_is_seen_by_the_program(void **state)
{
	static const struct effect_case cases[] = {
		{"nvme.read#1 => error", EFFECT_FAILS_ONE},
		{"nvme.read => error", EFFECT_FAILS_ONE},
		{"nvme.write#1..3 => error", EFFECT_FAILS_ONE},
		{"nvme.flush#1 => error", EFFECT_FAILS_ALL},
		{"nvme.read#1 => hold:for=5s", EFFECT_TRANSPARENT},
		{"nvme.read#1 => hold:until=nvme.write#2", EFFECT_TRANSPARENT},
		{"nvme.write#1 => hold", EFFECT_FAILS_ONE},
		{"nvme.flush#1 => hold:for=200ms", EFFECT_TRANSPARENT},
		{"nvme.flush#1 => hold", EFFECT_FAILS_ALL},
		{"nvme.read => limit:64K", EFFECT_TRANSPARENT},
		{"nvme.write => iops:10", EFFECT_TRANSPARENT},
		{"nvme.read#1 => flip:7", EFFECT_CORRUPTS},
		{"nvme.read#1 => stale", EFFECT_CORRUPTS},
		{"nvme.write#1 => torn:512", EFFECT_CORRUPTS},
		{"nvme.write#1 => lost", EFFECT_CORRUPTS},
		{"nvme.write#1 => misdirect:-4K", EFFECT_CORRUPTS},
		{"nvme.flush#1 => lost", EFFECT_CORRUPTS},
		{"nvme.read#1 => remove", EFFECT_FAILS_ALL},
		{"nvme.write#1 => powercut:3", EFFECT_FAILS_ALL},
	};

	(void)state;
	CHECK(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(submit_again_is_transparent_unless_for_ever),
		cmocka_unit_test(waits_are_restarted_or_made_with_the_other_call),
		cmocka_unit_test(signals_are_transparent_unless_no_event_can_ever_come),
		cmocka_unit_test(completions_are_resumed_refused_or_caught),
		cmocka_unit_test(calls_on_files_and_memory_have_their_own),
		cmocka_unit_test(crashes_and_kills_end_the_process),
		cmocka_unit_test(what_a_device_does_is_seen_by_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
