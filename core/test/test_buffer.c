/* SPDX-License-Identifier: MIT */
/* test_buffer.c - aligned and pinned buffers, and the exactness of is_pinned. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "helpers.h"

#define BYTES ((size_t)10000)

static struct swapio *handle;
static unsigned warnings;

static void count_warnings(enum swapio_log_level level, const char *text, void *arg)
{
	(void)arg;
	if (level == SWAPIO_LOG_WARNING && strstr(text, "RLIMIT_MEMLOCK"))
		warnings++;
}

static int begin(void **state)
{
	struct swapio_options options;

	(void)state;
	swapio_options_init(&options);
	options.workers = 0;
	options.log = count_warnings;
	handle = open_handle(&options);
	warnings = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	return swapio_close(handle, SWAPIO_FOREVER);
}

static unsigned char *pinned(size_t bytes)
{
	void *buf = NULL;

	assert_int_equal(swapio_buffer_alloc(handle, bytes, SWAPIO_BUFFER_PINNED, &buf), 0);
	return buf;
}

static void buffers_are_aligned_zeroed_and_writable_to_the_last_byte(void **state)
{
	const size_t sizes[] = {1, 4095, 4096, 4097, (2u << 20) + 1};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		for (unsigned flags = 0; flags < 2; flags++) {
			unsigned char *mem;
			void *buf = NULL;

			assert_int_equal(swapio_buffer_alloc(handle, sizes[i], flags, &buf), 0);
			mem = buf;
			assert_int_equal((uintptr_t)mem % 4096, 0);
			assert_int_equal(mem[0] | mem[sizes[i] - 1], 0);
			memset(mem, 0xff, sizes[i]);
			assert_int_equal(swapio_buffer_free(handle, buf), 0);
		}
	}
}

static void the_alignment_of_the_handle_is_that_of_its_buffers(void **state)
{
	struct swapio_options options;
	struct swapio *wide;
	void *buf;

	(void)state;
	swapio_options_init(&options);
	options.alignment_bytes = 2u << 20;
	wide = open_handle(&options);
	for (unsigned flags = 0; flags < 2; flags++) {
		assert_int_equal(swapio_buffer_alloc(wide, 1, flags, &buf), 0);
		assert_int_equal((uintptr_t)buf % (2u << 20), 0);
	}
	close_handle(wide);
}

static void impossible_buffers_are_refused_and_nothing_is_written(void **state)
{
	void *before = &before, *buf = before;

	(void)state;
	assert_int_equal(swapio_buffer_alloc(handle, 0, 0, &buf), -EINVAL);
	assert_int_equal(swapio_buffer_alloc(handle, 1, 2, &buf), -EINVAL);
	assert_int_equal(swapio_buffer_alloc(handle, 1, 0x80000000u, &buf), -EINVAL);
	assert_int_equal(swapio_buffer_alloc(handle, (size_t)PTRDIFF_MAX + 1, 0, &buf), -EINVAL);
	assert_int_equal(swapio_buffer_alloc(handle, SIZE_MAX, 1, &buf), -EINVAL);
	assert_int_equal(swapio_buffer_alloc(handle, PTRDIFF_MAX, 0, &buf), -ENOMEM);
	assert_int_equal(swapio_buffer_alloc(handle, PTRDIFF_MAX, 1, &buf), -ENOMEM);
	assert_ptr_equal(buf, before);
}

static void only_base_pointers_of_live_buffers_are_freed(void **state)
{
	struct swapio *other = open_handle(NULL);
	void *buf;

	(void)state;
	assert_int_equal(swapio_buffer_alloc(handle, BYTES, 0, &buf), 0);
	assert_int_equal(swapio_buffer_free(handle, NULL), 0);
	assert_int_equal(swapio_buffer_free(handle, (char *)buf + 1), -EINVAL);
	assert_int_equal(swapio_buffer_free(handle, (char *)buf + 4096), -EINVAL);
	assert_int_equal(swapio_buffer_free(handle, handle), -EINVAL);
	assert_int_equal(swapio_buffer_free(other, buf), -EINVAL);
	memset(buf, 1, BYTES); /* still there */
	assert_int_equal(swapio_buffer_free(handle, buf), 0);
	assert_int_equal(swapio_buffer_free(handle, buf), -EINVAL);
	close_handle(other);
}

static void pinned_is_true_for_every_range_inside_and_none_that_sticks_out(void **state)
{
	unsigned char *mem = pinned(BYTES);

	(void)state;
	assert_true(swapio_is_pinned(handle, mem, BYTES));
	assert_true(swapio_is_pinned(handle, mem, 1));
	assert_true(swapio_is_pinned(handle, mem + BYTES - 1, 1));
	assert_true(swapio_is_pinned(handle, mem + 17, BYTES - 17));
	assert_false(swapio_is_pinned(handle, mem, BYTES + 1));
	assert_false(swapio_is_pinned(handle, mem + 1, BYTES));
	assert_false(swapio_is_pinned(handle, mem + BYTES, 1));
	assert_false(swapio_is_pinned(handle, mem - 1, 2));
	assert_false(swapio_is_pinned(handle, mem - 1, 1));
	assert_false(swapio_is_pinned(handle, mem, 0));
	assert_false(swapio_is_pinned(handle, mem, SIZE_MAX));
	assert_false(swapio_is_pinned(handle, mem + 10, SIZE_MAX - 5));
	assert_false(swapio_is_pinned(handle, NULL, 1));
	assert_false(swapio_is_pinned(handle, &mem, sizeof(mem)));
}

static void pinned_is_known_to_every_handle_and_forgotten_when_freed(void **state)
{
	struct swapio *other = open_handle(NULL);
	void *plain, *reused = MAP_FAILED;

	(void)state;
	assert_int_equal(swapio_buffer_alloc(handle, BYTES, 0, &plain), 0);
	assert_false(swapio_is_pinned(handle, plain, 1));
	/* The same address again, as plain memory; a sanitizer may have taken it first. */
	for (int attempt = 0; attempt < 10 && reused == MAP_FAILED; attempt++) {
		unsigned char *mem = pinned(BYTES);

		assert_true(swapio_is_pinned(other, mem, BYTES));
		assert_int_equal(swapio_buffer_free(handle, mem), 0);
		assert_false(swapio_is_pinned(handle, mem, 1));
		reused = mmap(mem, BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		assert_true(reused == mem || reused == MAP_FAILED);
	}
	assert_true(reused != MAP_FAILED);
	assert_false(swapio_is_pinned(handle, reused, 1));
	assert_int_equal(munmap(reused, BYTES), 0);
	close_handle(other);
}

#define LIMIT_IS_IGNORED 77

/* Root may lock without limit, so the child gives that up first. */
static int alloc_without_lock(void)
{
	const struct rlimit none = {0, 0};
	struct swapio_options options;
	struct swapio *own;
	void *buf;

	if (setrlimit(RLIMIT_MEMLOCK, &none) < 0 || (geteuid() == 0 && setuid(65534) < 0))
		return 2;
	if (mlock(&none, sizeof(none)) == 0)
		return LIMIT_IS_IGNORED;
	swapio_options_init(&options);
	options.workers = 0;
	options.log = count_warnings;
	if (swapio_open(&options, NULL, &own) < 0 ||
	    swapio_buffer_alloc(own, BYTES, SWAPIO_BUFFER_PINNED, &buf) < 0)
		return 3;
	memset(buf, 1, BYTES);
	if (swapio_is_pinned(own, buf, 1))
		return 4;
	return warnings != 2 ? 5 : swapio_close(own, SWAPIO_FOREVER) != 0;
}

static void a_buffer_that_cannot_be_locked_is_not_pinned_and_said_so(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(alloc_without_lock());
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == LIMIT_IS_IGNORED) {
		print_message("skipped: mlock ignores its limit here, as under sanitizers\n");
		skip();
	}
	assert_int_equal(status, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(buffers_are_aligned_zeroed_and_writable_to_the_last_byte),
		CASE(the_alignment_of_the_handle_is_that_of_its_buffers),
		CASE(impossible_buffers_are_refused_and_nothing_is_written),
		CASE(only_base_pointers_of_live_buffers_are_freed),
		CASE(pinned_is_true_for_every_range_inside_and_none_that_sticks_out),
		CASE(pinned_is_known_to_every_handle_and_forgotten_when_freed),
		CASE(a_buffer_that_cannot_be_locked_is_not_pinned_and_said_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
