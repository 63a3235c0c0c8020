/* SPDX-License-Identifier: MIT */
/*
 * run_signal.c - SIGINT, SIGTERM and SIGHUP from planning to the last report.
 */
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "run_signal.h"

#define EXIT_INTERRUPTED 130
/* timeout(1) sends its signal twice, to us and to our group; people press Ctrl-C twice. */
#define SAME_NS INT64_C(1000000000)

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

#define NUMBERS (sizeof(numbers) / sizeof(*numbers))

static volatile sig_atomic_t came, begun;
static int64_t came_ns;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The workers die with us; nobody has to be told. The next run removes what is left on disk. */
static void on_signal(int number)
{
	(void)number;
	if (!begun || (came && now_ns() - came_ns > SAME_NS))
		_exit(EXIT_INTERRUPTED);
	if (!came)
		came_ns = now_ns();
	came = 1;
}

void run_signal_watch(void)
{
	struct sigaction action = {.sa_handler = on_signal}, before;

	came = begun = 0;
	for (size_t i = 0; i < NUMBERS; i++)
		sigaddset(&action.sa_mask, numbers[i]);
	for (size_t i = 0; i < NUMBERS; i++)
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
}

void run_signal_begin(struct run_signal *kept)
{
	sigset_t all;

	sigemptyset(&all);
	for (size_t i = 0; i < NUMBERS; i++)
		sigaddset(&all, numbers[i]);
	sigprocmask(SIG_BLOCK, &all, &kept->mask);
	begun = 1;
}

void run_signal_end(const struct run_signal *kept)
{
	sigprocmask(SIG_SETMASK, &kept->mask, NULL);
}

const sigset_t *run_signal_mask(const struct run_signal *kept)
{
	return &kept->mask;
}

bool run_signal_came(void)
{
	return came > 0;
}
