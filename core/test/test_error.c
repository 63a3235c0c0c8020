/* SPDX-License-Identifier: MIT */
/* test_error.c - sentences for failures, results and the log. */
#include "error.h"
#include "helpers.h"
#include "log.h"

static void a_failure_is_written_with_its_code_and_cut_at_the_end(void **state)
{
	struct swapio_error error;
	char text[2 * SWAPIO_ERROR_TEXT_BYTES];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(swapioi_error(&error, -EIO, "%d of %s", 3, "four"), -EIO);
	assert_int_equal(error.code, -EIO);
	assert_string_equal(error.text, "3 of four");
	assert_int_equal(swapioi_error(&error, -EINVAL, "%s", text), -EINVAL);
	assert_int_equal(strlen(error.text), SWAPIO_ERROR_TEXT_BYTES - 1);
	assert_int_equal(swapioi_error(NULL, -ENOMEM, "nobody listens"), -ENOMEM);
}

static void every_errno_has_a_text(void **state)
{
	char text[ERRNO_TEXT_BYTES];

	(void)state;
	for (int number = 0; number < 140; number++)
		assert_true(strlen(swapioi_errno_text(number, text)) > 0);
	assert_string_equal(swapioi_errno_text(EIO, text), "Input/output error");
}

static void causes_have_names_of_one_word(void **state)
{
	(void)state;
	for (int cause = SWAPIO_CAUSE_NONE; cause <= SWAPIO_CAUSE_WAIT; cause++) {
		const char *name = swapio_cause_name((enum swapio_cause)cause);

		assert_string_not_equal(name, "unknown");
		assert_null(strchr(name, ' '));
	}
	assert_string_equal(swapio_cause_name((enum swapio_cause)(SWAPIO_CAUSE_WAIT + 1)),
			    "unknown");
	assert_string_equal(swapio_cause_name((enum swapio_cause) - 1), "unknown");
}

static void a_result_becomes_a_sentence(void **state)
{
	struct swapio_result result = {.id = 7, .bytes = 5};
	char text[300];

	(void)state;
	assert_int_equal(swapio_result_text(&result, text, sizeof(text)), 22);
	assert_string_equal(text, "request 7: ok, 5 bytes");
	result.buffered = true;
	swapio_result_text(&result, text, sizeof(text));
	assert_string_equal(text, "request 7: ok, 5 bytes, buffered");
	result = (struct swapio_result){.id = 8,
					.error = -EIO,
					.cause = SWAPIO_CAUSE_DEVICE,
					.raw_status = -EIO,
					.bytes = 10,
					.fail_offset_bytes = 20,
					.fail_length_bytes = 30};
	swapio_result_text(&result, text, sizeof(text));
	assert_string_equal(text,
			    "request 8: Input/output error at offset 20, 30 bytes not moved, "
			    "10 moved: the device or file system failed it (device, status -5)");
	assert_true(swapio_result_text(&result, text, 10) > 10);
	assert_string_equal(text, "request 8");
	assert_true(swapio_result_text(&result, text, 1) > 10);
	assert_string_equal(text, "");
	for (int cause = SWAPIO_CAUSE_NONE; cause <= SWAPIO_CAUSE_WAIT + 1; cause++) {
		result.cause = (enum swapio_cause)cause;
		assert_true(swapio_result_text(&result, text, sizeof(text)) < (int)sizeof(text));
		assert_non_null(strstr(text, swapio_cause_name(result.cause)));
	}
}

static char heard[600];

static void hear(enum swapio_log_level level, const char *text, void *arg)
{
	assert_ptr_equal(arg, heard);
	snprintf(heard, sizeof(heard), "%d %s", (int)level, text);
}

static void the_log_goes_to_its_sink_and_nowhere_else(void **state)
{
	const struct log silent = {0}, log = {.sink = hear, .arg = heard};
	char text[1000];

	(void)state;
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	swapioi_log(&silent, SWAPIO_LOG_ERROR, "lost");
	assert_string_equal(heard, "");
	swapioi_log(&log, SWAPIO_LOG_INFO, "%s: %d", "queue", 5);
	assert_string_equal(heard, "2 queue: 5");
	swapioi_log(&log, SWAPIO_LOG_ERROR, "%s", text);
	assert_int_equal(strlen(heard), 2 + 511);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_written_with_its_code_and_cut_at_the_end),
		cmocka_unit_test(every_errno_has_a_text),
		cmocka_unit_test(causes_have_names_of_one_word),
		cmocka_unit_test(a_result_becomes_a_sentence),
		cmocka_unit_test(the_log_goes_to_its_sink_and_nowhere_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
