/* SPDX-License-Identifier: MIT */
/*
 * guest_wait.h - waits that end: by what they wait for, by a deadline, by a signal.
 *
 * Threads: any.
 */
#ifndef GUEST_WAIT_H
#define GUEST_WAIT_H

#include <poll.h>
#include <stdint.h>

#include "guest.h"

/* A point of CLOCK_MONOTONIC, in nanoseconds. */
uint64_t guest_deadline(unsigned milliseconds);
/* 0: one of @polled is ready; -ETIMEDOUT; -EINTR: an interrupt came. */
int guest_wait(struct pollfd *polled, unsigned count, uint64_t deadline,
	       const struct guest_interrupt *interrupt);

#endif /* GUEST_WAIT_H */
