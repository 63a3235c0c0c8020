/* SPDX-License-Identifier: MIT */
/*
 * test_schedule_parse.c - every spelling that the design uses is understood, and means what it
 * says.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"

static struct schedule schedule;
static struct schedule_error error;

static const struct fault *parse(const char *text)
{
	if (schedule_parse(text, &schedule, &error) < 0)
		fail_msg("%s: %u:%u: %s", text, error.line, error.column, error.text);
	return &schedule.faults[0];
}

static void check_when(const char *text, uint64_t first, uint64_t last, uint64_t step)
{
	const struct fault *fault = parse(text);

	assert_int_equal(fault->when.first, first);
	assert_int_equal(fault->when.last, last);
	assert_int_equal(fault->when.step, step);
}

static void when_has_straces_grammar(void **state)
{
	(void)state;
	check_when("io_submit => error", 1, SCHEDULE_ANY, 1);
	check_when("io_submit#* => error", 1, SCHEDULE_ANY, 1);
	check_when("io_submit#3 => error", 3, 3, 1);
	check_when("io_submit#3.. => error", 3, SCHEDULE_ANY, 1);
	check_when("io_submit#2..8 => error", 2, 8, 1);
	check_when("io_submit#2..8+2 => error", 2, 8, 2);
	check_when("io_submit#2..+5 => error", 2, SCHEDULE_ANY, 5);
	check_when("io_submit#18446744073709551614 => error", SCHEDULE_ANY - 1, SCHEDULE_ANY - 1,
		   1);
}

static void an_empty_text_has_no_faults(void **state)
{
	(void)state;
	parse("");
	assert_int_equal(schedule.count, 0);
	parse(" \t\r\n;;\n # only this => that\n\n");
	assert_int_equal(schedule.count, 0);
}

static void faults_are_separated_by_lines_or_semicolons(void **state)
{
	const struct fault *faults = parse("# two\r\nio_submit#1 => accept:0 ; io_event => dup;\n"
					   "  io_event#2 => zero\r\n");

	(void)state;
	assert_int_equal(schedule.count, 3);
	assert_int_equal(faults[0].kind, KIND_io_submit_accept);
	assert_int_equal(faults[1].kind, KIND_io_event_dup);
	assert_int_equal(faults[2].kind, KIND_io_event_zero);
	assert_int_equal(faults[0].line, 2);
	assert_int_equal(faults[0].column, 1);
	assert_int_equal(faults[1].line, 2);
	assert_int_equal(faults[1].column, 27);
	assert_int_equal(faults[2].line, 3);
	assert_int_equal(faults[2].column, 3);
}

static void a_fault_without_conditions_passes_anything(void **state)
{
	const struct fault *fault = parse("io_event#7 => dup");

	(void)state;
	assert_int_equal(fault->point, POINT_io_event);
	assert_int_equal(fault->op, FAULT_OP_ANY);
	assert_int_equal(fault->fd, -1);
	assert_string_equal(fault->path, "");
	assert_int_equal(fault->offset.begin, 0);
	assert_int_equal(fault->offset.end, SCHEDULE_ANY);
	assert_int_equal(fault->length.end, SCHEDULE_ANY);
	assert_int_equal(fault->ready, SCHEDULE_ANY);
	assert_int_equal(fault->depth, SCHEDULE_ANY);
	assert_int_equal(fault->ctx, SCHEDULE_ANY);
	assert_int_equal(fault->thread, SCHEDULE_ANY);
	assert_int_equal(fault->proc, SCHEDULE_ANY);
	assert_int_equal(fault->image, SCHEDULE_ANY);
	assert_int_equal(fault_image(fault), 1);
	assert_int_equal(fault->call, FAULT_CALL_ANY);
}

static void conditions_of_a_request_are_taken(void **state)
{
	const struct fault *fault =
		parse("io_event#1 op=write fd=7 path=a/*.swp offset=1M..2M "
		      "length=..4K depth=3 ctx=2 thread=4 proc=5 image=6 => zero");

	(void)state;
	assert_int_equal(fault->op, FAULT_OP_WRITE);
	assert_int_equal(fault->fd, 7);
	assert_string_equal(fault->path, "a/*.swp");
	assert_int_equal(fault->offset.begin, 1 << 20);
	assert_int_equal(fault->offset.end, 2 << 20);
	assert_int_equal(fault->length.begin, 0);
	assert_int_equal(fault->length.end, 4096);
	assert_int_equal(fault->depth, 3);
	assert_int_equal(fault->ctx, 2);
	assert_int_equal(fault->thread, 4);
	assert_int_equal(fault->proc, 5);
	assert_int_equal(fault->image, 6);
	assert_int_equal(fault_image(fault), 6);
}

static void conditions_of_a_wait_are_taken(void **state)
{
	const struct fault *fault =
		parse("io_getevents#1 ready=2 call=io_pgetevents => signal:USR1 masked");

	(void)state;
	assert_int_equal(fault->ready, 2);
	assert_int_equal(fault->call, FAULT_CALL_PGETEVENTS);
	assert_int_equal(fault->value, SIGUSR1);
	assert_true(fault->masked);
	assert_false(fault->ignored || fault->restart || fault->after || fault->direct);
	fault = parse("io_getevents call=io_getevents => stop");
	assert_int_equal(fault->call, FAULT_CALL_GETEVENTS);
}

static int64_t value_of(const char *text)
{
	return parse(text)->value;
}

static void arguments_are_taken(void **state)
{
	(void)state;
	assert_int_equal(value_of("io_event => short:512"), 512);
	assert_int_equal(value_of("io_event => short:1K"), 1024);
	assert_int_equal(value_of("io_event => short"), 512);
	assert_int_equal(value_of("io_event => lie:-512"), -512);
	assert_int_equal(value_of("io_event => misdirect:-4K"), -4096);
	assert_int_equal(value_of("io_event => torn:4096"), 4096);
	assert_int_equal(value_of("io_event => flip:0"), 0);
	assert_int_equal(value_of("io_event => reorder:42"), 42);
	assert_int_equal(value_of("io_event => misdirect:1G"), 1 << 30);
	assert_int_equal(value_of("io_submit => accept:0"), 0);
	assert_int_equal(value_of("io_event => res:EREMOTEIO"), EREMOTEIO);
	assert_int_equal(value_of("io_submit => error"), EAGAIN);
	assert_int_equal(value_of("io_getevents => signal:SIGTERM"), SIGTERM);
	assert_int_equal(value_of("io_getevents => signal:RTMIN+1"), SIGRTMIN + 1);
}

static void options_are_taken(void **state)
{
	(void)state;
	assert_true(parse("io_event => res:EIO after")->after);
	assert_true(parse("open => error:EINVAL direct")->direct);
	assert_true(parse("io_getevents => signal:USR1 ignored")->ignored);
	assert_true(parse("io_getevents => signal restart")->restart);
}

static void hold_says_until_when(void **state)
{
	const struct fault *fault = parse("io_event#5 => hold:until=io_event#7");

	(void)state;
	assert_int_equal(fault->until, FAULT_UNTIL_EVENT);
	assert_int_equal(fault->until_number, 7);
	fault = parse("io_event#5 => hold:until=wait#3");
	assert_int_equal(fault->until, FAULT_UNTIL_WAIT);
	assert_int_equal(fault->until_number, 3);
	assert_int_equal(parse("io_event#5 => hold:until=never")->until, FAULT_UNTIL_NEVER);
	assert_int_equal(parse("io_event#5 => hold")->until, FAULT_UNTIL_NEVER);
}

static void a_device_is_pulled_out_in_one_of_two_ways(void **state)
{
	(void)state;
	assert_int_equal(parse("nvme.read#5 => remove")->value, FAULT_REMOVAL_SURPRISE);
	assert_int_equal(parse("nvme.write#5 => remove:surprise")->value, FAULT_REMOVAL_SURPRISE);
	assert_int_equal(parse("nvme.flush#5 => remove:orderly")->value, FAULT_REMOVAL_ORDERLY);
}

static void a_device_holds_until_a_request_or_for_a_time(void **state)
{
	const struct fault *fault = parse("nvme.read#5 => hold:until=nvme.flush#7");

	(void)state;
	assert_int_equal(fault->point, POINT_nvme_read);
	assert_int_equal(fault->until, FAULT_UNTIL_REQUEST);
	assert_int_equal(fault->until_point, POINT_nvme_flush);
	assert_int_equal(fault->until_number, 7);
	fault = parse("nvme.flush => hold:for=1500ms");
	assert_int_equal(fault->until, FAULT_UNTIL_TIME);
	assert_int_equal(fault->until_number, 1500);
	assert_int_equal(parse("nvme.flush => hold:for=2s")->until_number, 2000);
	assert_int_equal(parse("nvme.flush => hold:for=3600s")->until_number, 3600000);
	assert_int_equal(parse("nvme.write => hold")->until, FAULT_UNTIL_NEVER);
}

static void faults_of_the_device_are_told_from_others(void **state)
{
	(void)state;
	assert_false(fault_is_device(parse("io_event => dup; fsync => error")));
	assert_null(schedule_find_device(&schedule));
	parse("io_event => dup; nvme.write#2 => lost; nvme.flush => error");
	assert_ptr_equal(schedule_find_device(&schedule), &schedule.faults[1]);
}

/* What each holds can be told from its conditions only, not from its number. */
static void holds_that_may_be_others_are_allowed(void **state)
{
	(void)state;
	parse("io_event#5 op=read => hold:until=io_event#5");
	parse("io_event#1..4 => hold:until=io_event#5");
	parse("io_event#1 ctx=1 => hold:until=io_event#2\n"
	      "io_event#2 ctx=2 => hold:until=io_event#1");
	parse("io_event#1 => hold:until=io_event#2; io_event#2 => hold:until=io_event#3");
	parse("nvme.read#1 => hold:until=nvme.write#1; nvme.write#1 => hold:until=nvme.read#2");
	parse("nvme.read#5 offset=..4K => hold:until=nvme.read#5");
}

static void blanks_around_the_arrow_are_optional(void **state)
{
	(void)state;
	assert_int_equal(parse("io_event#7=>zero")->when.first, 7);
	assert_int_equal(parse("io_event=>zero")->when.last, SCHEDULE_ANY);
	assert_int_equal(parse("io_event op=read=>zero")->op, FAULT_OP_READ);
	assert_string_equal(parse("io_event path=a=b=>zero")->path, "a=b");
}

static void sixty_four_faults_are_allowed(void **state)
{
	char text[SCHEDULE_FAULTS_MAX * 32] = "";
	size_t length = 0;

	(void)state;
	for (unsigned i = 1; i <= SCHEDULE_FAULTS_MAX; i++)
		length += (size_t)snprintf(&text[length], sizeof(text) - length,
					   "io_event#%u => dup\n", i);
	parse(text);
	assert_int_equal(schedule.count, SCHEDULE_FAULTS_MAX);
	assert_int_equal(schedule.faults[63].when.first, 64);
}

static void a_path_of_127_bytes_is_allowed(void **state)
{
	char text[256], path[SCHEDULE_PATH_BYTES];

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	snprintf(text, sizeof(text), "open path=%s => error", path);
	assert_string_equal(parse(text)->path, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_has_straces_grammar),
		cmocka_unit_test(an_empty_text_has_no_faults),
		cmocka_unit_test(faults_are_separated_by_lines_or_semicolons),
		cmocka_unit_test(a_fault_without_conditions_passes_anything),
		cmocka_unit_test(conditions_of_a_request_are_taken),
		cmocka_unit_test(conditions_of_a_wait_are_taken),
		cmocka_unit_test(arguments_are_taken),
		cmocka_unit_test(options_are_taken),
		cmocka_unit_test(hold_says_until_when),
		cmocka_unit_test(a_device_is_pulled_out_in_one_of_two_ways),
		cmocka_unit_test(a_device_holds_until_a_request_or_for_a_time),
		cmocka_unit_test(faults_of_the_device_are_told_from_others),
		cmocka_unit_test(holds_that_may_be_others_are_allowed),
		cmocka_unit_test(blanks_around_the_arrow_are_optional),
		cmocka_unit_test(sixty_four_faults_are_allowed),
		cmocka_unit_test(a_path_of_127_bytes_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
