/* SPDX-License-Identifier: MIT */
/*
 * real.h - for faulty cores: a shim defines one call of libswapio, does it wrong, and reaches the
 * real one through REAL(). Each core makes exactly one mistake; the harness must find it.
 *
 * Threads: as the calls that are wrapped.
 */
#ifndef REAL_H
#define REAL_H

#include <dlfcn.h>
#include <string.h>

#include "swapio/swapio.h"

#define EXPORT __attribute__((visibility("default")))

static inline void real_find(const char *name, void *ret_call)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	memcpy(ret_call, &symbol, sizeof(symbol));
}

/* A variable real_NAME of the type of NAME, filled before main. */
#define REAL(name)                                                                                 \
	static __typeof__(&name) real_##name;                                                      \
	static __attribute__((constructor)) void find_##name(void)                                 \
	{                                                                                          \
		real_find(#name, &real_##name);                                                    \
	}

#endif /* REAL_H */
