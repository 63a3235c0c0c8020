/* SPDX-License-Identifier: MIT */
/*
 * test_program.c - words of a command line, and what a program left against what it must leave.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oracle.h"
#include "work_dir.h"

static void assert_expands(const char *word, const char *expected)
{
	const struct program_names names = {"/cases", 77};
	char *text = program_words_expand(word, &names);

	assert_string_equal(text, expected);
	free(text);
}

static void braces_stand_for_what_they_name(void **state)
{
	(void)state;
	assert_expands("", "");
	assert_expands("plain", "plain");
	assert_expands("{work_dir}", "/cases");
	assert_expands("--file={work_dir}/a-{seed}.dat", "--file=/cases/a-77.dat");
}

static void other_braces_are_themselves(void **state)
{
	static const char *const same[] = {"{",	     "a{",	"{}", "{ work_dir}",
					   "{WORK}", "${1:-x}", "}"};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_null(program_words_unknown(same[i]));
		assert_expands(same[i], same[i]);
	}
	assert_expands("{{work_dir}", "{work_dir}");
	assert_expands("${{file}", "${file}");
}

static void a_name_that_nobody_knows_is_found(void **state)
{
	const char *word = "a{seed}{{b}{dir}";

	(void)state;
	assert_ptr_equal(program_words_unknown(word), word + 11);
	assert_null(program_words_unknown("a{seed}{{b}"));
}

static void words_are_kept_up_to_the_last_that_fits(void **state)
{
	static struct program_words words;
	const char *word = NULL;

	(void)state;
	for (unsigned i = 0; i < PROGRAM_WORDS_MAX; i++)
		assert_int_equal(program_words_add(&words, i % 2 ? "" : "same"), 0);
	assert_int_equal(program_words_add(&words, ""), -E2BIG);
	for (unsigned i = 0; i < PROGRAM_WORDS_MAX; i++) {
		word = program_words_next(&words, word);
		assert_string_equal(word, i % 2 ? "" : "same");
	}
	assert_null(program_words_next(&words, word));
}

static void words_that_are_too_long_together_are_refused(void **state)
{
	static struct program_words words;
	static char half[PROGRAM_WORDS_BYTES / 2];

	(void)state;
	memset(half, 'x', sizeof(half) - 1);
	assert_int_equal(program_words_add(&words, half), 0);
	assert_int_equal(program_words_add(&words, half), 0);
	assert_int_equal(program_words_add(&words, ""), -E2BIG);
	assert_int_equal(words.count, 2);
}

struct left { /* by a program */
	char directory[64];
	struct program_expectation expect;
	struct case_result result;
	int stdout_fd;
};

static void put(const struct left *left, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", left->directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

#define copy(place, text) snprintf(place, sizeof(place), "%s", text)

static int set_up(void **state)
{
	struct left *left = calloc(1, sizeof(*left));

	assert_non_null(left);
	snprintf(left->directory, sizeof(left->directory), "/tmp/test_program.XXXXXX");
	assert_non_null(mkdtemp(left->directory));
	left->stdout_fd = memfd_create("stdout", MFD_CLOEXEC);
	assert_int_equal(write(left->stdout_fd, "4 of 4\n", 7), 7);
	left->expect.outputs_count = 1;
	left->expect.outputs[0] = (struct program_output){.name = "out", .bytes = UINT64_MAX};
	put(left, "out", "0123456789");
	put(left, "in", "0123456789");
	*state = left;
	return 0;
}

static int tear_down(void **state)
{
	struct left *left = *state;

	work_dir_remove(left->directory);
	close(left->stdout_fd);
	free(left);
	return 0;
}

/* NULL: nothing is found; else just one thing that says so. */
static void assert_finds(struct left *left, const char *words)
{
	left->result.findings_count = 0;
	oracle_outputs(&left->expect, left->directory, left->stdout_fd, &left->result);
	assert_int_equal(left->result.findings_count, words ? 1 : 0);
	if (words)
		assert_non_null(strstr(left->result.findings[0].text, words));
}

static void a_file_that_is_as_it_must_be_is_accepted(void **state)
{
	struct left *left = *state;
	struct program_output *output = &left->expect.outputs[0];

	assert_finds(left, NULL);
	output->bytes = 10;
	copy(output->same_as, "in");
	copy(output->holds, "789");
	assert_finds(left, NULL);
}

static void a_file_that_is_missing_or_none_is_found(void **state)
{
	struct left *left = *state;
	char path[128];

	snprintf(path, sizeof(path), "%s/out", left->directory);
	assert_int_equal(unlink(path), 0);
	assert_finds(left, "file out cannot be read: No such file");
	assert_int_equal(mkfifo(path, 0600), 0); /* must not hang */
	assert_finds(left, "file out cannot be read: Invalid argument");
}

static void a_file_of_another_size_is_found(void **state)
{
	struct left *left = *state;

	left->expect.outputs[0].bytes = 9;
	assert_finds(left, "has 10 bytes, must have 9");
}

static void bytes_that_differ_are_counted(void **state)
{
	struct left *left = *state;

	copy(left->expect.outputs[0].same_as, "in");
	put(left, "in", "01x3456x89");
	assert_finds(left, "differs from in from byte 2 on, 2 bytes are wrong");
	put(left, "in", "012");
	assert_finds(left, "has 10 bytes, in has 3");
	put(left, "in", "");
	assert_finds(left, "has 10 bytes, in has 0");
}

static void text_that_is_not_there_is_missed(void **state)
{
	struct left *left = *state;

	copy(left->expect.outputs[0].holds, "9a");
	assert_finds(left, "does not hold '9a'");
	put(left, "out", "");
	assert_finds(left, "does not hold '9a'");
}

static void a_file_that_must_be_gone_is_found(void **state)
{
	struct left *left = *state;

	left->expect.outputs[0].absent = true;
	assert_finds(left, "is there, and must not be");
	copy(left->expect.outputs[0].name, "other");
	assert_finds(left, NULL);
}

static void words_on_standard_output_are_looked_for(void **state)
{
	struct left *left = *state;

	left->expect.texts_count = 1;
	copy(left->expect.texts[0], "4 of 4");
	assert_finds(left, NULL);
	copy(left->expect.texts[0], "3 of 4");
	assert_finds(left, "standard output does not hold '3 of 4'");
	assert_int_equal(ftruncate(left->stdout_fd, 0), 0);
	assert_finds(left, "standard output does not hold '3 of 4'");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(braces_stand_for_what_they_name),
		cmocka_unit_test(other_braces_are_themselves),
		cmocka_unit_test(a_name_that_nobody_knows_is_found),
		cmocka_unit_test(words_are_kept_up_to_the_last_that_fits),
		cmocka_unit_test(words_that_are_too_long_together_are_refused),
		TEST(a_file_that_is_as_it_must_be_is_accepted),
		TEST(a_file_that_is_missing_or_none_is_found),
		TEST(a_file_of_another_size_is_found),
		TEST(bytes_that_differ_are_counted),
		TEST(text_that_is_not_there_is_missed),
		TEST(a_file_that_must_be_gone_is_found),
		TEST(words_on_standard_output_are_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
