/* SPDX-License-Identifier: MIT */
/*
 * emulated.h - what helgrind has to be told when the program runs under it. A thread that waits
 * lends a piece of its stack to the preload's lists, where other threads write to it under locks
 * that helgrind does not know. Later the program has a variable of its own there.
 *
 * The locks themselves are not announced: each would order the program's threads in helgrind's
 * eyes, and a race of the program would go unseen wherever both sides made some call before.
 *
 * Threads: any. Outside of valgrind it costs a few instructions that do nothing.
 */
#ifndef SWAPFAULT_EMULATED_H
#define SWAPFAULT_EMULATED_H

#ifdef __has_include
#if __has_include(<valgrind/helgrind.h>)
#include <valgrind/helgrind.h>
#endif
#endif

#ifdef VALGRIND_HG_CLEAN_MEMORY
/* What the calling thread did before the one is seen by whoever comes to the other after it. */
#define emulated_hand_over(object) ANNOTATE_HAPPENS_BEFORE(object)
#define emulated_take_over(object) ANNOTATE_HAPPENS_AFTER(object)
/* Whoever touched @memory before, from here on it is the calling thread's alone. */
#define emulated_is_ours_again(memory, bytes) VALGRIND_HG_CLEAN_MEMORY(memory, bytes)
#else
#define emulated_hand_over(object) ((void)(object))
#define emulated_take_over(object) ((void)(object))
#define emulated_is_ours_again(memory, bytes) ((void)(memory), (void)(bytes))
#endif

#endif /* SWAPFAULT_EMULATED_H */
