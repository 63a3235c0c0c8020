/* SPDX-License-Identifier: MIT */
/*
 * remember.h - for faulty cores that do wrong when a transfer ends: what was asked for, by tag. Its
 * submit is the library's own and remembers; a core that includes it must not define another one.
 *
 * Threads: one submits and waits.
 */
#ifndef REMEMBER_H
#define REMEMBER_H

#include "real.h"

#define REMEMBERED_MAX 64u

REAL(swapio_submit)

static struct swapio_io remembered[REMEMBERED_MAX];

EXPORT int swapio_submit(struct swapio *handle, const struct swapio_io *io,
			 struct swapio_error *error, swapio_id *ret_id)
{
	remembered[io->tag % REMEMBERED_MAX] = *io;
	return real_swapio_submit(handle, io, error, ret_id);
}

static const struct swapio_io *transfer_of(const struct swapio_result *result)
{
	return &remembered[result->tag % REMEMBERED_MAX];
}

#endif /* REMEMBER_H */
