/* SPDX-License-Identifier: MIT */
/*
 * test_reader_crash.c - what a loss of power may leave of writes that were begun, and what it may
 * not of those that were made durable.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "reader.h"

#define BYTES 4096u
#define SEED 7u
#define WRITES_MAX 16u

struct left { /* two tensors, and what is in the files */
	char work_dir[PATH_MAX];
	struct workload workload;
	struct outcome outcome;
	struct outcome_write writes[WRITES_MAX];
	struct wire_kept kept[WIRE_TENSORS_MAX];
	struct case_result result;
};

static int set_up(void **state)
{
	struct left *it = calloc(1, sizeof(*it));
	const char *temporary = getenv("TMPDIR");

	assert_non_null(it);
	snprintf(it->work_dir, sizeof(it->work_dir), "%s/crash-XXXXXX",
		 temporary ? temporary : "/tmp");
	assert_non_null(mkdtemp(it->work_dir));
	workload_defaults(&it->workload);
	it->workload.tensors_count = 2;
	for (unsigned i = 0; i < 2; i++) {
		tensor_defaults(&it->workload.tensors[i]);
		it->workload.tensors[i].numel = BYTES / 4;
		snprintf(it->workload.tensors[i].name, WORKLOAD_NAME_BYTES, "%c", 'a' + (int)i);
		snprintf(it->workload.tensors[i].file, WORKLOAD_FILE_BYTES, "%c.swp", 'a' + (int)i);
	}
	it->outcome.writes = it->writes;
	*state = it;
	return 0;
}

static int tear_down(void **state)
{
	struct left *it = *state;
	char path[PATH_MAX + WORKLOAD_FILE_BYTES + 1];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", it->work_dir, it->workload.tensors[i].file);
		unlink(path);
	}
	rmdir(it->work_dir);
	free(it);
	return 0;
}

static void told(struct left *it, unsigned tensor, uint32_t generation, uint64_t length,
		 bool durable)
{
	assert_true(it->outcome.writes_count < WRITES_MAX);
	it->writes[it->outcome.writes_count++] =
		(struct outcome_write){tensor, generation, length, false, durable};
}

/* The bytes [begin, end) of a tensor hold this generation; 0: zeros. */
static void lay(struct left *it, unsigned tensor, uint32_t generation, uint64_t begin, uint64_t end)
{
	struct pattern pattern = {SEED, tensor, generation};
	char path[PATH_MAX + WORKLOAD_FILE_BYTES + 1], bytes[BYTES] = {0};
	int fd;

	snprintf(path, sizeof(path), "%s/%s", it->work_dir, it->workload.tensors[tensor].file);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	if (generation)
		pattern_fill(&pattern, begin, bytes, end - begin);
	assert_int_equal(pwrite(fd, bytes, end - begin,
				(off_t)(it->workload.tensors[tensor].file_offset_bytes + begin)),
			 (ssize_t)(end - begin));
	close(fd);
}

static void check(struct left *it, enum expect_data expect)
{
	struct reader_job job = {
		.work_dir = it->work_dir,
		.workload = &it->workload,
		.outcome = &it->outcome,
		.seed = SEED,
		.after = "the crash",
	};

	reader_check_crash(&job, expect, it->kept, &it->result);
}

static void assert_lost(struct left *it, const char *words)
{
	assert_int_equal(it->result.findings_count, 1);
	assert_int_equal(it->result.findings[0].failure_class, CLASS_CORRUPTION);
	assert_non_null(strstr(it->result.findings[0].text, words));
}

static void sectors_of_writes_that_were_not_synced_may_be_any(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, true);
	told(it, 0, 2, BYTES, false);
	told(it, 0, 3, BYTES, false);
	lay(it, 0, 1, 0, BYTES);
	lay(it, 0, 3, 512, 1024);
	lay(it, 0, 2, 2048, 4096);
	check(it, EXPECT_DATA_EXACT);
	assert_int_equal(it->result.findings_count, 0);
	assert_int_equal(it->kept[0].stored, 0);
}

static void what_is_whole_is_known_to_the_next_process(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, false);
	told(it, 0, 2, BYTES, false);
	lay(it, 0, 2, 0, BYTES);
	check(it, EXPECT_DATA_EXACT);
	assert_int_equal(it->result.findings_count, 0);
	assert_int_equal(it->kept[0].stored, 2);
}

static void a_durable_write_that_is_gone_is_lost(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, true);
	told(it, 0, 2, BYTES, true);
	lay(it, 0, 2, 0, BYTES);
	lay(it, 0, 1, 1024, 2048);
	check(it, EXPECT_DATA_EXACT);
	assert_lost(it, "tensor a, bytes 1024-2047 hold generation 1: lost write; generation 2 was "
			"made durable");
}

/* A device never tears inside of a sector. */
static void half_a_sector_is_nobodys_write(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, true);
	told(it, 0, 2, BYTES, false);
	lay(it, 0, 1, 0, BYTES);
	lay(it, 0, 2, 1024, 1280);
	check(it, EXPECT_DATA_EXACT);
	assert_lost(it, "bytes 1024-1535");
}

static void a_sector_counts_in_the_file_not_in_the_tensor(void **state)
{
	struct left *it = *state;

	it->workload.tensors[0].file_offset_bytes = 256;
	told(it, 0, 1, BYTES, true);
	told(it, 0, 2, BYTES, false);
	lay(it, 0, 1, 0, BYTES);
	lay(it, 0, 2, 256, 768);
	check(it, EXPECT_DATA_EXACT);
	assert_int_equal(it->result.findings_count, 0);
}

static void zeros_are_there_only_where_nothing_was_promised(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, false);
	lay(it, 0, 1, 0, BYTES);
	lay(it, 0, 0, 512, 1024);
	check(it, EXPECT_DATA_EXACT);
	assert_int_equal(it->result.findings_count, 0);
	told(it, 0, 1, BYTES, true);
	check(it, EXPECT_DATA_EXACT);
	assert_lost(it, "bytes 512-1023 hold zeros; generation 1 was made durable");
}

static void bytes_that_nobody_wrote_are_found(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, false);
	lay(it, 0, 9, 0, BYTES);
	check(it, EXPECT_DATA_EXACT);
	assert_lost(it, "no such write was begun");
}

static void a_file_that_was_durable_must_exist(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, false);
	check(it, EXPECT_DATA_EXACT);
	assert_int_equal(it->result.findings_count, 0);
	told(it, 0, 1, BYTES, true);
	check(it, EXPECT_DATA_EXACT);
	assert_lost(it, "file a.swp: No such file or directory; generation 1 was made durable");
}

static void a_durable_file_must_not_end_early(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, true);
	lay(it, 0, 1, 0, 3072);
	check(it, EXPECT_DATA_EXACT);
	assert_lost(it, "bytes 3072-4095 are not there");
}

static void a_shorter_write_leaves_what_lies_behind_it(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, true);
	told(it, 0, 2, 1000, true);
	lay(it, 0, 1, 0, BYTES);
	lay(it, 0, 2, 0, 1000);
	check(it, EXPECT_DATA_EXACT);
	assert_int_equal(it->result.findings_count, 0);
	lay(it, 0, 2, 1000, 1024);
	check(it, EXPECT_DATA_EXACT);
	assert_lost(it, "bytes 1000-1023");
}

static void old_or_new_is_no_mixture_of_sectors(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, true);
	told(it, 0, 2, BYTES, false);
	lay(it, 0, 1, 0, BYTES);
	lay(it, 0, 2, 512, BYTES);
	check(it, EXPECT_DATA_OLD_OR_NEW);
	assert_lost(it, "tensor a is a mixture: generation 1, and from byte 512 on generation 2");
}

static void old_or_new_is_the_same_for_all_tensors(void **state)
{
	struct left *it = *state;

	for (unsigned i = 0; i < 2; i++) {
		told(it, i, 1, BYTES, true);
		told(it, i, 2, BYTES, false);
		lay(it, i, 1, 0, BYTES);
	}
	check(it, EXPECT_DATA_OLD_OR_NEW);
	assert_int_equal(it->result.findings_count, 0);
	lay(it, 1, 2, 0, BYTES);
	check(it, EXPECT_DATA_OLD_OR_NEW);
	assert_lost(it, "tensor b holds generation 2, and tensor a generation 1");
}

static void old_is_never_older_than_what_was_made_durable(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, true);
	told(it, 0, 2, BYTES, true);
	lay(it, 0, 1, 0, BYTES);
	check(it, EXPECT_DATA_OLD_OR_NEW);
	assert_lost(it, "hold generation 1: lost write");
}

static void nothing_at_all_is_old_while_nothing_was_promised(void **state)
{
	struct left *it = *state;

	told(it, 0, 1, BYTES, false);
	told(it, 1, 1, BYTES, false);
	check(it, EXPECT_DATA_OLD_OR_NEW);
	assert_int_equal(it->result.findings_count, 0);
	lay(it, 1, 1, 0, BYTES);
	check(it, EXPECT_DATA_OLD_OR_NEW);
	assert_lost(it, "tensor b holds generation 1, and tensor a generation 0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sectors_of_writes_that_were_not_synced_may_be_any),
		TEST(what_is_whole_is_known_to_the_next_process),
		TEST(a_durable_write_that_is_gone_is_lost),
		TEST(half_a_sector_is_nobodys_write),
		TEST(a_sector_counts_in_the_file_not_in_the_tensor),
		TEST(zeros_are_there_only_where_nothing_was_promised),
		TEST(bytes_that_nobody_wrote_are_found),
		TEST(a_file_that_was_durable_must_exist),
		TEST(a_durable_file_must_not_end_early),
		TEST(a_shorter_write_leaves_what_lies_behind_it),
		TEST(old_or_new_is_no_mixture_of_sectors),
		TEST(old_or_new_is_the_same_for_all_tensors),
		TEST(old_is_never_older_than_what_was_made_durable),
		TEST(nothing_at_all_is_old_while_nothing_was_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
