/* SPDX-License-Identifier: MIT */
/*
 * test_schedule_match.c - conditions filter first, then what is left is counted; io_event for each
 * context; from many threads nothing is counted twice or not at all.
 */
#undef NDEBUG
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schedule_draft.h"

static struct schedule schedule;

static void parse(const char *text)
{
	struct schedule_error error;

	if (schedule_parse(text, &schedule, &error) < 0)
		fail_msg("%s: %u:%u: %s", text, error.line, error.column, error.text);
}

static struct fault_call call_at(enum point_id point)
{
	return (struct fault_call){.point = point,
				   .fd = -1,
				   .offset = SCHEDULE_ANY,
				   .length = SCHEDULE_ANY,
				   .depth = SCHEDULE_ANY,
				   .ctx = SCHEDULE_ANY,
				   .thread = 1,
				   .proc = 1};
}

static struct fault_call request(enum fault_op op, uint64_t ctx, uint64_t offset, uint64_t length)
{
	struct fault_call call = call_at(POINT_io_event);

	call.op = op;
	call.ctx = ctx;
	call.fd = 3;
	call.path = "exp_avg.swp";
	call.offset = offset;
	call.length = length;
	call.depth = 4;
	return call;
}

static unsigned fires(const struct fault_call *call)
{
	struct firing firing;

	schedule_match(&schedule, call, &firing);
	return firing.count;
}

/* The calls out of @calls that fire, as bits from 1. */
static uint64_t fires_at(const struct fault_call *call, unsigned calls)
{
	uint64_t bits = 0;

	for (unsigned i = 1; i <= calls; i++)
		bits |= (uint64_t)fires(call) << i;
	return bits;
}

static void when_selects_calls_by_number(void **state)
{
	struct fault_call call = call_at(POINT_io_submit);

	(void)state;
	parse("io_submit#3 => error");
	assert_int_equal(fires_at(&call, 10), 1 << 3);
	parse("io_submit#8.. => error");
	assert_int_equal(fires_at(&call, 10), 1 << 8 | 1 << 9 | 1 << 10);
	parse("io_submit#2..8+2 => error");
	assert_int_equal(fires_at(&call, 10), 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8);
	parse("io_submit#3..+4 => error");
	assert_int_equal(fires_at(&call, 12), 1 << 3 | 1 << 7 | 1 << 11);
	parse("io_submit#* => error");
	assert_int_equal(fires_at(&call, 3), 0xe);
}

static void other_points_are_not_counted(void **state)
{
	struct fault_call submit = call_at(POINT_io_submit), sync = call_at(POINT_fsync);

	(void)state;
	parse("io_submit#2 => error");
	assert_int_equal(fires(&submit), 0);
	assert_int_equal(fires(&sync), 0);
	assert_int_equal(fires(&submit), 1);
	assert_int_equal(schedule.faults[0].seen, 2);
	assert_int_equal(schedule.faults[0].fired, 1);
}

static void conditions_filter_before_counting(void **state)
{
	struct fault_call read = request(FAULT_OP_READ, 1, 0, 4096);
	struct fault_call write = request(FAULT_OP_WRITE, 1, 0, 4096);

	(void)state;
	parse("io_event#2 op=read => zero");
	assert_int_equal(fires(&read), 0);
	assert_int_equal(fires(&write), 0);
	assert_int_equal(fires(&write), 0);
	assert_int_equal(fires(&read), 1);
	assert_int_equal(fires(&read), 0);
}

static bool passes(const char *text, const struct fault_call *call)
{
	parse(text);
	return fires(call) == 1;
}

static void a_range_of_offsets_is_hit_by_what_touches_it(void **state)
{
	struct fault_call call = request(FAULT_OP_READ, 1, 8192, 4096);

	(void)state;
	assert_true(passes("io_event offset=8K..12K => zero", &call));
	assert_true(passes("io_event offset=12287.. => zero", &call));
	assert_false(passes("io_event offset=12K.. => zero", &call));
	assert_true(passes("io_event offset=..8193 => zero", &call));
	assert_false(passes("io_event offset=..8K => zero", &call));
	assert_true(passes("io_event offset=9000..9001 => zero", &call));
	call.offset = UINT64_MAX - 10; /* no overflow */
	assert_true(passes("io_event offset=1G.. => zero", &call));
	assert_false(passes("io_event offset=..1G => zero", &call));
	call.offset = 8192;
	call.length = 0;
	assert_true(passes("io_event offset=8K..9K => zero", &call));
	call.offset = SCHEDULE_ANY;
	assert_false(passes("io_event offset=0..1G => zero", &call));
}

static void lengths_lie_in_their_range(void **state)
{
	struct fault_call call = request(FAULT_OP_READ, 1, 0, 4096);

	(void)state;
	assert_true(passes("io_event length=4K.. => zero", &call));
	assert_true(passes("io_event length=..4097 => zero", &call));
	assert_false(passes("io_event length=..4K => zero", &call));
	assert_false(passes("io_event length=4097.. => zero", &call));
}

static void files_are_told_by_descriptor_and_path(void **state)
{
	struct fault_call call = request(FAULT_OP_READ, 1, 0, 4096);

	(void)state;
	assert_true(passes("io_event fd=3 => zero", &call));
	assert_false(passes("io_event fd=4 => zero", &call));
	assert_true(passes("io_event path=exp_*.swp => zero", &call));
	assert_false(passes("io_event path=step.swp => zero", &call));
	call.path = NULL;
	assert_false(passes("io_event path=* => zero", &call));
}

static void numbers_select_context_thread_and_process(void **state)
{
	struct fault_call call = request(FAULT_OP_READ, 2, 0, 4096);

	(void)state;
	assert_true(passes("io_event ctx=2 => zero", &call));
	assert_false(passes("io_event ctx=1 => zero", &call));
	assert_true(passes("io_event thread=1 => zero", &call));
	assert_false(passes("io_event thread=2 => zero", &call));
	assert_false(passes("io_event proc=2 => zero", &call));
	assert_true(passes("io_event depth=4 => zero", &call));
	assert_false(passes("io_event depth=5 => zero", &call));
	call.ctx = call.depth = SCHEDULE_ANY; /* not known: not fulfilled */
	assert_false(passes("io_event ctx=2 => zero", &call));
	assert_false(passes("io_event depth=1 => zero", &call));
}

static void the_image_selects_the_process_of_the_case(void **state)
{
	struct fault_call call = call_at(POINT_fsync);

	(void)state;
	parse("fsync#1 => kill\nfsync#1 image=2 => crash:1\nfsync#1 image=1 => error:EIO");
	assert_int_equal(schedule_images(&schedule), 2);
	assert_int_equal(fires(&call), 2);
	assert_int_equal(fires(&call), 0); /* the second call */
	schedule_reset(&schedule);
	schedule.image = 2;
	assert_int_equal(fires(&call), 1);
	assert_int_equal(schedule.faults[1].fired, 1);
	schedule_reset(&schedule);
	schedule.image = 3;
	assert_int_equal(fires(&call), 0);
	assert_int_equal(schedule.faults[0].seen, 0);
}

static void direct_asks_for_o_direct(void **state)
{
	struct fault_call call = call_at(POINT_open);

	(void)state;
	assert_false(passes("open => error:EINVAL direct", &call));
	call.direct = true;
	assert_true(passes("open => error:EINVAL direct", &call));
}

static void call_selects_one_of_the_wait_calls(void **state)
{
	struct fault_call call = call_at(POINT_io_getevents);

	(void)state;
	call.call = FAULT_CALL_PGETEVENTS;
	assert_true(passes("io_getevents => stop", &call));
	assert_true(passes("io_getevents call=io_pgetevents => stop", &call));
	assert_false(passes("io_getevents call=io_getevents => stop", &call));
}

static void requests_are_counted_for_each_context(void **state)
{
	struct fault_call first = request(FAULT_OP_READ, 1, 0, 4096);
	struct fault_call second = request(FAULT_OP_READ, 2, 0, 4096);

	(void)state;
	parse("io_event#2 => zero");
	assert_int_equal(fires(&first), 0);
	assert_int_equal(fires(&second), 0);
	assert_int_equal(fires(&second), 1);
	assert_int_equal(fires(&first), 1);
	assert_int_equal(schedule.faults[0].fired, 2);
	assert_int_equal(schedule.faults[0].seen, 4);
}

static void sixty_four_contexts_are_counted_apart(void **state)
{
	(void)state;
	parse("io_event#3 => zero");
	for (unsigned round = 1; round <= 4; round++) {
		for (unsigned ctx = 1; ctx <= SCHEDULE_CONTEXTS; ctx++) {
			struct fault_call call = request(FAULT_OP_READ, ctx, 0, 4096);

			assert_int_equal(fires(&call), round == 3);
		}
	}
}

/* A program that makes contexts again and again: the numbers go up, old ones are gone. */
static void younger_contexts_take_over_from_older_ones(void **state)
{
	struct fault_call old = request(FAULT_OP_READ, 1, 0, 4096);

	(void)state;
	parse("io_event#2 => zero");
	for (unsigned ctx = 1; ctx <= 1000; ctx++) {
		struct fault_call call = request(FAULT_OP_READ, ctx, 0, 4096);

		assert_int_equal(fires_at(&call, 3), 1 << 2);
	}
	assert_int_equal(fires_at(&old, 3), 0);
}

static void ctx_makes_it_one_count(void **state)
{
	struct fault_call first = request(FAULT_OP_READ, 1, 0, 4096);
	struct fault_call second = request(FAULT_OP_READ, 2, 0, 4096);

	(void)state;
	parse("io_event#1 ctx=2 => zero");
	assert_int_equal(fires(&first), 0);
	assert_int_equal(fires(&second), 1);
	assert_int_equal(fires(&second), 0);
}

static void several_faults_fire_in_schedule_order(void **state)
{
	struct fault_call call = request(FAULT_OP_READ, 1, 0, 4096);
	struct firing firing;

	(void)state;
	parse("io_event#1 => dup; io_submit => error; io_event#2 => drop; io_event#1 => zero");
	schedule_match(&schedule, &call, &firing);
	assert_int_equal(firing.count, 2);
	assert_ptr_equal(firing.faults[0], &schedule.faults[0]);
	assert_ptr_equal(firing.faults[1], &schedule.faults[3]);
}

static void a_ninth_fault_on_one_call_does_not_fire(void **state)
{
	struct fault_call call = request(FAULT_OP_READ, 1, 0, 4096);

	(void)state;
	parse("io_event#1 => dup; io_event#1 => dup; io_event#1 => dup; io_event#1 => dup\n"
	      "io_event#1 => dup; io_event#1 => dup; io_event#1 => dup; io_event#1 => dup\n"
	      "io_event#1 => dup");
	assert_int_equal(fires(&call), FIRING_MAX);
	assert_int_equal(schedule.faults[FIRING_MAX - 1].fired, 1);
	assert_int_equal(schedule.faults[FIRING_MAX].fired, 0);
	assert_int_equal(schedule.faults[FIRING_MAX].seen, 1);
}

static void after_a_reset_counting_starts_anew(void **state)
{
	struct fault_call call = request(FAULT_OP_READ, 1, 0, 4096);

	(void)state;
	parse("io_event#2 => zero");
	assert_int_equal(fires(&call), 0);
	schedule_reset(&schedule);
	assert_int_equal(fires(&call), 0);
	assert_int_equal(fires(&call), 1);
	schedule_reset(&schedule);
	assert_int_equal(schedule.faults[0].seen, 0);
	assert_int_equal(schedule.faults[0].fired, 0);
}

#define THREADS 8
#define CALLS_OF_EACH 50000

static void *call_many_times(void *arg)
{
	uint64_t *fired = arg;
	struct fault_call call = request(FAULT_OP_READ, 1, 0, 4096);

	for (unsigned i = 0; i < CALLS_OF_EACH; i++) {
		call.ctx = 1 + i % 3;
		*fired += fires(&call);
	}
	return NULL;
}

static void many_threads_count_every_call_once(void **state)
{
	uint64_t fired[THREADS] = {0}, sum = 0;
	pthread_t threads[THREADS];

	(void)state;
	parse("io_event ctx=2 => zero\n" /* every third call */
	      "io_event#1000 => zero\n"	 /* once on each of three contexts */
	      "io_event#7 thread=1 ctx=3 => zero\n"
	      "io_event#1..+100 ctx=1 => zero"); /* every hundredth of one context */
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_many_times, &fired[i]), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += fired[i];
	}
	assert_int_equal(schedule.faults[0].fired, THREADS * (uint64_t)16667);
	assert_int_equal(schedule.faults[1].fired, 3);
	assert_int_equal(schedule.faults[1].seen, THREADS * (uint64_t)CALLS_OF_EACH);
	assert_int_equal(schedule.faults[2].fired, 1);
	assert_int_equal(schedule.faults[3].fired, (THREADS * 16667 + 99) / 100);
	assert_int_equal(sum, schedule.faults[0].fired + 3 + 1 + schedule.faults[3].fired);
}

struct glob_case {
	const char *glob, *text;
	bool matches;
};

static void globs_match_as_in_a_shell_but_for_slashes(void **state)
{
	static const struct glob_case cases[] = {
		{"a.swp", "a.swp", true},
		{"a.swp", "a.swpx", false},
		{"*.swp", "dir/a.swp", true},
		{"*", "", true},
		{"?", "", false},
		{"?", "/", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"***a", "bca", true},
		{"[a-c]x", "bx", true},
		{"[a-c]x", "dx", false},
		{"[!a-c]x", "dx", true},
		{"[!a-c]x", "ax", false},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[a-]", "-", true},
		{"[", "[", true},
		{"[abc", "[abc", true},
		{"a[", "a[", true},
		{"*[0-9].swp", "t10.swp", true},
		{"\303?", "\303\244", true},
		{"[\300-\377]x", "\344x", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (glob_matches(cases[i].glob, cases[i].text) != cases[i].matches)
			fail_msg("%s on %s", cases[i].glob, cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_selects_calls_by_number),
		cmocka_unit_test(other_points_are_not_counted),
		cmocka_unit_test(conditions_filter_before_counting),
		cmocka_unit_test(a_range_of_offsets_is_hit_by_what_touches_it),
		cmocka_unit_test(lengths_lie_in_their_range),
		cmocka_unit_test(files_are_told_by_descriptor_and_path),
		cmocka_unit_test(numbers_select_context_thread_and_process),
		cmocka_unit_test(the_image_selects_the_process_of_the_case),
		cmocka_unit_test(direct_asks_for_o_direct),
		cmocka_unit_test(call_selects_one_of_the_wait_calls),
		cmocka_unit_test(requests_are_counted_for_each_context),
		cmocka_unit_test(sixty_four_contexts_are_counted_apart),
		cmocka_unit_test(younger_contexts_take_over_from_older_ones),
		cmocka_unit_test(ctx_makes_it_one_count),
		cmocka_unit_test(several_faults_fire_in_schedule_order),
		cmocka_unit_test(a_ninth_fault_on_one_call_does_not_fire),
		cmocka_unit_test(after_a_reset_counting_starts_anew),
		cmocka_unit_test(many_threads_count_every_call_once),
		cmocka_unit_test(globs_match_as_in_a_shell_but_for_slashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
