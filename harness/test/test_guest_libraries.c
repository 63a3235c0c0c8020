/* SPDX-License-Identifier: MIT */
/*
 * test_guest_libraries.c - what a set of programs needs, asked of their loader: programs and
 * libraries made by the compiler for that, with RUNPATHs that are right, odd and wrong.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest_libraries.h"
#include "scratch.h"

#define BUILD                                                                                      \
	"cc=${CC:-cc}; echo 'int low(void) { return 1; }' >low.c; "                                \
	"echo 'int low(void); int high(void) { return low(); }' >high.c; "                         \
	"echo 'int high(void); int main(void) { return high(); }' >main.c; "                       \
	"$cc -shared -fPIC -o liblow.so low.c; "                                                   \
	"$cc -shared -fPIC -o libhigh.so high.c -L. -llow -Wl,-rpath,'$ORIGIN'; "

/* Of a name with a blank, as directories may have. */
static char top[PATH_MAX], directory[PATH_MAX + 16];
static struct guest_libraries libraries;
static struct diag diag;

static void run(const char *script)
{
	scratch_run(directory, script);
}

static const char *in_directory(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int make_directory(void **state)
{
	(void)state;
	if (scratch_make(top, "libraries-XXXXXX") < 0)
		return -1;
	snprintf(directory, sizeof(directory), "%s", top);
	run("mkdir 'a directory'");
	snprintf(directory, sizeof(directory), "%s/a directory", top);
	diag.text[0] = '\0';
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	guest_libraries_fini(&libraries);
	run("rm -rf \"$PWD\"");
	return rmdir(top);
}

/* The path under which a library was found; NULL. */
static const char *found(const char *name)
{
	for (unsigned i = 0; i < libraries.count; i++)
		if (strcmp(strrchr(libraries.paths[i], '/') + 1, name) == 0)
			return libraries.paths[i];
	return NULL;
}

static bool loader_is_found(void)
{
	for (unsigned i = 0; i < libraries.count; i++)
		if (strstr(libraries.paths[i], "/ld-"))
			return true;
	return false;
}

static int resolve(const char *program, const char *loaded)
{
	assert_int_equal(guest_libraries_want(&libraries, in_directory(program), false), 0);
	if (loaded)
		assert_int_equal(guest_libraries_want(&libraries, in_directory(loaded), true), 0);
	return guest_libraries_resolve(&libraries, &diag);
}

static void libraries_of_libraries_are_found_where_runpaths_say(void **state)
{
	(void)state;
	run(BUILD "$cc -o main main.c -L. -lhigh -Wl,-rpath-link,. "
		  "-Wl,-rpath,'/nothing/there:$ORIGIN/../a directory'");
	assert_int_equal(resolve("main", NULL), 0);
	assert_non_null(strstr(found("libhigh.so"), "a directory/libhigh.so"));
	assert_non_null(strstr(found("liblow.so"), "a directory/liblow.so"));
	assert_non_null(found("libc.so.6"));
	assert_true(loader_is_found());
	for (unsigned i = 0; i < libraries.count; i++)
		assert_int_equal(access(libraries.paths[i], R_OK), 0);
}

static void a_missing_library_is_named_with_its_program(void **state)
{
	(void)state;
	run(BUILD "$cc -o main main.c -L. -lhigh -Wl,-rpath-link,. -Wl,-rpath,'$ORIGIN'; "
		  "rm liblow.so");
	assert_int_equal(resolve("main", NULL), -ENOENT);
	assert_non_null(
		strstr(diag.text, "main: error while loading shared libraries: liblow.so: "));
}

/* Relative: found only by who happens to stand in the right directory. */
static void a_runpath_that_depends_on_where_one_is_is_refused(void **state)
{
	char before[PATH_MAX];
	int result;

	(void)state;
	run(BUILD "$cc -o main main.c -L. -lhigh -Wl,-rpath-link,. -Wl,-rpath,.");
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(directory), 0);
	result = resolve("main", NULL);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(result, -ENOENT);
	assert_non_null(
		strstr(diag.text, "main needs libhigh.so, which is found from some directories"));
}

/* Not as a library of its own: it lies where its program looks for it. */
static void what_a_program_loads_brings_its_libraries(void **state)
{
	(void)state;
	run(BUILD "echo 'int main(void) { return 0; }' >main.c; $cc -o main main.c");
	assert_int_equal(resolve("main", "libhigh.so"), 0);
	assert_non_null(found("liblow.so"));
	snprintf(directory, sizeof(directory), "%s", top);
	run("mv 'a directory' directory");
	snprintf(directory, sizeof(directory), "%s/directory", top);
	guest_libraries_fini(&libraries);
	assert_int_equal(resolve("main", "libhigh.so"), 0);
	assert_non_null(found("liblow.so"));
	assert_null(found("libhigh.so"));
}

/* They need nothing, and are not run to know that. */
static void scripts_and_static_programs_need_nothing(void **state)
{
	(void)state;
	run("printf '#!/bin/sh\\ntouch ran\\n' >script; chmod +x script; : >empty; "
	    "printf '\\177ELF' >short");
	assert_int_equal(resolve("script", NULL), 0);
	assert_int_equal(resolve("empty", NULL), 0);
	assert_int_equal(resolve("short", NULL), 0);
	assert_int_equal(libraries.count, 0);
	run("[ ! -e ran ]");
}

static void a_program_is_not_run_to_ask_it(void **state)
{
	(void)state;
	run("echo '#include <stdio.h>' >main.c; "
	    "echo 'int main(void) { return !fopen(\"ran\", \"w\"); }' >>main.c; "
	    "${CC:-cc} -o main main.c; chmod u+s main");
	assert_int_equal(resolve("main", NULL), 0);
	assert_non_null(found("libc.so.6"));
	run("[ ! -e ran ]");
}

static void what_is_not_there_or_has_no_loader_is_told(void **state)
{
	(void)state;
	assert_int_equal(resolve("gone", NULL), -ENOENT);
	assert_non_null(strstr(diag.text, "gone: No such file"));
	guest_libraries_fini(&libraries);
	run("echo 'int main(void) { return 0; }' >main.c; "
	    "${CC:-cc} -o main main.c -Wl,--dynamic-linker=/nothing/ld-there.so");
	assert_int_equal(resolve("main", NULL), -ENOENT);
	assert_non_null(strstr(diag.text, "main: its loader /nothing/ld-there.so does not run"));
}

static void two_libraries_of_one_name_are_refused_unless_they_are_one(void **state)
{
	(void)state;
	run(BUILD "mkdir other same; cp liblow.so other; ln liblow.so same/liblow.so; "
		  "echo 'int low(void); int main(void) { return low(); }' >one.c; "
		  "$cc -o one one.c -L. -llow -Wl,-rpath,'$ORIGIN'; "
		  "$cc -o two one.c -L. -llow -Wl,-rpath,'$ORIGIN/other'; "
		  "$cc -o three one.c -L. -llow -Wl,-rpath,'$ORIGIN/same'");
	assert_int_equal(guest_libraries_want(&libraries, in_directory("one"), false), 0);
	assert_int_equal(resolve("three", NULL), 0);
	guest_libraries_fini(&libraries);
	assert_int_equal(guest_libraries_want(&libraries, in_directory("one"), false), 0);
	assert_int_equal(resolve("two", NULL), -EEXIST);
	assert_non_null(strstr(diag.text, "other/liblow.so: a guest has room for one library"));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(libraries_of_libraries_are_found_where_runpaths_say),
		CASE(a_missing_library_is_named_with_its_program),
		CASE(a_runpath_that_depends_on_where_one_is_is_refused),
		CASE(what_a_program_loads_brings_its_libraries),
		CASE(scripts_and_static_programs_need_nothing),
		CASE(a_program_is_not_run_to_ask_it),
		CASE(what_is_not_there_or_has_no_loader_is_told),
		CASE(two_libraries_of_one_name_are_refused_unless_they_are_one),
	};

	long fd = syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0 && errno == ENOSYS) {
		puts("1..0 # SKIP pidfd_open is missing (Linux 5.3 has it, valgrind does not)");
		return 77;
	}
	close((int)fd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
