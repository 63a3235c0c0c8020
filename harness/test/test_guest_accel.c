/* SPDX-License-Identifier: MIT */
/*
 * test_guest_accel.c - what proves an accelerator, and how long it is remembered.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest_fixture.h"
#include "guest_internal.h"

#define PATIENCE_MS 120000u /* of a machine with much else to do */

static struct guest_kernel kernel;

static void have_cache(const char *version)
{
	const char *base = getenv("TMPDIR");

	snprintf(kernel.cache, sizeof(kernel.cache), "%s/kernels.XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(kernel.cache));
	snprintf(kernel.version, sizeof(kernel.version), "%s", version);
}

static void file_of(char path[static PATH_MAX + 256])
{
	snprintf(path, PATH_MAX + 256, "%s/kvm_%s", kernel.cache, kernel.version);
}

static void remove_cache(void)
{
	char path[PATH_MAX + 256];

	file_of(path);
	unlink(path);
	assert_int_equal(rmdir(kernel.cache), 0); /* nothing else is left in it */
}

static void what_was_found_out_is_known(void **state)
{
	bool works = true;

	(void)state;
	have_cache("6.1");
	assert_false(guest_accel_known(&kernel, &works));
	guest_accel_remember(&kernel, false);
	assert_true(guest_accel_known(&kernel, &works));
	assert_false(works);
	guest_accel_remember(&kernel, true);
	assert_true(guest_accel_known(&kernel, &works));
	assert_true(works);
	remove_cache();
}

static void of_another_kernel_or_boot_nothing_is_known(void **state)
{
	char path[PATH_MAX + 256];
	bool works;
	FILE *file;

	(void)state;
	have_cache("6.1");
	guest_accel_remember(&kernel, true);
	snprintf(kernel.version, sizeof(kernel.version), "6.2");
	assert_false(guest_accel_known(&kernel, &works));
	guest_accel_remember(&kernel, false);
	assert_true(guest_accel_known(&kernel, &works));
	file_of(path);
	assert_int_equal(unlink(path), 0);
	snprintf(kernel.version, sizeof(kernel.version), "6.1");
	assert_true(guest_accel_known(&kernel, &works)); /* beside that of another one */
	assert_true(works);
	file_of(path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("00000000-0000-0000-0000-000000000000 6.1 works\n", file);
	fclose(file);
	assert_false(guest_accel_known(&kernel, &works));
	remove_cache();
}

static void without_a_place_nothing_is_known(void **state)
{
	bool works;

	(void)state;
	kernel.cache[0] = '\0';
	guest_accel_remember(&kernel, true);
	assert_false(guest_accel_known(&kernel, &works));
	snprintf(kernel.cache, sizeof(kernel.cache), "/nonexistent/kernels");
	guest_accel_remember(&kernel, true);
	assert_false(guest_accel_known(&kernel, &works));
}

static void what_is_known_is_chosen_unless_one_is_named(void **state)
{
	bool kvm = access("/dev/kvm", R_OK | W_OK) == 0;

	(void)state;
	have_cache("6.1");
	guest_accel_remember(&kernel, false);
	assert_string_equal(guest_accel_choose(&(struct guest_options){0}, &kernel), "tcg");
	assert_string_equal(guest_accel_choose(&(struct guest_options){.accel = "kvm"}, &kernel),
			    "kvm");
	guest_accel_remember(&kernel, true);
	assert_string_equal(guest_accel_choose(&(struct guest_options){0}, &kernel),
			    kvm ? "kvm" : "tcg");
	remove_cache();
}

static void a_kernel_that_boots_is_proof(void **state)
{
	const struct guest_options options = options_of_test();
	struct guest_kernel real;
	struct diag diag = {.text = ""};

	(void)state;
	if (guest_find(&options, &real, &diag) < 0)
		fail_msg("%s", diag.text);
	assert_true(guest_accel_works("tcg", &real, PATIENCE_MS, NULL));
	/* It does not get as far as that in no time. */
	assert_false(guest_accel_works("tcg", &real, 1, NULL));
	/* QEMU refuses what is no kernel. */
	snprintf(real.path, sizeof(real.path), "/proc/self/exe");
	assert_false(guest_accel_works("tcg", &real, PATIENCE_MS, NULL));
	assert_false(guest_accel_works("nonsense", &real, PATIENCE_MS, NULL));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_found_out_is_known),
		cmocka_unit_test(of_another_kernel_or_boot_nothing_is_known),
		cmocka_unit_test(without_a_place_nothing_is_known),
		cmocka_unit_test(what_is_known_is_chosen_unless_one_is_named),
		cmocka_unit_test(a_kernel_that_boots_is_proof),
	};
	int status;

	if (!fixture_begin(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
