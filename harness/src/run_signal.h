/* SPDX-License-Identifier: MIT */
/*
 * run_signal.h - Ctrl-C: the first one ends the run in order, another one a second later ends it at
 * once. What was ignored from the start (nohup, a background job of a shell) stays ignored.
 *
 * Threads: process-wide.
 */
#ifndef RUN_SIGNAL_H
#define RUN_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

struct run_signal {
	sigset_t mask; /* what was there before */
};

/* From here on an interrupt ends the program with 130; nothing has run yet. */
void run_signal_watch(void);
/* From here on interrupts are held back but inside of ppoll() with run_signal_mask(). */
void run_signal_begin(struct run_signal *kept);
/* Waiting for the end of what was stopped may take its time: a second interrupt cuts that short. */
void run_signal_end(const struct run_signal *kept);
const sigset_t *run_signal_mask(const struct run_signal *kept);
bool run_signal_came(void);

#endif /* RUN_SIGNAL_H */
