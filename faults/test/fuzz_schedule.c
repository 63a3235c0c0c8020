/* SPDX-License-Identifier: MIT */
/*
 * fuzz_schedule.c - any text: it is refused with a place inside of it, or its print is parsed as
 * the same faults and printed the same again.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "random_fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct schedule *schedule)
{
	int length = schedule_print(schedule, NULL, 0);
	char *text = malloc((size_t)length + 1);

	assert(text);
	assert(schedule_print(schedule, text, (size_t)length + 1) == length);
	assert(strlen(text) == (size_t)length);
	return text;
}

static void check_accepted(const struct schedule *first)
{
	static struct schedule second;
	struct schedule_error error;
	char *text = print(first), *again;

	assert(schedule_parse(text, &second, &error) == 0);
	assert(second.count == first->count);
	for (unsigned i = 0; i < first->count; i++) {
		assert(fault_equal(&first->faults[i], &second.faults[i]));
		assert(effect_name(fault_effect(&first->faults[i])));
	}
	again = print(&second);
	assert(strcmp(text, again) == 0);
	free(again);
	free(text);
}

static unsigned count_lines(const char *text)
{
	unsigned lines = 1;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void check_refused(const char *text, const struct schedule_error *error)
{
	assert(error->line >= 1 && error->line <= count_lines(text));
	assert(error->column >= 1 && error->column <= strlen(text) + 1);
	assert(error->text[0] && memchr(error->text, '\0', sizeof(error->text)));
	for (const char *at = error->text; *at; at++)
		assert(*at >= ' ' && *at <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct schedule schedule;
	struct schedule_error error = {0};
	char *text = malloc(size + 1);

	assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (schedule_parse(text, &schedule, &error) == 0)
		check_accepted(&schedule);
	else
		check_refused(text, &error);
	free(text);
	return 0;
}
