/* SPDX-License-Identifier: MIT */
/*
 * deadlocks.c - two threads take two locks, each in its own order.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "real.h"

REAL(swapio_wait)

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static _Atomic unsigned arrivals;
static pthread_barrier_t both_have_one;

static __attribute__((constructor)) void init(void)
{
	pthread_barrier_init(&both_have_one, NULL, 2);
}

EXPORT int swapio_wait(struct swapio *handle, swapio_id id, int64_t timeout_ns,
		       struct swapio_result *ret_result)
{
	unsigned turn = atomic_fetch_add(&arrivals, 1);
	int result;

	if (turn > 1)
		return real_swapio_wait(handle, id, timeout_ns, ret_result);
	pthread_mutex_lock(&locks[turn]);
	pthread_barrier_wait(&both_have_one);
	pthread_mutex_lock(&locks[!turn]);
	result = real_swapio_wait(handle, id, timeout_ns, ret_result);
	pthread_mutex_unlock(&locks[!turn]);
	pthread_mutex_unlock(&locks[turn]);
	return result;
}
