/* SPDX-License-Identifier: MIT */
/*
 * test_schedule_print.c - what is printed is parsed as the same fault, whatever the fault.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_fault.h"

#define FAULTS_OF_EACH_KIND 500
#define SEED 0x5eed

static struct schedule schedule;
static struct schedule_error error;

static void parse(const char *text)
{
	if (schedule_parse(text, &schedule, &error) < 0)
		fail_msg("%s: %u:%u: %s", text, error.line, error.column, error.text);
}

static void check_round_trip(const struct fault *fault)
{
	char text[1024], again[1024];
	int length = fault_print(fault, text, sizeof(text));

	assert_int_equal(length, strlen(text));
	parse(text);
	assert_int_equal(schedule.count, 1);
	if (!fault_equal(fault, &schedule.faults[0]))
		fail_msg("%s: another fault came back", text);
	fault_print(&schedule.faults[0], again, sizeof(again));
	assert_string_equal(text, again);
}

static void any_fault_survives_print_and_parse(void **state)
{
	uint64_t random = SEED;
	struct fault fault;

	(void)state;
	for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
		for (unsigned i = 0; i < FAULTS_OF_EACH_KIND; i++) {
			random_fault(&random, (enum kind_id)kind, &fault);
			check_round_trip(&fault);
		}
	}
}

static void check_canonical(const char *text, const char *canonical)
{
	char printed[1024];

	parse(text);
	fault_print(&schedule.faults[0], printed, sizeof(printed));
	assert_string_equal(printed, canonical);
}

static void the_print_is_canonical(void **state)
{
	(void)state;
	check_canonical("io_event=>short:1048576", "io_event#* => short:1M");
	check_canonical("io_event#1.. => zero", "io_event#* => zero");
	check_canonical("io_event#5..5 => zero", "io_event#5 => zero");
	check_canonical("io_event#5..7+9 => zero", "io_event#5 => zero");
	check_canonical("io_event#5..7+1 => zero", "io_event#5..7 => zero");
	check_canonical("io_event#5..+3 => zero", "io_event#5..+3 => zero");
	check_canonical("\tio_event#007  op=read => zero ", "io_event#7 op=read => zero");
	check_canonical("io_event offset=0..4096 length=1024K.. fd=3 => zero",
			"io_event#* fd=3 offset=..4K length=1M.. => zero");
	check_canonical("io_event => lie:-2048", "io_event#* => lie:-2K");
	check_canonical("io_event => misdirect:-512", "io_event#* => misdirect:-512");
	check_canonical("io_getevents => signal:SIGUSR2 restart",
			"io_getevents#* => signal:USR2 restart");
	check_canonical("io_submit => error:EWOULDBLOCK", "io_submit#* => error:EAGAIN");
	check_canonical("io_event => hold", "io_event#* => hold:until=never");
	check_canonical("nvme.read=>hold:until=nvme.write#07",
			"nvme.read#* => hold:until=nvme.write#7");
	check_canonical("nvme.flush => hold:for=5000ms", "nvme.flush#* => hold:for=5s");
	check_canonical("nvme.flush => hold:for=5001ms", "nvme.flush#* => hold:for=5001ms");
	check_canonical("nvme.write => misdirect:-512", "nvme.write#* => misdirect:-512");
}

static void a_schedule_is_printed_a_fault_a_line(void **state)
{
	char text[256];
	int length;

	(void)state;
	parse("io_submit#3 => error:EAGAIN; io_event#7 => dup\n# no\nfsync => error");
	length = schedule_print(&schedule, text, sizeof(text));
	assert_string_equal(text, "io_submit#3 => error:EAGAIN\n"
				  "io_event#7 => dup\n"
				  "fsync#* => error:EIO\n");
	assert_int_equal(length, strlen(text));
}

static void no_faults_are_printed_as_no_text(void **state)
{
	char text[8] = "before";

	(void)state;
	parse("");
	assert_int_equal(schedule_print(&schedule, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

/* As snprintf: never past the buffer, terminated, the whole length returned. */
static void a_short_buffer_gets_what_fits(void **state)
{
	char whole[256], text[256];
	int length;

	(void)state;
	parse("io_event#2..9+3 op=read path=*.swp offset=1M..2M => res:EIO after\nio_event => dup");
	length = schedule_print(&schedule, whole, sizeof(whole));
	assert_int_equal(schedule_print(&schedule, NULL, 0), length);
	for (size_t bytes = 1; bytes <= (size_t)length + 2; bytes++) {
		memset(text, '!', sizeof(text));
		assert_int_equal(schedule_print(&schedule, text, bytes), length);
		assert_int_equal(strlen(text),
				 bytes <= (size_t)length ? bytes - 1 : (size_t)length);
		assert_memory_equal(text, whole, strlen(text));
		assert_int_equal(text[bytes], '!');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_fault_survives_print_and_parse),
		cmocka_unit_test(the_print_is_canonical),
		cmocka_unit_test(a_schedule_is_printed_a_fault_a_line),
		cmocka_unit_test(no_faults_are_printed_as_no_text),
		cmocka_unit_test(a_short_buffer_gets_what_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
