/* SPDX-License-Identifier: MIT */
/*
 * thread_calls.c - threads from creation (a point) to join.
 */
#include "interpose.h"

#define FIU_ENABLE 1
#include <dlfcn.h>
#include <errno.h>
#include <fiu.h>
#include <pthread.h>

#include "posix_call.h"
#include "simthread.h"
#include "simtime.h"

#if !__GLIBC_PREREQ(2, 31)
int pthread_clockjoin_np(pthread_t id, void **ret_value, clockid_t clock,
			 const struct timespec *until);
#endif

REAL(pthread_create)
REAL(pthread_join)
REAL(pthread_tryjoin_np)
REAL(pthread_timedjoin_np)
REAL(pthread_clockjoin_np)
REAL(pthread_detach)

/* fiu-ctrl is answered by a thread of libfiu's, which is not the program's. */
static bool is_libfiu(const void *caller)
{
	Dl_info about, libfiu;

	return dladdr(caller, &about) && dladdr((const void *)(uintptr_t)fiu_fail, &libfiu) &&
	       about.dli_fbase == libfiu.dli_fbase;
}

static int create_staged(pthread_t *ret_id, const pthread_attr_t *attributes,
			 thread_function *start, void *argument)
{
	struct posix_call call;
	int error;

	if (!posix_call_on_nothing(&call, POINT_pthread_create, SCHEDULE_ANY))
		return simthread_create(real_pthread_create(), ret_id, attributes, start, argument);
	error = posix_call_error(&call);
	if (error)
		return error;
	error = simthread_create(real_pthread_create(), ret_id, attributes, start, argument);
	posix_call_end_plain(&call, -error);
	return error;
}

EXPORT int pthread_create(pthread_t *restrict ret_id, const pthread_attr_t *restrict attributes,
			  void *(*start)(void *), void *restrict argument)
{
	if (!runtime_staged() || runtime_inside() || is_libfiu(__builtin_return_address(0)))
		return real_pthread_create()(ret_id, attributes, start, argument);
	return create_staged(ret_id, attributes, start, argument);
}

static int join_virtually(pthread_t id, void **ret_value, uint64_t deadline_ns)
{
	int error;

	if (pthread_equal(id, pthread_self()))
		return EDEADLK;
	error = simthread_wait_end(id, deadline_ns);
	if (error)
		return error;
	simthread_forget(id);
	return real_pthread_join()(id, ret_value);
}

EXPORT int pthread_join(pthread_t id, void **ret_value)
{
	if (!simthread_waits_virtually())
		return real_pthread_join()(id, ret_value);
	return join_virtually(id, ret_value, UINT64_MAX);
}

EXPORT int pthread_tryjoin_np(pthread_t id, void **ret_value)
{
	if (!simthread_waits_virtually())
		return real_pthread_tryjoin_np()(id, ret_value);
	return simthread_has_ended(id) ? join_virtually(id, ret_value, UINT64_MAX) : EBUSY;
}

EXPORT int pthread_timedjoin_np(pthread_t id, void **ret_value, const struct timespec *until)
{
	struct timespec real;

	if (!simthread_waits_virtually() || !until)
		return real_pthread_timedjoin_np()(id, ret_value, simtime_for_real(until, &real));
	return join_virtually(id, ret_value, simtime_deadline(until));
}

EXPORT int pthread_clockjoin_np(pthread_t id, void **ret_value, clockid_t clock,
				const struct timespec *until)
{
	struct timespec real;

	if (!simthread_waits_virtually() || !until)
		return real_pthread_clockjoin_np()(id, ret_value, clock,
						   simtime_for_real(until, &real));
	return join_virtually(id, ret_value, simtime_deadline(until));
}

EXPORT int pthread_detach(pthread_t id)
{
	if (runtime_sim() && !runtime_inside())
		simthread_forget(id);
	return real_pthread_detach()(id);
}

INTERPOSED(pthread_create);
INTERPOSED(pthread_join);
INTERPOSED(pthread_tryjoin_np);
INTERPOSED(pthread_timedjoin_np);
INTERPOSED(pthread_clockjoin_np);
INTERPOSED(pthread_detach);
