/* SPDX-License-Identifier: MIT */
/*
 * run_signal.h - Ctrl-C: the first one ends the run in order, the second one at once.
 *
 * Threads: process-wide.
 */
#ifndef RUN_SIGNAL_H
#define RUN_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

struct run_signal {
	struct sigaction interrupt, terminate; /* what was there before */
	sigset_t mask;
};

/* Interrupts are held back but inside of ppoll() with run_signal_mask(). */
void run_signal_begin(struct run_signal *kept);
void run_signal_end(const struct run_signal *kept);
const sigset_t *run_signal_mask(const struct run_signal *kept);
bool run_signal_came(void);

#endif /* RUN_SIGNAL_H */
