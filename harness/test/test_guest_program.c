/* SPDX-License-Identifier: MIT */
/*
 * test_guest_program.c - which files a program takes along into a guest, and what is told of those
 * that cannot run there: scripts, other machines' programs, words that name files of this machine.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest_program.h"
#include "scratch.h"

static char directory[PATH_MAX], before[PATH_MAX];
static struct scenario scenario;
static struct program program;
static struct guest_program_files files;
static char reason[GUEST_PROGRAM_REASON_BYTES];

static void run(const char *script)
{
	scratch_run(".", script);
}

static int make_directory(void **state)
{
	(void)state;
	if (!getcwd(before, sizeof(before)) || scratch_make(directory, "program XXXXXX") < 0 ||
	    chdir(directory) < 0)
		return -1;
	memset(&scenario, 0, sizeof(scenario));
	memset(&program, 0, sizeof(program));
	reason[0] = '\0';
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	run("rm -rf \"$PWD\"");
	return chdir(before);
}

/* These words, up to NULL. */
static int find(const char *first, ...)
{
	va_list words;

	memset(&program, 0, sizeof(program));
	va_start(words, first);
	for (const char *word = first; word; word = va_arg(words, const char *))
		assert_int_equal(program_words_add(&program.argv, word), 0);
	va_end(words);
	return guest_program_find(&scenario, &program, &files, reason);
}

/* Where this lies in the guest; NULL. */
static const char *source_of(const char *path)
{
	for (unsigned i = 0; i < files.count; i++)
		if (strcmp(files.files[i].path, path) == 0)
			return files.files[i].source;
	return NULL;
}

static void need(const char *name)
{
	snprintf(scenario.needs[scenario.needs_count++], sizeof(scenario.needs[0]), "%s", name);
}

static void expect_refusal(int result, int error, const char *words)
{
	assert_int_equal(result, error);
	if (!strstr(reason, words))
		fail_msg("'%s' is not told: %s", words, reason);
}

static void a_name_lies_in_bin_and_what_is_needed_beside_it(void **state)
{
	(void)state;
	need("program-dd");
	need("root");
	need("program-cat");
	assert_int_equal(find("cat", "in", NULL), 0);
	assert_int_equal(files.count, 2); /* each once */
	assert_non_null(strstr(source_of("/bin/cat"), "/cat"));
	assert_non_null(strstr(source_of("/bin/dd"), "/dd"));
	assert_null(guest_program_path(&program));
}

/* Below a directory of its own, under its real name. */
static void a_path_keeps_its_place(void **state)
{
	char wanted[2 * PATH_MAX], *path;

	(void)state;
	run("mkdir real; cp /bin/cat real/tool; ln -s real link");
	assert_int_equal(find("link/tool", NULL), 0);
	path = guest_program_path(&program);
	snprintf(wanted, sizeof(wanted), "/opt/swaptorture/given%s/real/tool", directory);
	assert_string_equal(path, wanted);
	assert_string_equal(source_of(wanted), "link/tool");
	free(path);
}

static void a_script_brings_its_shell(void **state)
{
	(void)state;
	run("printf '#! /bin/sh -e\\n' >a; printf '#!/usr/bin/env sh\\n' >b; chmod +x a b");
	assert_int_equal(find("./a", NULL), 0);
	assert_non_null(source_of("/bin/sh"));
	assert_int_equal(files.count, 2);
	assert_int_equal(find("./b", NULL), 0);
	assert_non_null(source_of("/bin/sh"));
	assert_non_null(source_of("/bin/env"));
	assert_int_equal(files.count, 3);
}

static void scripts_of_other_languages_are_refused(void **state)
{
	static const char *const lines[] = {"#!/usr/bin/perl", "#!/usr/bin/env python3",
					    "#!/usr/bin/env", "#!", "#!/nowhere/sh"};
	static const char *const told[] = {"is a script for perl", "is a script for python3",
					   "is a script for nobody", "is a script for nobody",
					   "its interpreter /nowhere/sh is not in /bin"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		FILE *file = fopen("script", "we");

		assert_non_null(file);
		fprintf(file, "%s\n", lines[i]);
		fclose(file);
		run("chmod +x script");
		expect_refusal(find("./script", NULL), -ENOTSUP, told[i]);
	}
}

static void what_is_no_program_of_this_machine_is_refused(void **state)
{
	(void)state;
	run("echo words >text; : >empty; cp /bin/cat old; cp /bin/cat arm; "
	    "printf '\\001' | dd of=old bs=1 seek=4 conv=notrunc status=none; "
	    "printf '\\267' | dd of=arm bs=1 seek=18 conv=notrunc status=none; "
	    "head -c 30 /bin/cat >cut; chmod +x text empty old arm cut");
	expect_refusal(find("./text", NULL), -ENOTSUP, "text is neither an ELF file nor a script");
	expect_refusal(find("./empty", NULL), -ENOTSUP, "empty is neither");
	expect_refusal(find("./cut", NULL), -ENOTSUP, "cut is neither");
	expect_refusal(find("./old", NULL), -ENOTSUP, "old is no program for x86-64");
	expect_refusal(find("./arm", NULL), -ENOTSUP, "arm is no program for x86-64");
	expect_refusal(find("./gone", NULL), -ENOENT, "program ./gone: No such file");
	need("program-no-such-program");
	expect_refusal(find("cat", NULL), -ENOENT, "program no-such-program: No such file");
}

static void words_that_name_files_of_this_machine_are_refused(void **state)
{
	(void)state;
	expect_refusal(find("cat", "/etc/passwd", NULL), -ENOTSUP, "'/etc/passwd' names what lies");
	expect_refusal(find("cat", "in", "--with=/etc", NULL), -ENOTSUP, "'--with=/etc' names");
	assert_int_equal(find("cat", "/dev/null", "--in=/proc/version", "/tmp", "/none/such",
			      "{work_dir}/in", "a=b", "etc/passwd", "/", NULL),
			 0);
	assert_int_equal(program_words_add(&program.env, "CONFIG=/etc/passwd"), 0);
	expect_refusal(guest_program_find(&scenario, &program, &files, reason), -ENOTSUP,
		       "'CONFIG=/etc/passwd' names");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_name_lies_in_bin_and_what_is_needed_beside_it),
		CASE(a_path_keeps_its_place),
		CASE(a_script_brings_its_shell),
		CASE(scripts_of_other_languages_are_refused),
		CASE(what_is_no_program_of_this_machine_is_refused),
		CASE(words_that_name_files_of_this_machine_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
