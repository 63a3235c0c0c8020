/* SPDX-License-Identifier: MIT */
/*
 * real.h - the loader's own dlsym() and dlvsym(), which the preload stands before.
 *
 * Threads: any, also before any constructor ran.
 */
#ifndef SWAPFAULT_REAL_H
#define SWAPFAULT_REAL_H

typedef void *dlsym_function(void *handle, const char *name);
typedef void *dlvsym_function(void *handle, const char *name, const char *version);

dlsym_function *real_dlsym(void);
dlvsym_function *real_dlvsym(void);

#endif /* SWAPFAULT_REAL_H */
