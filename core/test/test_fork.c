/* SPDX-License-Identifier: MIT */
/* test_fork.c - a child may use nothing of an inherited handle, and everything of its own. */
#include <sys/wait.h>

#include "script_engine.h"

static struct swapio *handle;
static struct swapio_pool *pool;
static unsigned char *buf;
static swapio_id held;
static char child_path[320]; /* a file that the parent does not look at */

static int status_of(pid_t child)
{
	int status = -1;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Numbers of lines tell what went wrong in a child. Children start no threads, which thread
 * sanitizers do not support after fork().
 */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_exit(__LINE__ % 255 + 1);                                                 \
	} while (0)

static void inherited_handle_is_refused(void)
{
	struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, 0, buf, 512);
	struct swapio_info info = {.size_bytes = sizeof(info)};
	struct swapio_stats stats = {.size_bytes = sizeof(stats)};
	struct swapio_result result;
	struct swapio_error error = {0};
	struct swapio_pool *none;
	swapio_id id;
	void *mem;

	EXPECT(swapio_submit(handle, &io, &error, &id) == -ECHILD && error.code == -ECHILD);
	EXPECT(swapio_wait(handle, held, SWAPIO_FOREVER, &result) == -ECHILD);
	EXPECT(swapio_wait_some(handle, 1, 1, SWAPIO_FOREVER, &result) == -ECHILD);
	EXPECT(swapio_cancel(handle, held) == -ECHILD);
	EXPECT(swapio_pending(handle) == 0);
	EXPECT(swapio_read(handle, file_path, 0, buf, 1, NULL) == -ECHILD);
	EXPECT(swapio_write(handle, file_path, 0, buf, 1, NULL) == -ECHILD);
	EXPECT(swapio_buffer_alloc(handle, 1, 0, &mem) == -ECHILD);
	EXPECT(swapio_buffer_free(handle, buf) == -ECHILD);
	EXPECT(swapio_pool_create(handle, 1, 1, &none) == -ECHILD);
	EXPECT(swapio_pool_acquire(pool, 0, &mem) == -ECHILD);
	EXPECT(swapio_pool_release(pool, buf) == -ECHILD);
	EXPECT(swapio_info_get(handle, &info) == 0 && info.queues == 1);
	EXPECT(swapio_stats_get(handle, &stats) == 0);
}

static void own_handle_works(void)
{
	const struct swapio_options options = script_options(0);
	struct swapio *own;
	void *mem;

	snprintf(child_path, sizeof(child_path), "%s/child", scratch_dir);
	EXPECT(swapio_open(&options, NULL, &own) == 0);
	EXPECT(swapio_buffer_alloc(own, 8192, SWAPIO_BUFFER_PINNED, &mem) == 0);
	memset(mem, 0x77, 8192);
	EXPECT(swapio_write(own, child_path, 3, mem, 8000, NULL) == 0);
	EXPECT(swapio_read(own, child_path, 3, mem, 8000, NULL) == 0);
	EXPECT(unlink(child_path) == 0);
	EXPECT(swapio_close(own, SWAPIO_FOREVER) == 0);
}

static void child_main(bool abort_it)
{
	inherited_handle_is_refused();
	own_handle_works();
	inherited_handle_is_refused(); /* the child's own epoch makes no difference */
	EXPECT(swapio_pool_destroy(pool) == 0);
	if (abort_it)
		swapio_abort(handle);
	else
		EXPECT(swapio_close(handle, SWAPIO_FOREVER) == 0);
	EXPECT(script.destroy_calls == 0);
	EXPECT(script.forget_calls == 1);
	_exit(0);
}

static void a_child_is_refused_and_the_parent_goes_on(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 2; workers++) {
		struct swapio_options options = script_options(workers);
		struct swapio_io io;
		pid_t child;

		script_reset();
		script.steps[0].kind = STEP_HOLD;
		handle = script_open(&options);
		buf = alloc_buffer(handle, 8192);
		assert_int_equal(swapio_pool_create(handle, 4096, 2, &pool), 0);
		io = io_of(SWAPIO_WRITE, file_path, -1, 0, buf, 8192);
		held = start(handle, &io);
		script_await_accepted(1);
		child = fork();
		if (child == 0)
			child_main(workers);
		assert_int_equal(status_of(child), 0);
		script_release();
		assert_int_equal(finish(handle, held).error, 0);
		assert_int_equal(swapio_pool_destroy(pool), 0);
		script_close(handle);
	}
}

static void pinned_memory_is_not_the_childs(void **state)
{
	void *mem;
	pid_t child;

	(void)state;
	handle = open_handle(NULL);
	assert_int_equal(swapio_buffer_alloc(handle, 4096, SWAPIO_BUFFER_PINNED, &mem), 0);
	child = fork();
	if (child == 0)
		_exit(swapio_is_pinned(handle, mem, 4096));
	assert_int_equal(status_of(child), 0);
	close_handle(handle);
}

static void a_grandchild_is_refused_its_parents_handle(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		const struct swapio_options options = script_options(0);
		struct swapio *own;
		pid_t grandchild;
		int status = 0;

		EXPECT(swapio_open(&options, NULL, &own) == 0);
		grandchild = fork();
		if (grandchild == 0)
			_exit(swapio_cancel(own, 1) == -ECHILD ? 0 : 1);
		EXPECT(waitpid(grandchild, &status, 0) == grandchild && status == 0);
		EXPECT(swapio_cancel(own, 1) == -ENOENT);
		EXPECT(swapio_close(own, SWAPIO_FOREVER) == 0);
		_exit(0);
	}
	assert_int_equal(status_of(child), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_is_refused_and_the_parent_goes_on),
		cmocka_unit_test(pinned_memory_is_not_the_childs),
		cmocka_unit_test(a_grandchild_is_refused_its_parents_handle),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
