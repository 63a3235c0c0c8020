/* SPDX-License-Identifier: MIT */
/*
 * leaks.h - LeakSanitizer as the judge of memory in a sanitized worker. It reports where the
 * harness reads (run_sanitizer.c); what the kernel says of such a process tells nothing.
 *
 * Threads: the main thread, when the core is closed.
 */
#ifndef LEAKS_H
#define LEAKS_H

#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

#define LEAKS_SANITIZED 1

static inline void leaks_look(void)
{
	(void)__lsan_do_recoverable_leak_check();
}

#else

#define LEAKS_SANITIZED 0

static inline void leaks_look(void)
{
}

#endif
#endif /* LEAKS_H */
