/* SPDX-License-Identifier: MIT */
/*
 * waits-for-nobody.c - once a wait was interrupted, a wake-up is lost: the caller waits for ever.
 */
#include <pthread.h>

#include "real.h"

REAL(swapio_wait_some)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	struct swapio_stats stats = {.size_bytes = sizeof(stats)};
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	swapio_stats_get(handle, &stats);
	pthread_mutex_lock(&lock);
	while (stats.interrupts)
		pthread_cond_wait(&never, &lock);
	pthread_mutex_unlock(&lock);
	return got;
}
