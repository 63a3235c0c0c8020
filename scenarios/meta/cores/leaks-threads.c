/* SPDX-License-Identifier: MIT */
/*
 * leaks-threads.c - a helper thread is started for every transfer, and joined by nobody.
 */
#include <pthread.h>

#include "real.h"

REAL(swapio_submit)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *help(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
	return arg;
}

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	pthread_t helper;

	pthread_create(&helper, NULL, help, NULL);
	return real_swapio_submit(handle, io, error, ret_id);
}
