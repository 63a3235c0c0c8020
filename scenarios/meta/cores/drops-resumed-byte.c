/* SPDX-License-Identifier: MIT */
/*
 * drops-resumed-byte.c - where a completion was short, the rest is put one byte too early.
 */
#include "remember.h"

#define RESUMED_AT 16384u

REAL(swapio_wait_some)

static void drop_byte(const struct swapio_io *io)
{
	char *buf = io->buf;

	if (io->op == SWAPIO_READ && io->length_bytes > RESUMED_AT)
		memmove(buf + RESUMED_AT, buf + RESUMED_AT + 1, io->length_bytes - RESUMED_AT - 1);
}

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	struct swapio_stats stats = {.size_bytes = sizeof(stats)};
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);

	swapio_stats_get(handle, &stats);
	for (int i = 0; i < got && stats.resumes; i++)
		drop_byte(transfer_of(&ret_results[i]));
	return got;
}
