/* SPDX-License-Identifier: MIT */
/*
 * mutex_calls.h - a mutex locked in virtual time, for whoever else waits with one.
 *
 * Threads: any.
 */
#ifndef SWAPFAULT_MUTEX_CALLS_H
#define SWAPFAULT_MUTEX_CALLS_H

#include <pthread.h>
#include <stdint.h>

/* What pthread_mutex_timedlock() answers; UINT64_MAX: wait for ever. */
int mutex_lock_virtually(pthread_mutex_t *mutex, uint64_t deadline_ns);
int mutex_unlock_virtually(pthread_mutex_t *mutex);

#endif /* SWAPFAULT_MUTEX_CALLS_H */
