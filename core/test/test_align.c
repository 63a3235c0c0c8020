/* SPDX-License-Identifier: MIT */
/* test_align.c - what a descriptor tells of its file, with and without statx. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "align.h"
#include "helpers.h"

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

/* statx answers @error from here on, as on an old kernel or behind a container's filter. */
static int refuse_statx(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statx, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
	};
	const struct sock_fprog program = {.len = 4, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Numbers of lines tell what went wrong in a child. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_exit(__LINE__ % 255 + 1);                                                 \
	} while (0)

static void child_without_statx(int error)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	int fd = open(file_path, O_RDWR | O_DIRECT);
	struct file_facts facts;
	struct swapio *handle;
	void *mem;

	EXPECT(refuse_statx(error) == 0);
	EXPECT(swapioi_file_facts(fd, &facts) == 0);
	EXPECT(facts.align.mem == page_bytes && facts.align.offset == page_bytes);
	EXPECT(S_ISREG(facts.mode));
	EXPECT(swapio_open(NULL, NULL, &handle) == 0);
	EXPECT(swapio_buffer_alloc(handle, 20000, 0, &mem) == 0);
	memset(mem, 0x44, 20000);
	EXPECT(swapio_write(handle, file_path, 777, mem, 9001, NULL) == 0);
	memset(mem, 0, 20000);
	EXPECT(swapio_read(handle, file_path, 777, mem, 9001, NULL) == 0);
	EXPECT(((char *)mem)[0] == 0x44 && ((char *)mem)[9000] == 0x44 && !((char *)mem)[9001]);
	EXPECT(file_size(file_path) == 777 + 9001);
	EXPECT(swapio_close(handle, SWAPIO_FOREVER) == 0);
	_exit(0);
}

static void without_statx_the_page_size_is_assumed_and_odd_ranges_work(void **state)
{
	const int errors[] = {ENOSYS, EPERM};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		int status = -1;
		pid_t child;

		write_file(file_path, (const unsigned char *)"old", 3);
		child = fork();
		if (child == 0)
			child_without_statx(errors[i]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
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
