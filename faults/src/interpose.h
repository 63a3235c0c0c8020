/* SPDX-License-Identifier: MIT */
/*
 * interpose.h - how the preload defines the calls of others, and reaches the ones it stands before.
 *
 * Threads: any. real_function() may be called before any constructor ran.
 */
#ifndef SWAPFAULT_INTERPOSE_H
#define SWAPFAULT_INTERPOSE_H

/* Files that define calls of libc include this header first: with these set, libc's headers would
 * turn our definitions into its own aliases. */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <stdatomic.h>
#include <stddef.h>

/* Everything else in the library is hidden. */
#define EXPORT __attribute__((visibility("default")))

#define INTERPOSE_LIKELY(x) __builtin_expect(!!(x), 1)

/*
 * A call that programs may also obtain with dlsym(): its name and our definition are collected in a
 * section, so that the table can never drift from the definitions.
 */
struct interposed {
	const char *name;
	void *function;
};

#define INTERPOSED(call)                                                                           \
	static const struct interposed interposed_##call                                           \
		__attribute__((used, section("interposed"), aligned(8))) = {#call, (void *)(call)}

/* Our definition of @name, or NULL when it is none of ours. */
void *interposed_find(const char *name);

/*
 * The definition that follows ours: libc's, or that of a sanitizer or another preload. Each slot is
 * resolved once; slots are in a section so that start.c resolves them all before main, because the
 * loader must not be entered from a signal handler.
 */
struct real_slot {
	const char *name;
	_Atomic(void *) function;
	void *fallback; /* where nothing after us provides it: old and new libcs lack some names */
};

#define REAL(call) REAL_OR(call, NULL)

#define REAL_OR(call, instead)                                                                     \
	static struct real_slot real_slot_##call                                                   \
		__attribute__((used, section("real_slots"), aligned(8))) = {#call, NULL,           \
									    (void *)(instead)};    \
	static inline __typeof__(&call) real_##call(void)                                          \
	{                                                                                          \
		return (__typeof__(&call))real_function(&real_slot_##call);                        \
	}

void *real_resolve(struct real_slot *slot);
void real_resolve_all(void);

/* NULL when nothing after us provides it and there is no other way. */
static inline void *real_function(struct real_slot *slot)
{
	void *function = atomic_load_explicit(&slot->function, memory_order_relaxed);

	return INTERPOSE_LIKELY(function != NULL) ? function : real_resolve(slot);
}

#endif /* SWAPFAULT_INTERPOSE_H */
