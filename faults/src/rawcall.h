/* SPDX-License-Identifier: MIT */
/*
 * rawcall.h - system calls without libc: no symbol that anybody could have interposed, no errno,
 * no cancellation. Returns what the kernel returns (-errno).
 *
 * Threads: any; safe in signal handlers and before any constructor ran.
 */
#ifndef SWAPFAULT_RAWCALL_H
#define SWAPFAULT_RAWCALL_H

#include <sys/syscall.h>

/* Kernel headers of the oldest releases lack these numbers. */
#ifndef SYS_io_pgetevents
#if defined(__x86_64__)
#define SYS_io_pgetevents 333
#elif defined(__aarch64__)
#define SYS_io_pgetevents 292
#endif
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

#if defined(__x86_64__)

static inline long raw_call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

static inline long raw_call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

#else
#error "swapfault knows the system calls of x86-64 and aarch64 only"
#endif

/* Call with up to six arguments, each a pointer or an integer. */
#define RAW_ARGUMENT(x) ((long)(x))
#define RAW_CALL7(n, a, b, c, d, e, f, ...)                                                        \
	raw_call6(n, RAW_ARGUMENT(a), RAW_ARGUMENT(b), RAW_ARGUMENT(c), RAW_ARGUMENT(d),           \
		  RAW_ARGUMENT(e), RAW_ARGUMENT(f))
#define raw_call(...) RAW_CALL7(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

#endif /* SWAPFAULT_RAWCALL_H */
