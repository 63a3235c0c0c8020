/* SPDX-License-Identifier: MIT */
/*
 * test_points.c - points.def as the tables show it: complete, consistent, found by name.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "points.h"
#include "schedule.h"

static void every_kind_belongs_to_the_point_above_it(void **state)
{
	unsigned kinds = 0;

	(void)state;
	for (unsigned i = 0; i < POINT_COUNT; i++) {
		const struct point_info *point = point_info((enum point_id)i);

		assert_int_equal(point->kind_first, kinds);
		assert_true(point->kind_count >= 1);
		for (unsigned k = 0; k < point->kind_count; k++)
			assert_int_equal(kind_info((enum kind_id)(kinds + k))->point, i);
		kinds += point->kind_count;
	}
	assert_int_equal(kinds, KIND_COUNT);
}

static void libfiu_names_are_layer_point_and_kind(void **state)
{
	char name[128];

	(void)state;
	for (unsigned i = 0; i < KIND_COUNT; i++) {
		const struct kind_info *kind = kind_info((enum kind_id)i);
		const struct point_info *point = point_info(kind->point);

		if (point_is_device(kind->point)) {
			assert_null(kind->fiu_name);
			continue;
		}
		snprintf(name, sizeof(name), "%s/%s/%s", point->layer, point->name, kind->name);
		assert_string_equal(kind->fiu_name, name);
	}
	assert_string_equal(kind_info(KIND_io_submit_error)->fiu_name, "aio/io_submit/error");
	assert_string_equal(kind_info(KIND_open_error)->fiu_name, "posix/open/error");
}

static void the_device_has_three_points_that_are_called_after_its_requests(void **state)
{
	static const struct {
		enum point_id point;
		const char *name;
	} wanted[] = {{POINT_nvme_read, "nvme.read"},
		      {POINT_nvme_write, "nvme.write"},
		      {POINT_nvme_flush, "nvme.flush"}};
	unsigned found = 0;

	(void)state;
	for (unsigned i = 0; i < POINT_COUNT; i++)
		found += point_is_device((enum point_id)i);
	assert_int_equal(found, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(point_is_device(wanted[i].point));
		assert_string_equal(point_info(wanted[i].point)->name, wanted[i].name);
		assert_string_equal(point_info(wanted[i].point)->layer, "nvme");
	}
}

static void points_and_kinds_are_found_by_name(void **state)
{
	enum point_id point;
	enum kind_id kind;

	(void)state;
	for (unsigned i = 0; i < KIND_COUNT; i++) {
		const struct kind_info *info = kind_info((enum kind_id)i);

		assert_int_equal(point_find(point_info(info->point)->name, &point), 0);
		assert_int_equal(point, info->point);
		assert_int_equal(kind_find(point, info->name, &kind), 0);
		assert_int_equal(kind, i);
	}
}

static void unknown_names_are_not_found_and_nothing_is_written(void **state)
{
	enum point_id point = POINT_fsync;
	enum kind_id kind = KIND_fsync_error;

	(void)state;
	assert_int_equal(point_find("io_sub", &point), -ENOENT);
	assert_int_equal(point_find("", &point), -ENOENT);
	assert_int_equal(kind_find(POINT_io_submit, "short", &kind), -ENOENT);
	assert_int_equal(point, POINT_fsync);
	assert_int_equal(kind, KIND_fsync_error);
}

/* Each name in the list of errnos is one, and stands there once. */
static void check_errnos(const struct kind_info *kind)
{
	const char *at = kind->errnos;
	bool seen[256] = {false};
	char name[24];
	int number;

	while (*at) {
		size_t length = strcspn(at, " ");

		assert_true(length > 0 && length < sizeof(name));
		memcpy(name, at, length);
		name[length] = '\0';
		assert_int_equal(errno_find(name, &number), 0);
		assert_string_equal(errno_name(number), name);
		assert_false(seen[number]);
		seen[number] = true;
		at += length + (at[length] == ' ');
	}
}

/* Rows of the contract: C1 to C24. */
static void check_rows(const char *rows)
{
	char *end;

	while (*rows) {
		assert_int_equal(*rows, 'C');
		assert_in_range(strtoul(rows + 1, &end, 10), 1, 24);
		assert_true(*end == ' ' || *end == '\0');
		rows = *end ? end + 1 : end;
	}
}

static void every_row_is_consistent(void **state)
{
	(void)state;
	for (unsigned i = 0; i < KIND_COUNT; i++) {
		const struct kind_info *kind = kind_info((enum kind_id)i);

		assert_int_equal(kind->argument == ARGUMENT_ERRNO, kind->errnos[0] != '\0');
		assert_int_equal(kind->argument == ARGUMENT_NONE, kind->fallback[0] == '\0');
		assert_true(kind->sentence[0] && kind->sentence[strlen(kind->sentence) - 1] != '.');
		check_errnos(kind);
		check_rows(kind->rows);
	}
}

static void every_kind_can_be_used_without_an_argument(void **state)
{
	static struct schedule schedule;
	struct schedule_error error;
	char text[128];

	(void)state;
	for (unsigned i = 0; i < KIND_COUNT; i++) {
		const struct kind_info *kind = kind_info((enum kind_id)i);

		/* What happens once wants to know at which request. */
		snprintf(text, sizeof(text), "%s%s => %s", point_info(kind->point)->name,
			 kind->argument == ARGUMENT_REMOVAL ? "#1" : "", kind->name);
		assert_int_equal(schedule_parse(text, &schedule, &error), 0);
		assert_int_equal(schedule.faults[0].kind, i);
	}
}

static void effects_have_the_names_of_the_design(void **state)
{
	(void)state;
	assert_string_equal(effect_name(EFFECT_TRANSPARENT), "transparent");
	assert_string_equal(effect_name(EFFECT_FAILS_ONE), "fails-one");
	assert_string_equal(effect_name(EFFECT_FAILS_ALL), "fails-all");
	assert_string_equal(effect_name(EFFECT_CORRUPTS), "corrupts");
}

static void errno_names_are_those_of_libc(void **state)
{
	unsigned known = 0;
	int number;

	(void)state;
	for (int i = 1; i < 4096; i++) {
		const char *name = errno_name(i);

		if (!name)
			continue;
		known++;
		assert_int_equal(errno_find(name, &number), 0);
		assert_int_equal(number, i);
		assert_null(strstr(strerror(i), "Unknown"));
	}
	/* Linux has 1 to 133, without 41 and 58. */
	assert_int_equal(known, 131);
	assert_null(errno_name(0));
	assert_null(errno_name(-EIO));
	assert_null(errno_name(134));
}

static void second_names_of_errnos_are_understood(void **state)
{
	int number;

	(void)state;
	assert_int_equal(errno_find("EWOULDBLOCK", &number), 0);
	assert_int_equal(number, EAGAIN);
	assert_int_equal(errno_find("ENOTSUP", &number), 0);
	assert_string_equal(errno_name(number), "EOPNOTSUPP");
	assert_int_equal(errno_find("EDEADLOCK", &number), 0);
	assert_int_equal(number, EDEADLK);
	assert_int_equal(errno_find("eio", &number), -ENOENT);
	assert_int_equal(errno_find("", &number), -ENOENT);
}

static void signals_have_names_with_and_without_sig(void **state)
{
	char longer[32];
	int number;

	(void)state;
	for (int i = 1; i <= 64; i++) {
		const char *name = signal_name(i);

		assert_int_equal(name == NULL, i == 32 || i == 33);
		if (!name)
			continue;
		snprintf(longer, sizeof(longer), "SIG%s", name);
		assert_int_equal(signal_find(name, &number), 0);
		assert_int_equal(number, i);
		assert_int_equal(signal_find(longer, &number), 0);
		assert_int_equal(number, i);
	}
	assert_string_equal(signal_name(SIGUSR1), "USR1");
	assert_string_equal(signal_name(SIGRTMIN + 3), "RTMIN+3");
	assert_string_equal(signal_name(SIGRTMAX), "RTMAX");
	assert_int_equal(signal_find("RTMIN", &number), 0);
	assert_int_equal(number, SIGRTMIN);
	assert_int_equal(signal_find("SIG", &number), -ENOENT);
	assert_null(signal_name(0));
	assert_null(signal_name(65));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_belongs_to_the_point_above_it),
		cmocka_unit_test(libfiu_names_are_layer_point_and_kind),
		cmocka_unit_test(the_device_has_three_points_that_are_called_after_its_requests),
		cmocka_unit_test(points_and_kinds_are_found_by_name),
		cmocka_unit_test(unknown_names_are_not_found_and_nothing_is_written),
		cmocka_unit_test(every_row_is_consistent),
		cmocka_unit_test(every_kind_can_be_used_without_an_argument),
		cmocka_unit_test(effects_have_the_names_of_the_design),
		cmocka_unit_test(errno_names_are_those_of_libc),
		cmocka_unit_test(second_names_of_errnos_are_understood),
		cmocka_unit_test(signals_have_names_with_and_without_sig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
