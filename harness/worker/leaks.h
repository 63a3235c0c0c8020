/* SPDX-License-Identifier: MIT */
/*
 * leaks.h - what a sanitizer in the worker means for the counts. AddressSanitizer's own look for
 * leaks takes their place for memory; it reports where the harness reads (run_sanitizer.c). Of
 * ThreadSanitizer's shadow and of the thread that it runs for itself the kernel tells nothing
 * apart.
 *
 * Threads: the main thread, when the core is closed.
 */
#ifndef LEAKS_H
#define LEAKS_H

#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_THREAD__
#define LEAKS_COUNT_THREADS 0
#else
#define LEAKS_COUNT_THREADS 1
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LEAKS_COUNT_MEMORY 0
#else
#define LEAKS_COUNT_MEMORY 1
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

static inline void leaks_look(void)
{
	(void)__lsan_do_recoverable_leak_check();
}

#else

static inline void leaks_look(void)
{
}

#endif
#endif /* LEAKS_H */
