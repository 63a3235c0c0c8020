/* SPDX-License-Identifier: MIT */
/*
 * test_fork_store.c - a child closes what it inherited, whatever another thread of the parent was
 * doing to it at the moment of fork().
 */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock,--wrap=close,--wrap=free */
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#include "script_engine.h"
#include "swap_helpers.h"

/* Calls of a thread that is watched; at one of them it stands still until a child is over. */
static _Thread_local bool watched;
static _Thread_local unsigned depth; /* locks that it holds */
static unsigned calls, stop_at;
static sem_t stopped, go_on;

#define HELD_NS (2 * NS_PER_MS)

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int __real_close(int fd);
int __wrap_close(int fd);
void __real_free(void *mem);
void __wrap_free(void *mem);

/* With a lock it must go on by itself: fork() waits for that. */
static void pass(void)
{
	struct timespec until;

	if (!watched || ++calls != stop_at)
		return;
	sem_post(&stopped);
	if (!depth) {
		while (sem_wait(&go_on) < 0)
			;
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += HELD_NS;
	until.tv_sec += until.tv_nsec / NS_PER_SECOND;
	until.tv_nsec %= NS_PER_SECOND;
	while (sem_timedwait(&go_on, &until) < 0 && errno == EINTR)
		;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	int ret = __real_pthread_mutex_lock(lock);

	depth++;
	return ret;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
	int ret = __real_pthread_mutex_unlock(lock);

	depth--;
	pass();
	return ret;
}

int __wrap_close(int fd)
{
	int ret = __real_close(fd);

	pass();
	return ret;
}

void __wrap_free(void *mem)
{
	__real_free(mem);
	if (mem)
		pass();
}

static struct swapio_group *_Atomic group; /* NULL: none that is a child's to close */

#define CHILD_FDS 48

/* Without a search for leaks at the end of the process: a child of fork() has no part in what
 * threads of the parent did not come to. Errors that valgrind met still change the status. */
static _Noreturn void child_end(int status)
{
#ifdef VALGRIND_CLO_CHANGE
	VALGRIND_CLO_CHANGE("--leak-check=no");
#endif
	for (;;)
		syscall(SYS_exit_group, status);
}

/* Numbers that the parent's threads may have had in mind are other files here. */
static _Noreturn void child_main(void)
{
	struct swapio_group *mine = atomic_load(&group);
	int fds[CHILD_FDS];

	for (unsigned i = 0; i < CHILD_FDS; i++)
		fds[i] = open("/dev/null", O_RDONLY);
	if (mine && swapio_group_close(mine) != 0)
		child_end(2);
	if (swapio_store_close(store, 0) != 0)
		child_end(3);
	if (swapio_close(handle, 0) != 0)
		child_end(4);
	for (unsigned i = 0; i < CHILD_FDS; i++)
		if (fcntl(fds[i], F_GETFD) < 0)
			child_end(5);
	child_end(0);
}

static void fork_and_close(unsigned at)
{
	pid_t child;
	int status = -1;

	child = fork();
	if (child == 0)
		child_main();
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0)
		fail_msg("call %u: the child ended with status %#x", at, status);
}

/* A swap-out of a group that grows or shrinks, so that it gets a new volume each time. */
static void swap_out_anew(unsigned round, bool fails)
{
	const struct swapio_tensor tensors[] = {
		{.size_bytes = sizeof(tensors[0]),
		 .name = "a",
		 .element_bytes = 4,
		 .numel = round % 2 ? 9000 : 100},
	};
	struct swapio_swap_result result;
	struct swapio_group *opened = open_group("g", tensors, 1);
	struct memory memory;

	memory_make(&memory, tensors, 1, 0);
	memory_fill(&memory, round);
	atomic_store(&group, opened);
	script_anew();
	for (unsigned i = 0; i < SCRIPT_STEPS && fails; i++)
		script.steps[i] = (struct step){STEP_RESULT, -EIO};
	result = run(opened, SWAPIO_SWAP_OUT, memory.mem);
	assert_int_equal(result.error, fails ? -EIO : 0);
	script_anew();
	atomic_store(&group, NULL);
	assert_int_equal(swapio_group_close(opened), 0);
	memory_free(&memory);
}

struct round {
	unsigned number;
	bool fails;
};

static void *round_main(void *arg)
{
	const struct round *round = arg;

	watched = true;
	swap_out_anew(round->number, round->fails);
	watched = false;
	sem_post(&stopped);
	return NULL;
}

/* False when the swap has fewer calls than that. */
static bool stop_at_call(unsigned at, bool fails)
{
	struct round round = {.number = at, .fails = fails};
	pthread_t thread;

	calls = 0;
	stop_at = at;
	assert_int_equal(sem_init(&stopped, 0, 0), 0);
	assert_int_equal(sem_init(&go_on, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, round_main, &round), 0);
	while (sem_wait(&stopped) < 0)
		;
	fork_and_close(at);
	sem_post(&go_on);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return calls >= at;
}

static void set_up(unsigned workers, unsigned threads)
{
	struct swapio_store_options options = store_options(threads);
	struct swapio_options handle_options = script_options(workers);

	script_reset();
	handle_options.block_bytes = 1u << 20;
	handle = script_open(&handle_options);
	open_store(&options);
}

static void tear_down(void)
{
	close_store();
	remove_store();
	script_close(handle);
}

/* Everything happens in the one thread, so that each of its calls is met in turn. */
static void a_child_closes_what_was_being_changed(void **state)
{
	(void)state;
	for (unsigned fails = 0; fails < 2; fails++) {
		unsigned at = 1;

		set_up(0, 0);
		swap_out_anew(0, false);
		while (stop_at_call(at, fails))
			at++;
		assert_true(at > 50);
		tear_down();
	}
}

static _Atomic bool enough;

static void *swap_for_ever(void *arg)
{
	const struct swapio_tensor tensors[] = {
		{.size_bytes = sizeof(tensors[0]), .name = "a", .element_bytes = 4, .numel = 5000}};
	struct swapio_error error = {0};
	struct memory memory;

	memory_make(&memory, tensors, 1, 0);
	for (unsigned i = 0; !atomic_load(&enough); i++) {
		struct swapio_group *own = NULL;

		assert_int_equal(swapio_group_open(store, arg, tensors, 1, &error, &own), 0);
		for (unsigned j = 0; j < 4; j++)
			assert_int_equal(swapio_swap_out(own, memory.mem, &error), 0);
		assert_int_equal(swapio_group_close(own), 0);
	}
	memory_free(&memory);
	return NULL;
}

static void *transfer_for_ever(void *arg)
{
	struct swapio_error error = {0};

	(void)arg;
	while (!atomic_load(&enough)) {
		void *buf;

		assert_int_equal(swapio_buffer_alloc(handle, 8192, 0, &buf), 0);
		assert_int_equal(swapio_write(handle, file_path, 100, buf, 5000, &error), 0);
		assert_int_equal(swapio_buffer_free(handle, buf), 0);
	}
	return NULL;
}

#define FORKS 25

static void children_close_while_threads_are_at_work(void **state)
{
	static char names[2][2] = {"g", "h"};
	pthread_t threads[3];

	(void)state;
	for (unsigned background = 0; background < 2; background++) {
		set_up(background, background);
		atomic_store(&enough, false);
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, swap_for_ever, names[i]),
					 0);
		assert_int_equal(pthread_create(&threads[2], NULL, transfer_for_ever, NULL), 0);
		for (unsigned i = 0; i < FORKS; i++)
			fork_and_close(i);
		atomic_store(&enough, true);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		tear_down();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_closes_what_was_being_changed),
		cmocka_unit_test(children_close_while_threads_are_at_work),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
