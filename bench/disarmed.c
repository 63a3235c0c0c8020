/* SPDX-License-Identifier: MIT */
/*
 * disarmed.c - what the preload costs while it is loaded and no case has begun, a call, with 1, 2
 * and 8 threads: the same loops run in processes with and without it, in turn (ABBA), and the least
 * of all rounds counts.
 *
 *   disarmed [ROUNDS [MAX_NS]]   a table; with MAX_NS fails when any call costs more than that
 *
 * Time is CPU time of the thread, so that eight threads on two cores mean something, and of the
 * calls the cheapest were chosen: there a nanosecond shows.
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS_PER_LOOP 20000
#define THREADS_MAX 8
#define ROUNDS_MAX 101

static io_context_t ctx;

static void call_getevents(void)
{
	struct timespec now = {0, 0};
	struct io_event event;

	io_getevents(ctx, 0, 1, &event, &now);
}

static void call_submit(void)
{
	io_submit(ctx, 0, NULL);
}

static void call_pread(void)
{
	char byte;

	if (pread(-1, &byte, 1, 0) == 0)
		abort();
}

static void call_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
}

static void call_free(void)
{
	free(NULL);
}

static void call_mutex(void)
{
	static __thread pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static const struct {
	const char *name;
	void (*call)(void);
} subjects[] = {
	{"io_getevents", call_getevents},
	{"io_submit", call_submit},
	{"pread", call_pread},
	{"clock_gettime", call_clock},
	{"free", call_free},
	{"mutex lock+unlock", call_mutex},
};

#define SUBJECT_COUNT (sizeof(subjects) / sizeof(subjects[0]))

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct loop {
	pthread_barrier_t *start;
	double ns[SUBJECT_COUNT]; /* a call */
};

static void *run_loop(void *argument)
{
	struct loop *loop = argument;

	for (size_t i = 0; i < SUBJECT_COUNT; i++) {
		uint64_t begin;

		pthread_barrier_wait(loop->start);
		begin = cpu_ns();
		for (unsigned n = 0; n < CALLS_PER_LOOP; n++)
			subjects[i].call();
		loop->ns[i] = (double)(cpu_ns() - begin) / CALLS_PER_LOOP;
	}
	return NULL;
}

/* The process that is measured: a line of nanoseconds a call, in the order of the subjects. */
static int measure(unsigned threads)
{
	pthread_t ids[THREADS_MAX];
	struct loop loops[THREADS_MAX];
	pthread_barrier_t start;

	if (threads < 1 || threads > THREADS_MAX || io_setup(8, &ctx) < 0)
		return 2;
	pthread_barrier_init(&start, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		loops[i].start = &start;
		if (pthread_create(&ids[i], NULL, run_loop, &loops[i]) != 0)
			return 2;
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (size_t i = 0; i < SUBJECT_COUNT; i++) {
		double sum = 0;

		for (unsigned j = 0; j < threads; j++)
			sum += loops[j].ns[i];
		printf("%.3f ", sum / threads);
	}
	fflush(stdout);
	_exit(0); /* io_destroy would take longer than all of this */
}

/* Where we are, and the preload beside us. */
static bool find_files(char program[PATH_MAX], char preload[PATH_MAX + 32])
{
	ssize_t count = readlink("/proc/self/exe", program, PATH_MAX - 1);
	char *slash;

	if (count < 0)
		return false;
	program[count] = '\0';
	snprintf(preload, PATH_MAX + 32, "%s", program);
	slash = strrchr(preload, '/');
	snprintf(slash, 32, "/../lib/libswapfault.so");
	return access(preload, R_OK) == 0;
}

static bool run_once(bool loaded, unsigned threads, double ret_ns[SUBJECT_COUNT])
{
	char program[PATH_MAX], preload[PATH_MAX + 32], command[3 * PATH_MAX];
	bool complete = true;
	FILE *pipe;

	if (!find_files(program, preload))
		return false;
	snprintf(command, sizeof(command), "LD_PRELOAD='%s' exec '%s' measure %u",
		 loaded ? preload : "", program, threads);
	pipe = popen(command, "r");
	for (size_t i = 0; pipe && i < SUBJECT_COUNT; i++)
		complete &= fscanf(pipe, "%lf", &ret_ns[i]) == 1;
	return pipe && pclose(pipe) == 0 && complete;
}

/* Whatever else the machine does only adds to it. */
static double least(const double *values, unsigned count)
{
	double found = values[0];

	for (unsigned i = 1; i < count; i++)
		found = values[i] < found ? values[i] : found;
	return found;
}

static double samples[2][SUBJECT_COUNT][ROUNDS_MAX];

/* The largest cost of any call, or -1. */
static double bench(unsigned threads, unsigned rounds)
{
	double worst = 0;

	for (unsigned round = 0; round < 2 * rounds; round++) {
		bool loaded = (round + 1) / 2 % 2; /* ABBA */
		double ns[SUBJECT_COUNT];

		if (!run_once(loaded, threads, ns))
			return -1;
		for (size_t i = 0; i < SUBJECT_COUNT; i++)
			samples[loaded][i][round / 2] = ns[i];
	}
	for (size_t i = 0; i < SUBJECT_COUNT; i++) {
		double plain = least(samples[0][i], rounds), with = least(samples[1][i], rounds);

		printf("%7u  %-17s %9.1f %10.1f %9.1f %14.0f\n", threads, subjects[i].name, plain,
		       with, with - plain, 1e9 / with);
		worst = with - plain > worst ? with - plain : worst;
	}
	return worst;
}

int main(int argc, char **argv)
{
	static const unsigned threads[] = {1, 2, 8};
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 9;
	double max_ns = argc > 2 ? strtod(argv[2], NULL) : 0, worst = 0;

	if (argc == 3 && strcmp(argv[1], "measure") == 0)
		return measure((unsigned)strtoul(argv[2], NULL, 10));
	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: disarmed [ROUNDS [MAX_NS]], ROUNDS 1 to %d\n", ROUNDS_MAX);
		return 2;
	}
	printf("threads  call               ns_plain  ns_loaded  ns_added   calls/s/thread\n");
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		double cost = bench(threads[i], rounds);

		if (cost < 0) {
			fprintf(stderr, "disarmed: no measurement (is libswapfault.so built?)\n");
			return 2;
		}
		worst = cost > worst ? cost : worst;
	}
	printf("worst: %.1f ns a call added by a disarmed preload\n", worst);
	return max_ns > 0 && worst > max_ns ? 1 : 0;
}
