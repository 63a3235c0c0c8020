/* SPDX-License-Identifier: MIT */
/*
 * run_signal.c - SIGINT and SIGTERM during a run.
 */
#include <unistd.h>

#include "run_signal.h"

#define EXIT_INTERRUPTED 130

static volatile sig_atomic_t came;

/* The workers die with us; nobody has to be told. */
static void on_signal(int number)
{
	(void)number;
	if (came++)
		_exit(EXIT_INTERRUPTED);
}

void run_signal_begin(struct run_signal *kept)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t both;

	came = 0;
	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, &kept->mask);
	sigaction(SIGINT, &action, &kept->interrupt);
	sigaction(SIGTERM, &action, &kept->terminate);
}

void run_signal_end(const struct run_signal *kept)
{
	sigaction(SIGINT, &kept->interrupt, NULL);
	sigaction(SIGTERM, &kept->terminate, NULL);
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
