/* SPDX-License-Identifier: MIT */
/*
 * test_plan_removal.c - what a device that is pulled out does not go with is refused before
 * anything runs, with the reason, and so is a device that no step can use.
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

#include "case.h"

#define HEAD "title: A case\ntargets: [nvme]\n"
#define TENSOR "swap:\n  tensors: [{name: a, numel: 10}]\n"
#define RETURNS TENSOR "  steps: [prepare, swap-in, device-return, swap-in]\n"
#define STAYS TENSOR "  steps: [prepare, swap-in]\n"
#define REMOVAL "nvme.read#1 => remove"

/* Make the plan of that scenario; what is wrong with it in @diag. */
static int plan_of(const char *text, const char *fault, struct diag *diag)
{
	char path[] = "/tmp/swaptorture-plan-XXXXXX.yaml";
	const char *paths[] = {path};
	struct plan_options options = {
		.paths = paths, .paths_count = 1, .faults = &fault, .faults_count = !!fault};
	int fd = mkstemps(path, 5), result;
	struct plan *plan = NULL;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	result = plan_make(&options, &plan, diag);
	unlink(path);
	if (result == 0)
		plan_free(plan);
	return result;
}

static void accept(const char *text, const char *fault)
{
	struct diag diag = {.text = ""};

	if (plan_of(text, fault, &diag) < 0)
		fail_msg("%s", diag.text);
}

static void refuse(const char *text, const char *fault, const char *complaint)
{
	struct diag diag = {.text = ""};

	assert_true(plan_of(text, fault, &diag) < 0);
	if (!strstr(diag.text, complaint))
		fail_msg("'%s' lacks '%s'", diag.text, complaint);
}

static void a_removal_with_its_return_is_planned(void **state)
{
	(void)state;
	accept(HEAD RETURNS "faults: ['" REMOVAL "']\n", NULL);
	accept(HEAD RETURNS "faults: ['" REMOVAL ":orderly']\n", NULL);
	accept(HEAD RETURNS, REMOVAL);
	accept(HEAD RETURNS, NULL);
	accept(HEAD STAYS "aftermath: false\nfaults: ['" REMOVAL "']\n", NULL);
}

static void a_removal_without_return_and_with_an_aftermath_is_refused(void **state)
{
	(void)state;
	refuse(HEAD STAYS "faults: ['" REMOVAL "']\n", NULL,
	       "faults: remove: nothing puts the device back");
	refuse(HEAD STAYS, REMOVAL, "--fault: remove: nothing puts the device back");
}

static void two_removals_are_refused(void **state)
{
	(void)state;
	refuse(HEAD RETURNS "faults: ['" REMOVAL "', 'nvme.write#9 => remove']\n", NULL,
	       "a device is pulled out once");
}

static void a_removal_goes_with_no_end_of_the_process(void **state)
{
	(void)state;
	refuse(HEAD RETURNS "faults: ['" REMOVAL "', 'fsync#1 => kill']\n", NULL,
	       "goes with no fault that ends the process");
	refuse(HEAD TENSOR "  steps: [prepare, swap-in, restart, swap-in]\n"
			   "aftermath: false\nfaults: ['" REMOVAL "']\n",
	       NULL, "a step device-return before it is due");
}

static void a_removal_goes_with_no_program(void **state)
{
	(void)state;
	refuse(HEAD "program: {argv: [true]}\nfaults: ['" REMOVAL "']\n", NULL, "goes with swap");
}

static void namespaces_that_no_step_can_use_are_refused(void **state)
{
	(void)state;
	accept(HEAD "device: {sector: 4096}\n" STAYS, NULL);
	refuse(HEAD "device: {file_system: none}\n" STAYS, NULL, "file_system: none: steps work");
	refuse(HEAD "device: {read_only: true}\n" STAYS, NULL, "read_only: true: the file system");
}

static void only_a_guest_has_a_device_that_can_be_pulled_out(void **state)
{
	(void)state;
	refuse("title: A case\ntargets: [sim]\n" STAYS "faults: ['" REMOVAL "']\n", NULL,
	       "target sim has none");
	refuse("title: A case\ntargets: [host]\n" STAYS, REMOVAL, "target host has none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_removal_with_its_return_is_planned),
		cmocka_unit_test(a_removal_without_return_and_with_an_aftermath_is_refused),
		cmocka_unit_test(two_removals_are_refused),
		cmocka_unit_test(a_removal_goes_with_no_end_of_the_process),
		cmocka_unit_test(a_removal_goes_with_no_program),
		cmocka_unit_test(namespaces_that_no_step_can_use_are_refused),
		cmocka_unit_test(only_a_guest_has_a_device_that_can_be_pulled_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
