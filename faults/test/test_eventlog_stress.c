/* SPDX-License-Identifier: MIT */
/*
 * test_eventlog_stress.c - threads, forked children and signal handlers append at once, or are
 * killed while they do: nothing is lost, nothing is torn.
 */
#undef NDEBUG
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventlog_segments.h"

#define THREADS 8
#define CHILDREN 2
#define RECORDS_OF_EACH 7500u /* of a thread; 8 threads in each of 3 processes: 180,000 */
#define RAISE_EVERY 8u	      /* and a signal for every eighth: 22,500 more, besides the timer's */
#define HANDLER 99u	      /* the writer's number in a handler */
#define KILLS 20

static struct eventlog *shared;
static uint32_t process; /* 0: the parent */
static _Atomic uint32_t handled;

static struct eventlog *new_log(void)
{
	struct eventlog *fresh;
	int fd = memfd_create("eventlog", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(eventlog_init(fd), 0);
	assert_int_equal(eventlog_open(fd, &fresh), 0);
	close(fd);
	return fresh;
}

/* Every field tells the same three numbers, so that a torn record contradicts itself. */
static struct eventlog_record make_record(uint32_t pid, uint32_t writer, uint32_t number)
{
	uint64_t all = ((uint64_t)number << 32 | pid << 16 | writer) * 0x9e3779b97f4a7c15ull;
	struct eventlog_record record = {.commit = EVENTLOG_COMMITTED,
					 .type = EVENTLOG_CALL,
					 .time_ns = all,
					 .pid = pid,
					 .tid = writer,
					 .ctx = (uint32_t)all,
					 .number = number,
					 .fault = (uint32_t)(all >> 32),
					 .fd = (int32_t)number,
					 .offset = all + 1,
					 .length = all + 2,
					 .address = all + 3,
					 .result = (int64_t)(all + 4)};

	for (unsigned i = 0; i < sizeof(record.text) - 1; i++)
		record.text[i] = (char)(1 + (all >> i % 32) % 127);
	return record;
}

static void append(uint32_t writer, uint32_t number)
{
	struct eventlog_record record = make_record(process, writer, number);

	eventlog_append(shared, &record);
}

static void on_signal(int number)
{
	(void)number;
	append(HANDLER, handled++);
}

static void *append_many(void *arg)
{
	uint32_t writer = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < RECORDS_OF_EACH; i++) {
		append(writer, i);
		if (i % RAISE_EVERY == 0)
			raise(SIGUSR1);
	}
	return NULL;
}

/* One process: its threads, and a timer whose signals hit any of them anywhere. */
static void run_process(void)
{
	struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	pthread_t threads[THREADS];

	setitimer(ITIMER_REAL, &every, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, append_many, (void *)(i + 1)) != 0)
			abort();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void on_signals(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
}

/* For each process and writer, which of its numbers were seen. */
struct tally {
	uint8_t seen[1 + CHILDREN][THREADS + 1][RECORDS_OF_EACH];
	uint8_t handlers[1 + CHILDREN][400000];
	uint32_t handled[1 + CHILDREN];
};

static void tally_record(struct tally *tally, const struct eventlog_record *record)
{
	struct eventlog_record expected = make_record(record->pid, record->tid, record->number);
	uint8_t *seen;

	assert_memory_equal(record, &expected, sizeof(expected));
	assert_true(record->pid <= CHILDREN);
	if (record->tid == HANDLER) {
		assert_true(record->number < sizeof(tally->handlers[0]));
		seen = &tally->handlers[record->pid][record->number];
		tally->handled[record->pid]++;
	} else {
		assert_true(record->tid <= THREADS && record->number < RECORDS_OF_EACH);
		seen = &tally->seen[record->pid][record->tid][record->number];
	}
	assert_int_equal((*seen)++, 0);
}

static void check_complete(const struct tally *tally)
{
	for (unsigned pid = 0; pid <= CHILDREN; pid++) {
		for (unsigned writer = 1; writer <= THREADS; writer++)
			for (unsigned i = 0; i < RECORDS_OF_EACH; i++)
				assert_int_equal(tally->seen[pid][writer][i], 1);
		for (unsigned i = 0; i < tally->handled[pid]; i++)
			assert_int_equal(tally->handlers[pid][i], 1);
		assert_true(tally->handled[pid] >= THREADS * (RECORDS_OF_EACH / RAISE_EVERY));
	}
}

static void nothing_is_lost_or_torn_under_threads_forks_and_signals(void **state)
{
	struct tally *tally = calloc(1, sizeof(*tally));
	pid_t children[CHILDREN];
	uint64_t count;
	int status;

	(void)state;
	assert_non_null(tally);
	shared = new_log();
	on_signals(on_signal);
	for (unsigned i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			process = i + 1;
			run_process();
			_exit(0);
		}
	}
	run_process();
	for (unsigned i = 0; i < CHILDREN; i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	on_signals(SIG_IGN);
	count = eventlog_count(shared);
	assert_true(count >= 200000);
	assert_int_equal(eventlog_header(shared)->overflow, 0);
	for (uint64_t i = 0; i < count; i++) {
		assert_non_null(eventlog_get(shared, i));
		tally_record(tally, eventlog_get(shared, i));
	}
	assert_int_equal(tally->handled[0], handled);
	check_complete(tally);
	eventlog_close(shared);
	free(tally);
}

static void *append_for_ever(void *arg)
{
	for (uint32_t i = 0;; i++)
		append((uint32_t)(uintptr_t)arg, i);
	return NULL;
}

/* Two writers, so that a record of one is often half way while the other goes on. */
static pid_t start_writers(void)
{
	pid_t child = fork();
	pthread_t thread;

	if (child != 0)
		return child;
	if (pthread_create(&thread, NULL, append_for_ever, (void *)1) != 0)
		_exit(1);
	append_for_ever((void *)2);
	return 0;
}

/* Every record that is there is whole, and each writer has at most the last one missing. */
static void check_killed(void)
{
	uint64_t count = eventlog_count(shared);
	uint32_t next[3] = {0};
	unsigned missing = 0;

	for (uint64_t i = 0; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(shared, i);
		struct eventlog_record expected;

		if (!record) {
			missing++;
			continue;
		}
		expected = make_record(record->pid, record->tid, record->number);
		assert_memory_equal(record, &expected, sizeof(expected));
		assert_in_range(record->tid, 1, 2);
		assert_int_equal(record->number, next[record->tid]++);
	}
	assert_true(missing <= 2);
}

static void after_a_kill_whole_records_are_left(void **state)
{
	(void)state;
	for (unsigned i = 0; i < KILLS; i++) {
		pid_t child;

		shared = new_log();
		child = start_writers();
		assert_true(child > 0);
		/* The log itself says how far they are. */
		while (__atomic_load_n(&eventlog_header(shared)->head, __ATOMIC_RELAXED) < 2000 + i)
			sched_yield();
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		check_killed();
		eventlog_close(shared);
	}
}

/* ThreadSanitizer stops children that a threaded program forked and that start threads. */
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_or_torn_under_threads_forks_and_signals),
		cmocka_unit_test(after_a_kill_whole_records_are_left),
	};

#ifdef UNDER_TSAN
	puts("skipped: ThreadSanitizer cannot follow forked children that start threads");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
