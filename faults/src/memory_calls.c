/* SPDX-License-Identifier: MIT */
/*
 * memory_calls.c - points mmap, mlock and posix_memalign, and memory that goes away: the stage must
 * know when a program takes memory from under a request in flight.
 */
#include "interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "posix_call.h"
#include "rawcall.h"
#include "stage.h"

#if !__GLIBC_PREREQ(2, 27)
int mlock2(const void *start, size_t bytes, unsigned flags);
#endif

REAL(mmap)
REAL(mmap64)
REAL(munmap)
REAL(mremap)
REAL(mlock)
REAL(mlock2)
REAL(posix_memalign)
REAL(aligned_alloc)
REAL(memalign)
REAL(free)
REAL(malloc_usable_size)

typedef void *map_function(void *start, size_t bytes, int protection, int flags, int fd, off_t at);

static void memory_gone(const void *start, size_t bytes)
{
	int kept_errno = errno;

	if (start && runtime_staged() && !runtime_inside())
		stage_memory_gone(start, bytes);
	errno = kept_errno;
}

static void *map_call(void *start, size_t bytes, int protection, int flags, int fd, off_t at,
		      map_function *map_really)
{
	struct posix_call call;
	void *result;

	if (flags & MAP_FIXED)
		memory_gone(start, bytes);
	if (!(flags & MAP_ANONYMOUS) || !posix_call_on_nothing(&call, POINT_mmap, bytes))
		return map_really(start, bytes, protection, flags, fd, at);
	if (posix_call_fails(&call))
		return MAP_FAILED;
	result = map_really(start, bytes, protection, flags, fd, at);
	posix_call_end_plain(&call, result == MAP_FAILED ? -errno : 0);
	return result;
}

EXPORT void *mmap(void *start, size_t bytes, int protection, int flags, int fd, off_t at)
{
	return map_call(start, bytes, protection, flags, fd, at, real_mmap());
}

EXPORT void *mmap64(void *start, size_t bytes, int protection, int flags, int fd, off64_t at)
{
	return map_call(start, bytes, protection, flags, fd, at, real_mmap64());
}

EXPORT int munmap(void *start, size_t bytes)
{
	memory_gone(start, bytes);
	return real_munmap()(start, bytes);
}

EXPORT void *mremap(void *start, size_t old_bytes, size_t new_bytes, int flags, ...)
{
	void *target;
	va_list list;

	va_start(list, flags);
	target = va_arg(list, void *);
	va_end(list);
	if (flags & MREMAP_MAYMOVE)
		memory_gone(start, old_bytes);
	else if (new_bytes < old_bytes)
		memory_gone((char *)start + new_bytes, old_bytes - new_bytes);
	return real_mremap()(start, old_bytes, new_bytes, flags, target);
}

/* An allocator of the program's own may bring its free() and not the function that tells sizes. */
static bool sizes_are_known(void)
{
	static _Atomic int known; /* 0: not asked yet */
	Dl_info freeing, telling;
	int answer = atomic_load_explicit(&known, memory_order_relaxed);

	if (answer)
		return answer > 0;
	answer = dladdr((void *)real_free(), &freeing) &&
				 dladdr((void *)real_malloc_usable_size(), &telling) &&
				 freeing.dli_fbase == telling.dli_fbase
			 ? 1
			 : -1;
	atomic_store(&known, answer);
	return answer > 0;
}

/* errno is left alone, and so must we. */
EXPORT void free(void *start)
{
	if (start && runtime_armed() && !runtime_inside() && sizes_are_known())
		memory_gone(start, real_malloc_usable_size()(start));
	real_free()(start);
}

/* A sanitizer's mlock says yes and does nothing: in a case the kernel must count what it locked. */
static int lock_really(const void *start, size_t bytes)
{
	long result;

	if (!runtime_staged())
		return real_mlock()(start, bytes);
	result = raw_call(SYS_mlock, start, bytes);
	if (result < 0)
		errno = (int)-result;
	return result < 0 ? -1 : 0;
}

EXPORT int mlock(const void *start, size_t bytes)
{
	struct posix_call call;

	if (!posix_call_on_nothing(&call, POINT_mlock, bytes))
		return lock_really(start, bytes);
	if (posix_call_fails(&call))
		return -1;
	return (int)posix_call_end(&call, lock_really(start, bytes));
}

EXPORT int mlock2(const void *start, size_t bytes, unsigned flags)
{
	struct posix_call call;

	if (!posix_call_on_nothing(&call, POINT_mlock, bytes))
		return real_mlock2()(start, bytes, flags);
	if (posix_call_fails(&call))
		return -1;
	return (int)posix_call_end(&call, real_mlock2()(start, bytes, flags));
}

EXPORT int posix_memalign(void **ret_start, size_t alignment, size_t bytes)
{
	struct posix_call call;
	int error;

	if (!posix_call_on_nothing(&call, POINT_posix_memalign, bytes))
		return real_posix_memalign()(ret_start, alignment, bytes);
	error = posix_call_error(&call);
	if (error)
		return error;
	error = real_posix_memalign()(ret_start, alignment, bytes);
	posix_call_end_plain(&call, -error);
	return error;
}

static void *align_call(size_t alignment, size_t bytes, void *(*align_really)(size_t, size_t))
{
	struct posix_call call;
	void *result;

	if (!posix_call_on_nothing(&call, POINT_posix_memalign, bytes))
		return align_really(alignment, bytes);
	if (posix_call_fails(&call))
		return NULL;
	result = align_really(alignment, bytes);
	posix_call_end_plain(&call, result ? 0 : -errno);
	return result;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
	return align_call(alignment, bytes, real_aligned_alloc());
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
	return align_call(alignment, bytes, real_memalign());
}

INTERPOSED(mmap);
INTERPOSED(mmap64);
INTERPOSED(munmap);
INTERPOSED(mremap);
INTERPOSED(free);
INTERPOSED(mlock);
INTERPOSED(mlock2);
INTERPOSED(posix_memalign);
INTERPOSED(aligned_alloc);
INTERPOSED(memalign);
