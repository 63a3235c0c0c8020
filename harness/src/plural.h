/* SPDX-License-Identifier: MIT */
/*
 * plural.h - "1 case", "2 cases".
 *
 * Threads: any.
 */
#ifndef PLURAL_H
#define PLURAL_H

#include <stdint.h>

/* What a regular noun ends with behind that number. */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif /* PLURAL_H */
