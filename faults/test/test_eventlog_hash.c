/* SPDX-License-Identifier: MIT */
/*
 * test_eventlog_hash.c - the hash tells what happened, and not when, where, by whom or in which
 * interleaving.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventlog.h"
#include "points.h"

#define RECORDS 8

static const struct eventlog_record story[RECORDS] = {
	{.type = EVENTLOG_SUBMIT, .point = POINT_io_event, .ctx = 1, .number = 1, .length = 4096},
	{.type = EVENTLOG_SUBMIT, .point = POINT_io_event, .ctx = 2, .number = 1, .length = 512},
	{.type = EVENTLOG_SUBMIT, .point = POINT_io_event, .ctx = 1, .number = 2, .length = 4096},
	{.type = EVENTLOG_DELIVER, .point = POINT_io_event, .ctx = 1, .number = 2, .result = 4096},
	{.type = EVENTLOG_DELIVER, .point = POINT_io_event, .ctx = 2, .number = 1, .result = 512},
	{.type = EVENTLOG_DELIVER, .point = POINT_io_event, .ctx = 1, .number = 1, .result = -5},
	{.type = EVENTLOG_CALL, .point = POINT_fsync, .tid = 1, .number = 1, .result = 0},
	{.type = EVENTLOG_CALL, .point = POINT_fsync, .tid = 2, .number = 2, .result = -5},
};

static uint64_t hash(const struct eventlog_record *records, unsigned count,
		     enum eventlog_scope scope)
{
	int fd = memfd_create("eventlog", MFD_CLOEXEC);
	struct eventlog *events;
	uint64_t result = 0;

	assert_int_equal(eventlog_init(fd), 0);
	assert_int_equal(eventlog_open(fd, &events), 0);
	close(fd);
	for (unsigned i = 0; i < count; i++)
		eventlog_append(events, &records[i]);
	assert_int_equal(eventlog_hash(events, scope, &result), 0);
	eventlog_close(events);
	return result;
}

static uint64_t order(const struct eventlog_record *records)
{
	return hash(records, RECORDS, EVENTLOG_SCOPE_ORDER);
}

static uint64_t requests(const struct eventlog_record *records)
{
	return hash(records, RECORDS, EVENTLOG_SCOPE_REQUESTS);
}

static struct eventlog_record changed[RECORDS];

static void start_change(void)
{
	memcpy(changed, story, sizeof(changed));
}

static void swap(unsigned a, unsigned b)
{
	struct eventlog_record record = changed[a];

	changed[a] = changed[b];
	changed[b] = record;
}

static void the_same_story_has_the_same_hash(void **state)
{
	(void)state;
	start_change();
	assert_int_equal(order(story), order(changed));
	assert_int_equal(requests(story), requests(changed));
	assert_int_not_equal(order(story), requests(story));
}

static void time_process_and_address_do_not_matter(void **state)
{
	(void)state;
	start_change();
	for (unsigned i = 0; i < RECORDS; i++) {
		changed[i].time_ns = 1000 + i;
		changed[i].pid = 4711;
		changed[i].address = 0x7f0000000000 + i * 4096;
		changed[i].fd = 7;
		changed[i].tid += 10;
	}
	assert_int_equal(order(story), order(changed));
	assert_int_equal(requests(story), requests(changed));
}

static void interleaving_between_contexts_and_threads_does_not_matter(void **state)
{
	(void)state;
	start_change();
	swap(0, 1); /* contexts 1 and 2 */
	swap(3, 4);
	swap(6, 7); /* threads 1 and 2, whose calls are numbered the other way round then */
	changed[6].number = 1;
	changed[7].number = 2;
	assert_int_equal(order(story), order(changed));
}

static void order_within_a_context_matters_to_one_scope_only(void **state)
{
	(void)state;
	start_change();
	swap(3, 5);
	assert_int_not_equal(order(story), order(changed));
	assert_int_equal(requests(story), requests(changed));
}

static void what_became_of_a_request_matters(void **state)
{
	(void)state;
	start_change();
	changed[4].result = 511;
	assert_int_not_equal(order(story), order(changed));
	assert_int_not_equal(requests(story), requests(changed));
	start_change();
	changed[4].flags = EVENTLOG_INJECTED;
	assert_int_not_equal(requests(story), requests(changed));
	start_change();
	changed[1].length = 1024;
	assert_int_not_equal(requests(story), requests(changed));
	assert_int_not_equal(hash(story, 6, EVENTLOG_SCOPE_REQUESTS),
			     hash(story, 5, EVENTLOG_SCOPE_REQUESTS));
}

static void calls_matter_where_order_does(void **state)
{
	(void)state;
	start_change();
	changed[7].result = 0;
	assert_int_not_equal(order(story), order(changed));
	assert_int_equal(requests(story), requests(changed));
}

/* Equal streams must add up rather than cancel out. */
static void twice_the_same_on_two_contexts_is_not_once(void **state)
{
	struct eventlog_record twice[2] = {story[0], story[0]};

	(void)state;
	twice[1].ctx = 2;
	assert_int_not_equal(hash(twice, 2, EVENTLOG_SCOPE_ORDER),
			     hash(twice, 1, EVENTLOG_SCOPE_ORDER));
	assert_int_not_equal(hash(twice, 2, EVENTLOG_SCOPE_ORDER),
			     hash(twice, 0, EVENTLOG_SCOPE_ORDER));
}

static void many_requests_are_told_apart(void **state)
{
	static struct eventlog_record many[20000];

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		many[i] = story[0];
		many[i].number = i + 1;
	}
	uint64_t before = hash(many, 20000, EVENTLOG_SCOPE_REQUESTS);

	many[12345].offset = 512;
	assert_int_not_equal(hash(many, 20000, EVENTLOG_SCOPE_REQUESTS), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_story_has_the_same_hash),
		cmocka_unit_test(time_process_and_address_do_not_matter),
		cmocka_unit_test(interleaving_between_contexts_and_threads_does_not_matter),
		cmocka_unit_test(order_within_a_context_matters_to_one_scope_only),
		cmocka_unit_test(what_became_of_a_request_matters),
		cmocka_unit_test(calls_matter_where_order_does),
		cmocka_unit_test(twice_the_same_on_two_contexts_is_not_once),
		cmocka_unit_test(many_requests_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
