/* SPDX-License-Identifier: MIT */
/*
 * uring.h - tell the log that the program has an io_uring.
 *
 * Threads: any; safe in signal handlers.
 */
#ifndef SWAPFAULT_URING_H
#define SWAPFAULT_URING_H

void uring_seen(void);

#endif /* SWAPFAULT_URING_H */
