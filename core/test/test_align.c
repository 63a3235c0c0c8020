/* SPDX-License-Identifier: MIT */
/* test_align.c - what a descriptor tells of its file, with and without statx. */
#include "align.h"
#include "filtered.h"

static void rounding_goes_to_the_unit(void **state)
{
	(void)state;
	assert_int_equal(round_down(0, 512), 0);
	assert_int_equal(round_down(511, 512), 0);
	assert_int_equal(round_down(1025, 512), 1024);
	assert_int_equal(round_up(0, 512), 0);
	assert_int_equal(round_up(1, 512), 512);
	assert_int_equal(round_up(1024, 512), 1024);
	assert_int_equal(round_up(7, 1), 7);
	assert_int_equal(round_up(INT64_MAX, 4096), (uint64_t)INT64_MAX + 1);
	assert_true(is_multiple(4096, 4096) && is_multiple(0, 4096));
	assert_false(is_multiple(4097, 4096));
}

static bool is_power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

static void a_file_tells_size_kind_identity_and_alignment(void **state)
{
	int fd, other;
	struct file_facts facts, again;
	struct stat st;

	(void)state;
	write_file(file_path, (const unsigned char *)"hello", 5);
	fd = open(file_path, O_RDONLY);
	other = open(file_path, O_RDWR | O_DIRECT);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(swapioi_file_facts(fd, &facts), 0);
	assert_int_equal(swapioi_file_facts(other, &again), 0);
	assert_int_equal(facts.size_bytes, 5);
	assert_true(S_ISREG(facts.mode));
	assert_int_equal(facts.key.number, st.st_ino);
	assert_int_equal(facts.key.device, st.st_dev);
	assert_false(facts.key.block_device);
	assert_memory_equal(&facts.key, &again.key, sizeof(facts.key));
	assert_true(is_power_of_two(facts.align.mem) && is_power_of_two(facts.align.offset));
	close(other);
	close(fd);
}

static void a_descriptor_that_is_none_tells_nothing(void **state)
{
	struct file_facts facts = {.size_bytes = 77};
	uint64_t size = 77;

	(void)state;
	assert_int_equal(swapioi_file_facts(-1, &facts), -EBADF);
	assert_int_equal(facts.size_bytes, 77);
	assert_int_equal(swapioi_file_size(-1, false, &size), -EBADF);
	assert_int_equal(swapioi_file_size(-1, true, &size), -EBADF);
	assert_int_equal(size, 77);
}

static void the_size_follows_the_file(void **state)
{
	int fd = open(file_path, O_RDWR | O_CREAT, 0644);
	uint64_t size;

	(void)state;
	for (uint64_t want = 0; want < 10000; want += 3333) {
		assert_int_equal(ftruncate(fd, (off_t)want), 0);
		assert_int_equal(swapioi_file_size(fd, false, &size), 0);
		assert_int_equal(size, want);
	}
	close(fd);
}

static void works_by_fstat(struct filtered *filtered)
{
	int fd = open(file_path, O_RDWR | O_DIRECT);
	uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	unsigned char *mem;
	struct file_facts facts;
	struct swapio *handle;
	void *buf;

	EXPECT(filtered, swapioi_file_facts(fd, &facts) == 0);
	EXPECT(filtered, close(fd) == 0);
	EXPECT(filtered, facts.align.mem == page_bytes && facts.align.offset == page_bytes);
	EXPECT(filtered, S_ISREG(facts.mode) && facts.size_bytes == 3);
	EXPECT(filtered, swapio_open(NULL, NULL, &handle) == 0);
	EXPECT(filtered, swapio_buffer_alloc(handle, 20000, 0, &buf) == 0);
	mem = memset(buf, 0x44, 20000);
	EXPECT(filtered, swapio_write(handle, file_path, 777, buf, 9001, NULL) == 0);
	memset(buf, 0, 20000);
	EXPECT(filtered, swapio_read(handle, file_path, 777, buf, 9001, NULL) == 0);
	EXPECT(filtered, mem[0] == 0x44 && mem[9000] == 0x44 && mem[9001] == 0);
	EXPECT(filtered, swapio_close(handle, SWAPIO_FOREVER) == 0);
}

static void without_statx_the_page_size_is_assumed_and_odd_ranges_work(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		write_file(file_path, (const unsigned char *)"old", 3);
		run_filtered((struct filtered){.first = SYS_statx,
					       .second = SYS_statx,
					       .error = i ? EPERM : ENOSYS,
					       .run = works_by_fstat});
		assert_int_equal(file_size(file_path), 777 + 9001);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounding_goes_to_the_unit),
		cmocka_unit_test(a_file_tells_size_kind_identity_and_alignment),
		cmocka_unit_test(a_descriptor_that_is_none_tells_nothing),
		cmocka_unit_test(the_size_follows_the_file),
		cmocka_unit_test(without_statx_the_page_size_is_assumed_and_odd_ranges_work),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
