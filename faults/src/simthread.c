/* SPDX-License-Identifier: MIT */
/*
 * simthread.c - who is counted by virtual time, from creation to end. A thread ends where the
 * destructors of its thread-specific data run the last time: whatever it does before that may
 * block.
 */
#include "simthread.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "case.h"
#include "simlock.h"
#include "simqueue.h"

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

struct thread {
	struct thread *next;
	pthread_t id;
	thread_function *start;
	void *argument;
	unsigned number;
	unsigned rounds; /* of destructors */
	unsigned users;	 /* its creator, itself, and whoever may join it */
	bool listed;
	bool ended;
};

static struct simlock lock; /* guards the list and all members that change */
static struct thread *first;
static struct thread beginner;
static pthread_key_t end_key;
static __thread INITIAL_EXEC bool counted;

bool simthread_counted(void)
{
	return counted;
}

bool simthread_shares(void)
{
	return runtime_process_number() > 1 || simclock_has_children();
}

/* With the lock held. */
static struct thread *find(pthread_t id)
{
	struct thread *thread = first;

	while (thread && !pthread_equal(thread->id, id))
		thread = thread->next;
	return thread;
}

static void take_off(struct thread *thread)
{
	struct thread **link = &first;

	while (*link && *link != thread)
		link = &(*link)->next;
	if (*link)
		*link = thread->next;
}

/* Creator and thread both do it, whoever comes first: nobody can ask for the thread before. */
static void list(struct thread *thread, pthread_t id)
{
	struct simlock_guard guard = simlock_take(&lock);

	if (!thread->listed) {
		thread->listed = true;
		thread->id = id;
		thread->next = first;
		first = thread;
	}
	simlock_drop(&lock, &guard);
}

static void drop(struct thread *thread, bool ended)
{
	struct simlock_guard guard = simlock_take(&lock);
	unsigned users = --thread->users;

	thread->ended |= ended;
	if (users == 0)
		take_off(thread);
	simlock_drop(&lock, &guard);
	if (users == 0)
		free(thread);
}

static void thread_ends(void *argument)
{
	struct thread *thread = argument;

	if (++thread->rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(end_key, thread);
		return;
	}
	drop(thread, true);
	simqueue_wake_all(thread); /* only its address: it may be gone */
	counted = false;
	simclock_thread_ended();
}

void simthread_begin(void)
{
	static bool made;

	if (!made)
		made = pthread_key_create(&end_key, thread_ends) == 0;
	first = NULL;
	counted = runtime_case.config.backend == SWAPFAULT_BACKEND_SIM;
	beginner = (struct thread){.users = UINT_MAX}; /* never freed */
	if (!counted)
		return;
	pthread_setspecific(end_key, &beginner);
	list(&beginner, pthread_self());
}

void simthread_end(void)
{
	if (counted)
		pthread_setspecific(end_key, NULL);
	counted = false;
	first = NULL;
	beginner = (struct thread){0};
}

/* The list stays as it is: what it says of threads that are not there any more is never asked. */
void simthread_after_fork_child(void)
{
	simlock_reset(&lock);
	counted = true;
}

static void *thread_main(void *argument)
{
	struct thread *thread = argument;
	thread_function *start = thread->start;
	void *start_argument = thread->argument;

	runtime_thread_number_take(thread->number);
	if (!runtime_sim()) {
		free(thread);
		return start(start_argument);
	}
	counted = true;
	list(thread, pthread_self());
	pthread_setspecific(end_key, thread);
	return start(start_argument);
}

static bool is_detached(const pthread_attr_t *attributes)
{
	int state = PTHREAD_CREATE_JOINABLE;

	if (attributes)
		pthread_attr_getdetachstate(attributes, &state);
	return state == PTHREAD_CREATE_DETACHED;
}

static int create_counted(create_function *create, pthread_t *ret_id,
			  const pthread_attr_t *attributes, struct thread *thread)
{
	int error;

	thread->users = is_detached(attributes) ? 2 : 3;
	simclock_thread_started();
	error = create(ret_id, attributes, thread_main, thread);
	if (error) {
		simclock_thread_ended();
		free(thread);
		return error;
	}
	list(thread, *ret_id);
	drop(thread, false);
	return 0;
}

int simthread_create(create_function *create, pthread_t *ret_id, const pthread_attr_t *attributes,
		     thread_function *start, void *argument)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	int error;

	if (!thread)
		return EAGAIN;
	thread->start = start;
	thread->argument = argument;
	thread->number = runtime_thread_number_draw();
	if (runtime_sim())
		return create_counted(create, ret_id, attributes, thread);
	error = create(ret_id, attributes, thread_main, thread);
	if (error)
		free(thread);
	return error;
}

static struct thread *find_running(pthread_t id)
{
	struct simlock_guard guard = simlock_take(&lock);
	struct thread *thread = find(id);

	if (thread && thread->ended)
		thread = NULL;
	simlock_drop(&lock, &guard);
	return thread;
}

bool simthread_has_ended(pthread_t id)
{
	return find_running(id) == NULL;
}

int simthread_wait_end(pthread_t id, uint64_t deadline_ns)
{
	struct thread *thread;

	while ((thread = find_running(id)) != NULL) {
		struct simqueue_place place;

		simqueue_join(&place, thread);
		if (!find_running(id)) {
			simqueue_leave(&place);
			break;
		}
		if (simqueue_block(&place, deadline_ns) == -ETIMEDOUT)
			return ETIMEDOUT;
	}
	return 0;
}

void simthread_forget(pthread_t id)
{
	struct simlock_guard guard = simlock_take(&lock);
	struct thread *thread = find(id);

	simlock_drop(&lock, &guard);
	if (thread)
		drop(thread, false);
}
