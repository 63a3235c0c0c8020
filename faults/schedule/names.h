/* SPDX-License-Identifier: MIT */
/*
 * names.h - a small number and its name, either way, from a table indexed by the number.
 *
 * Threads: read-only; safe in signal handlers.
 */
#ifndef SWAPFAULT_NAMES_H
#define SWAPFAULT_NAMES_H

/* A second name of a number: understood, never printed. */
struct names_alias {
	const char *name; /* NULL ends the list */
	int number;
};

struct names {
	const char *const *by_number; /* NULL where a number has none */
	int count;
	const struct names_alias *aliases;
};

/* 0, -ENOENT. */
int names_find(const struct names *names, const char *name, int *ret_number);
/* NULL for a number without a name. */
const char *names_get(const struct names *names, int number);

#endif /* SWAPFAULT_NAMES_H */
