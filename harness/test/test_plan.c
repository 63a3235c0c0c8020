/* SPDX-License-Identifier: MIT */
/*
 * test_plan.c - which cases a plan holds, what they are called, and the line that runs one again.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "plan_internal.h"

#define SWAP                                                                                       \
	"swap:\n  tensors: [{name: a, numel: 100}]\n  steps: [prepare, swap-in]\n"                 \
	"expect: {result: ok}\n"

#define STEPS(steps)                                                                               \
	"swap:\n  tensors: [{name: a, numel: 100}]\n  steps: [" steps "]\nexpect: {data: exact}\n"

static char directory[] = "/tmp/test_plan_XXXXXX";

static const char *const files[][2] = {
	{"group/two-keys.yaml", "title: t\n" SWAP "matrix:\n  workers: [0, 1]\n"
				"  faults:\n    - io_submit#1 => accept:1\n"
				"    - [\"io_event#1 => res:EIO\", \"io_event#2 => dup\"]\n"},
	{"group/host-only.yaml", "title: t\ntargets: host\n" SWAP "matrix:\n"
				 "  swap.tensors.0.numel: [511, 512]\n"},
	{"group/of-guests.yaml", "title: t\ntargets: nvme\nneeds: [memory-999999G]\n" SWAP},
	{"cut/good.yaml", "title: t\ntargets: nvme\n" STEPS("swap-out, restart, swap-in")},
	{"cut/no-restart.yaml", "title: t\ntargets: nvme\n" STEPS("swap-out, swap-in")},
	{"cut/not-durable.yaml",
	 "title: t\ntargets: nvme\nstore: {durable: false}\n" STEPS("swap-out, restart, swap-in")},
	{"cut/verified.yaml", "title: t\ntargets: nvme\nstore: {threads: 0}\n" STEPS(
				      "swap-out, verify, restart, swap-in, verify")},
	{"group/needs-more.yaml", "title: t\nneeds: [memory-999999G]\n" SWAP},
	{"group/errs-by-itself.yaml",
	 "title: t\nswap:\n  tensors: [{name: a, numel: 100}]\n"
	 "  steps: [swap-in]\nexpect: {result: refused, error: ENOENT}\n"},
	{"group/.hidden.yaml", "no scenario"},
	{"group/notes.txt", "no scenario"},
	{"group/soak/takes-long.yaml", "title: t\ntargets: sim\n" SWAP},
	{"meta/must-fail.yaml", "title: t\ntargets: sim\n" SWAP},
	{"bad/cell.yaml", "title: t\n" SWAP "matrix: {workers: [0, 1, 65]}\n"},
};

static char *path_of(const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", directory, name) > 0);
	return path;
}

static void make_group(const char *file)
{
	for (const char *end = file; (end = strchr(end, '/')) != NULL; end++) {
		char group[64], *path;

		snprintf(group, sizeof(group), "%.*s", (int)(end - file), file);
		path = path_of(group);
		mkdir(path, 0700);
		free(path);
	}
}

static int make_files(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(directory));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = path_of(files[i][0]);
		FILE *stream;

		make_group(files[i][0]);
		stream = fopen(path, "w");
		assert_non_null(stream);
		fputs(files[i][1], stream);
		assert_int_equal(fclose(stream), 0);
		free(path);
	}
	return 0;
}

static int remove_files(void **state)
{
	static const char *const groups[] = {"group/soak", "group", "meta", "bad", "cut"};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = path_of(files[i][0]);

		unlink(path);
		free(path);
	}
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		char *path = path_of(groups[i]);

		rmdir(path);
		free(path);
	}
	return rmdir(directory);
}

static int make_plan(const char *name, struct plan_options options, struct plan **ret_plan,
		     struct diag *diag)
{
	char *path = path_of(name);
	const char *paths[] = {path};
	int result;

	options.paths = paths;
	options.paths_count = 1;
	options.seed = options.seed ? options.seed : 1;
	result = plan_make(&options, ret_plan, diag);
	free(path);
	return result;
}

static struct plan *good_plan(const char *name, struct plan_options options)
{
	struct plan *plan = NULL;
	struct diag diag = {0};

	if (make_plan(name, options, &plan, &diag) < 0)
		fail_msg("%s", diag.text);
	return plan;
}

static void refuse_plan(const char *name, struct plan_options options, const char *complaint)
{
	struct plan untouched, *plan = &untouched;
	struct diag diag = {0};

	assert_true(make_plan(name, options, &plan, &diag) < 0);
	if (!strstr(diag.text, complaint))
		fail_msg("'%s' lacks '%s'", diag.text, complaint);
	assert_ptr_equal(plan, &untouched);
}

static void matrices_multiply_and_targets_alternate(void **state)
{
	static const char *const names[] = {
		"group/two-keys[workers=0,faults=io_submit#1 => accept:1]@sim",
		"group/two-keys[workers=0,faults=io_submit#1 => accept:1]@host",
		"group/two-keys[workers=0,faults=io_event#1 => res:EIO; io_event#2 => dup]@sim",
		"group/two-keys[workers=0,faults=io_event#1 => res:EIO; io_event#2 => dup]@host",
		"group/two-keys[workers=1,faults=io_submit#1 => accept:1]@sim",
	};
	struct plan *plan = good_plan("group/two-keys.yaml", (struct plan_options){0});

	(void)state;
	assert_int_equal(plan->count, 8);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_string_equal(plan->cases[i].name, names[i]);
		assert_int_equal(plan->cases[i].index, i);
	}
	assert_int_equal(plan->cases[2].schedule.count, 2);
	assert_string_equal(plan->cases[2].schedule_text,
			    "io_event#1 => res:EIO\nio_event#2 => dup\n");
	assert_int_equal(plan->cases[4].workload.handle.workers, 1);
	plan_free(plan);
}

static void a_dotted_key_changes_its_place(void **state)
{
	struct plan *plan = good_plan("group/host-only.yaml", (struct plan_options){0});

	(void)state;
	assert_int_equal(plan->count, 2);
	assert_int_equal(plan->cases[0].workload.tensors[0].numel, 511);
	assert_int_equal(plan->cases[1].workload.tensors[0].numel, 512);
	assert_int_equal(plan->cases[0].target, TARGET_HOST);
	plan_free(plan);
}

static void cells_are_chosen_by_key_and_value(void **state)
{
	const char *cells[] = {"handle.workers=1", "faults=io_submit#1 => accept:1"};
	struct plan_options options = {.cells = cells, .cells_count = 2};
	struct plan *plan = good_plan("group/two-keys.yaml", options);

	(void)state;
	assert_int_equal(plan->count, 2);
	assert_string_equal(plan->cases[0].name,
			    "group/two-keys[workers=1,faults=io_submit#1 => accept:1]@sim");
	plan_free(plan);
	cells[0] = "wrokers=1";
	refuse_plan("group/two-keys.yaml", options, "did you mean 'workers'?");
	cells[0] = "workers=7";
	refuse_plan("group/two-keys.yaml", options, "is one of 0, 1");
	cells[0] = "workers";
	refuse_plan("group/two-keys.yaml", options, "must be KEY=VALUE");
}

static void faults_of_the_command_line_replace_those_of_the_scenario(void **state)
{
	const char *faults[] = {"io_getevents#1 ready=0 => signal:USR1", "io_event#2 => res:EIO"};
	struct plan_options options = {
		.faults = faults, .faults_count = 2, .targets = 1u << TARGET_SIM};
	struct plan *plan = good_plan("group/two-keys.yaml", options);

	(void)state;
	assert_int_equal(plan->count, 2); /* one for each number of workers */
	assert_string_equal(plan->cases[0].name, "group/two-keys[workers=0]@sim");
	assert_int_equal(plan->cases[0].schedule.count, 2);
	assert_int_equal(plan->cases[0].expect.result, EXPECT_FROM_EFFECT);
	plan_free(plan);
	plan = good_plan("group/errs-by-itself.yaml", options);
	assert_int_equal(plan->cases[0].expect.result, EXPECT_REFUSED);
	plan_free(plan);
	faults[1] = "io_event#2 => res:EWHAT";
	refuse_plan("group/two-keys.yaml", options, "--fault 'io_event#2 => res:EWHAT': column");
}

static void a_power_cut_that_nobody_could_see_is_refused(void **state)
{
	const char *faults[] = {"nvme.write#1 => powercut:1"};
	struct plan_options options = {
		.faults = faults, .faults_count = 1, .targets = 1u << TARGET_NVME};

	(void)state;
	plan_free(good_plan("cut/good.yaml", options));
	refuse_plan("cut/no-restart.yaml", options,
		    "--fault: powercut: nobody reads what is left: no step restart follows");
	refuse_plan("cut/not-durable.yaml", options, "powercut: nothing is promised");
	refuse_plan("cut/verified.yaml", options,
		    "powercut: a step verify must stand behind the restart");
}

static void what_cannot_run_is_skipped_with_its_reason(void **state)
{
	struct plan_options nvme = {.targets = 1u << TARGET_NVME};
	struct plan *plan = good_plan("group/needs-more.yaml", (struct plan_options){0});

	(void)state;
	assert_int_equal(plan->count, 2);
	assert_non_null(strstr(plan->cases[0].skip_reason, "1023998976 MiB needed"));
	plan_free(plan);
	refuse_plan("group/two-keys.yaml", nvme, "no case is left");
}

/* Outside nobody knows what the guest has; there, nothing is planned but what is asked for. */
static void what_a_guest_lacks_is_seen_in_the_guest(void **state)
{
	struct plan_options in_guest = {.targets = 1u << TARGET_NVME, .in_guest = true};
	struct plan *plan = good_plan("group/of-guests.yaml", (struct plan_options){0});

	(void)state;
	assert_int_equal(plan->count, 1);
	assert_int_equal(plan->cases[0].target, TARGET_NVME);
	assert_string_equal(plan->cases[0].skip_reason, "");
	plan_free(plan);
	plan = good_plan("group/of-guests.yaml", in_guest);
	assert_int_equal(plan->count, 1);
	assert_non_null(strstr(plan->cases[0].skip_reason, "MiB needed"));
	plan_free(plan);
}

static void directories_are_searched_and_meta_and_soak_only_when_named(void **state)
{
	struct plan_options options = {.filter = "*@sim"};
	struct plan *plan = good_plan("meta", (struct plan_options){0});

	(void)state;
	assert_int_equal(plan->count, 1);
	assert_string_equal(plan->cases[0].name, "meta/must-fail@sim");
	plan_free(plan);
	plan = good_plan("group/soak", options);
	assert_int_equal(plan->count, 1);
	plan_free(plan);
	plan = good_plan("group", options);
	assert_int_equal(plan->scenarios_count, 5);
	assert_string_equal(plan->cases[0].name, "group/errs-by-itself@sim");
	for (unsigned i = 0; i < plan->count; i++)
		assert_int_equal(plan->cases[i].target, TARGET_SIM);
	plan_free(plan);
	refuse_plan(".", options, "workers: 65 is out of range"); /* bad/, not meta/ */
	refuse_plan("nowhere", options, "No such file or directory");
	refuse_plan("group/notes.txt", options, "must be a map of keys");
}

static void a_file_that_is_named_twice_is_one_scenario(void **state)
{
	char *path = path_of("meta/must-fail.yaml"),
	     *other = path_of("group/../meta/must-fail.yaml");
	const char *paths[] = {path, other, path};
	struct plan_options options = {.paths = paths, .paths_count = 3, .seed = 1};
	struct plan *plan = NULL;
	struct diag diag = {0};

	(void)state;
	assert_int_equal(plan_make(&options, &plan, &diag), 0);
	assert_int_equal(plan->count, 1);
	plan_free(plan);
	free(path);
	free(other);
}

static void a_wrong_cell_is_refused_although_it_is_not_chosen(void **state)
{
	const char *cells[] = {"workers=0"};

	(void)state;
	refuse_plan("bad/cell.yaml", (struct plan_options){.cells = cells, .cells_count = 1},
		    "workers: 65 is out of range, 0 to 64 (in the case workers=65)");
}

/* What a shell makes of the line: its words. */
static void split_by_shell(const char *line, char words[24][256], unsigned *ret_count)
{
	char command[4096];
	FILE *stream;

	snprintf(command, sizeof(command), "for w in %s; do printf '%%s\\n' \"$w\"; done", line);
	stream = popen(command, "r");
	assert_non_null(stream);
	*ret_count = 0;
	while (*ret_count < 24 && fgets(words[*ret_count], 256, stream))
		words[*ret_count][strcspn(words[*ret_count], "\n")] = '\0', ++*ret_count;
	assert_int_equal(pclose(stream), 0);
}

static void the_repro_line_survives_a_shell_and_plans_the_same_case(void **state)
{
	struct plan_options options = {
		.program = "./my tools/it's", .seed = 77, .repro_extra = "--under memcheck"};
	struct plan *plan = good_plan("group/two-keys.yaml", options);

	(void)state;
	for (unsigned i = 0; i < plan->count; i++) {
		const char *cells[2];
		struct plan_options again = {.cells = cells, .cells_count = 2};
		char words[24][256];
		struct plan *one;
		unsigned count;

		split_by_shell(plan->cases[i].repro, words, &count);
		assert_int_equal(count, 13);
		assert_string_equal(words[0], "./my tools/it's");
		assert_string_equal(words[1], "run");
		assert_string_equal(words[3], "--target");
		again.targets = 1u << (strcmp(words[4], "sim") ? TARGET_HOST : TARGET_SIM);
		cells[0] = words[6];
		cells[1] = words[8];
		assert_string_equal(words[10], "77");
		assert_string_equal(words[12], "memcheck");
		one = good_plan("group/two-keys.yaml", again);
		assert_int_equal(one->count, 1);
		assert_string_equal(one->cases[0].name, plan->cases[i].name);
		plan_free(one);
	}
	plan_free(plan);
}

static void names_of_scenarios_are_group_and_file(void **state)
{
	static const char *const names[][2] = {
		{"scenarios/signal/two.yaml", "signal/two"},
		{"two.yaml", "two"},
		{"/a/b/c.yaml", "b/c"},
		{"./x.yaml", "./x"},
		{"signal/odd", "signal/odd"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		plan_scenario_name(names[i][0], text, sizeof(text));
		assert_string_equal(text, names[i][1]);
	}
}

static void needs_are_asked_of_the_machine(void **state)
{
	char reason[128] = "";

	(void)state;
	assert_int_equal(plan_need_check("disk-1M", TARGET_HOST, "/tmp", reason, 128), 0);
	assert_int_equal(plan_need_check("disk-1M", TARGET_HOST, "/nowhere", reason, 128), 1);
	assert_string_equal(reason, "disk space of /nowhere: No such file or directory");
	assert_int_equal(plan_need_check("disk-999999999G", TARGET_SIM, "/tmp", reason, 128), 1);
	assert_int_equal(plan_need_check("direct-io", TARGET_SIM, "/proc", reason, 128), 0);
	assert_int_equal(plan_need_check("direct-io", TARGET_HOST, "/proc", reason, 128), 1);
	assert_int_equal(plan_need_check("luck", TARGET_HOST, "/tmp", reason, 128), 1);
	assert_int_equal(plan_need_check("root", TARGET_HOST, "/tmp", reason, 128), geteuid() != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matrices_multiply_and_targets_alternate),
		cmocka_unit_test(a_dotted_key_changes_its_place),
		cmocka_unit_test(cells_are_chosen_by_key_and_value),
		cmocka_unit_test(faults_of_the_command_line_replace_those_of_the_scenario),
		cmocka_unit_test(a_power_cut_that_nobody_could_see_is_refused),
		cmocka_unit_test(what_cannot_run_is_skipped_with_its_reason),
		cmocka_unit_test(what_a_guest_lacks_is_seen_in_the_guest),
		cmocka_unit_test(directories_are_searched_and_meta_and_soak_only_when_named),
		cmocka_unit_test(a_file_that_is_named_twice_is_one_scenario),
		cmocka_unit_test(a_wrong_cell_is_refused_although_it_is_not_chosen),
		cmocka_unit_test(the_repro_line_survives_a_shell_and_plans_the_same_case),
		cmocka_unit_test(names_of_scenarios_are_group_and_file),
		cmocka_unit_test(needs_are_asked_of_the_machine),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
