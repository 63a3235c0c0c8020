/* SPDX-License-Identifier: MIT */
/*
 * verify.h - for faulty cores that tell of damage, but not what they should: each of them says what
 * becomes of one damaged range on its way to the caller.
 *
 * Threads: one verifies.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include "real.h"

REAL(swapio_store_verify)

struct told { /* whom the core tells, and how much it told */
	swapio_damage_fn *each;
	void *arg;
	unsigned count;
};

/* Hand @damage out, or not, in whatever form. */
static int tell(struct told *told, const struct swapio_damage *damage);

static int take(const struct swapio_damage *damage, void *arg)
{
	return tell(arg, damage);
}

EXPORT int swapio_store_verify(struct swapio_store *store, const char *group,
			       swapio_damage_fn *each, void *arg, struct swapio_error *error)
{
	struct told told = {.each = each, .arg = arg};

	return real_swapio_store_verify(store, group, take, &told, error);
}

#endif /* VERIFY_H */
