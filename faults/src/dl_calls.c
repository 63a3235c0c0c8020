/* SPDX-License-Identifier: MIT */
/*
 * dl_calls.c - dlsym() and dlvsym(): a program that looks one of our calls up by handle gets ours,
 * but only where the look-up would have found something, because io_pgetevents must not seem to
 * exist where nothing provides it. All other look-ups jump on to the loader with the caller's
 * return address in place, which is how RTLD_NEXT and RTLD_DEFAULT know whose search order is
 * meant.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "case.h"
#include "interpose.h"
#include "real.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Two registers: jump on to @jump when it is set, else return @answer. */
struct dl_route {
	void *jump;
	void *answer;
};

struct dl_route dl_route_dlsym(void *handle, const char *name, const void *caller);
struct dl_route dl_route_dlvsym(void *handle, const char *name, const char *version,
				const void *caller);

static bool is_ours(const void *address)
{
	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/* Does the object that asks, or one it was linked with, provide @name? (A plugin opened RTLD_LOCAL
 * sees its own libaio, which the global order does not have.) */
static bool provided_to(const void *caller, const char *name)
{
	struct link_map *map = NULL;
	Dl_info info;
	void *object, *found;

	if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name[0])
		return false;
	object = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!object)
		return false;
	found = real_dlsym()(object, name);
	dlclose(object);
	return found && !is_ours(found);
}

/* What a look-up of one of our names should come to. */
enum finding {
	FINDING_NOTHING, /* let the loader say so */
	FINDING_OTHER,	 /* somebody's, which ours is to stand for */
	FINDING_US_ONLY, /* nobody's: without the preload there would be nothing */
};

static enum finding look_up(void *handle, const char *name, const void *caller)
{
	void *found = handle == RTLD_NEXT ? NULL : real_dlsym()(handle, name);

	if (found && !is_ours(found))
		return FINDING_OTHER;
	if (!found && handle != RTLD_NEXT)
		return FINDING_NOTHING;
	/* A global search finds the preload first: is there anybody behind us? */
	found = real_dlsym()(RTLD_NEXT, name);
	return found || provided_to(caller, name) ? FINDING_OTHER : FINDING_US_ONLY;
}

static bool taken_away(const char *name)
{
	struct fault *fault;

	if (!runtime_staged() || strcmp(name, "io_pgetevents") != 0)
		return false;
	fault = runtime_fault_missing();
	if (fault && !atomic_flag_test_and_set(&runtime_case.missing_told))
		runtime_log_inject(fault, NULL, 0, 0);
	return fault != NULL;
}

/* NULL, and dlerror() has something to say. */
static struct dl_route answer_missing(void)
{
	void *nothing = real_dlsym()(RTLD_DEFAULT, "(a call that only swapfault provides)");

	return (struct dl_route){NULL, nothing};
}

/*
 * Something that wraps calls itself asks for the next one, and has to get past us; whether that
 * finds us first is for the loader to know.
 */
static struct dl_route route(void *handle, const char *name, const void *caller, void *loader)
{
	void *ours = interposed_find(name);
	enum finding finding = ours ? look_up(handle, name, caller) : FINDING_NOTHING;

	if (finding == FINDING_US_ONLY)
		return answer_missing();
	if (finding == FINDING_OTHER && handle != RTLD_NEXT)
		return (struct dl_route){NULL, ours};
	return (struct dl_route){loader, NULL};
}

struct dl_route dl_route_dlsym(void *handle, const char *name, const void *caller)
{
	if (taken_away(name))
		return answer_missing();
	return route(handle, name, caller, (void *)real_dlsym());
}

struct dl_route dl_route_dlvsym(void *handle, const char *name, const char *version,
				const void *caller)
{
	if (taken_away(name))
		return answer_missing();
	/* Versions matter: only libaio's names mean the same in all of theirs. */
	if (strncmp(name, "io_", 3) == 0 && real_dlvsym()(handle, name, version))
		return route(handle, name, caller, (void *)real_dlvsym());
	return (struct dl_route){(void *)real_dlvsym(), NULL};
}

#if defined(__x86_64__)

/* Three pushes keep the stack aligned for the call; the return address lies above them. */
#define DL_TRAMPOLINE(call, caller_register)                                                       \
	__asm__(".text\n"                                                                          \
		".globl " #call "\n"                                                               \
		".type " #call ", @function\n" #call ":\n"                                         \
		"	.cfi_startproc\n"                                                                \
		"	endbr64\n"                                                                       \
		"	push %rdi\n"                                                                     \
		"	push %rsi\n"                                                                     \
		"	push %rdx\n"                                                                     \
		"	.cfi_adjust_cfa_offset 24\n"                                                     \
		"	mov 24(%rsp), %" caller_register "\n"                                      \
		"	call dl_route_" #call "\n"                                                 \
		"	mov %rdx, %rcx\n"                                                                \
		"	pop %rdx\n"                                                                      \
		"	pop %rsi\n"                                                                      \
		"	pop %rdi\n"                                                                      \
		"	.cfi_adjust_cfa_offset -24\n"                                                    \
		"	test %rax, %rax\n"                                                               \
		"	jz 1f\n"                                                                         \
		"	jmp *%rax\n"                                                                     \
		"1:	mov %rcx, %rax\n"                                                              \
		"	ret\n"                                                                           \
		"	.cfi_endproc\n"                                                                  \
		".size " #call ", . - " #call "\n")

DL_TRAMPOLINE(dlsym, "rdx");
DL_TRAMPOLINE(dlvsym, "rcx");

#elif defined(__aarch64__)

/* hint 34 is `bti c`; older assemblers do not know the name. */
#define DL_TRAMPOLINE(call, caller_register)                                                       \
	__asm__(".text\n"                                                                          \
		".globl " #call "\n"                                                               \
		".type " #call ", @function\n" #call ":\n"                                         \
		"	.cfi_startproc\n"                                                                \
		"	hint 34\n"                                                                       \
		"	stp x29, x30, [sp, #-48]!\n"                                                     \
		"	.cfi_def_cfa_offset 48\n"                                                        \
		"	.cfi_offset x29, -48\n"                                                          \
		"	.cfi_offset x30, -40\n"                                                          \
		"	mov x29, sp\n"                                                                   \
		"	stp x0, x1, [sp, #16]\n"                                                         \
		"	str x2, [sp, #32]\n"                                                             \
		"	mov " caller_register ", x30\n"                                            \
		"	bl dl_route_" #call "\n"                                                   \
		"	mov x16, x0\n"                                                                   \
		"	mov x17, x1\n"                                                                   \
		"	ldp x0, x1, [sp, #16]\n"                                                         \
		"	ldr x2, [sp, #32]\n"                                                             \
		"	ldp x29, x30, [sp], #48\n"                                                       \
		"	.cfi_restore x30\n"                                                              \
		"	.cfi_restore x29\n"                                                              \
		"	.cfi_def_cfa_offset 0\n"                                                         \
		"	cbz x16, 1f\n"                                                                   \
		"	br x16\n"                                                                        \
		"1:	mov x0, x17\n"                                                                 \
		"	ret\n"                                                                           \
		"	.cfi_endproc\n"                                                                  \
		".size " #call ", . - " #call "\n")

DL_TRAMPOLINE(dlsym, "x2");
DL_TRAMPOLINE(dlvsym, "x3");

#endif

INTERPOSED(dlsym);
INTERPOSED(dlvsym);
