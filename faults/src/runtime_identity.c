/* SPDX-License-Identifier: MIT */
/*
 * runtime_identity.c - which thread and which process of the case a call comes from. Both are
 * numbered from 1 in order of creation, so that a schedule means the same in every run.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "case.h"
#include "durable.h"
#include "rawcall.h"
#include "simclock.h"
#include "simqueue.h"
#include "simthread.h"
#include "stage.h"

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

static __thread INITIAL_EXEC unsigned thread_number;
static _Atomic unsigned threads_drawn;

/* Shared with every child: grandchildren draw from the same counter. */
static _Atomic unsigned *processes_drawn;
static unsigned process_number = 1;
static unsigned next_process_number;

unsigned runtime_thread_number_draw(void)
{
	return atomic_fetch_add(&threads_drawn, 1) + 1;
}

void runtime_thread_number_take(unsigned number)
{
	thread_number = number;
}

unsigned runtime_thread_number(void)
{
	if (thread_number == 0)
		thread_number = runtime_thread_number_draw();
	return thread_number;
}

unsigned runtime_process_number(void)
{
	return process_number;
}

static void before_fork(void)
{
	durable_before_fork();
	if (runtime_staged() && processes_drawn)
		next_process_number = atomic_fetch_add(processes_drawn, 1) + 1;
}

static void in_child(void)
{
	if (!runtime_staged())
		return;
	process_number = next_process_number;
	runtime_case.pid = (int)raw_call(SYS_getpid);
	atomic_store(&threads_drawn, 1);
	thread_number = 1;
	stage_after_fork_child();
	if (!runtime_sim())
		return;
	simclock_after_fork_child();
	simqueue_after_fork_child();
	simthread_after_fork_child();
}

static _Atomic unsigned *shared_counter(void)
{
	long page = raw_call(SYS_mmap, NULL, sizeof(*processes_drawn), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page < 0 ? NULL : (_Atomic unsigned *)page;
}

/* Until the first begin of this process nobody had a number. */
void runtime_identity_begin(void)
{
	static bool registered;

	atomic_store(&threads_drawn, 0);
	runtime_thread_number_take(runtime_thread_number_draw());
	process_number = 1;
	if (!processes_drawn)
		processes_drawn = shared_counter();
	if (processes_drawn)
		atomic_store(processes_drawn, 1);
	if (!registered)
		registered = pthread_atfork(before_fork, NULL, in_child) == 0;
}

/* The page stays, for the next case of this process. */
void runtime_identity_end(void)
{
	atomic_store(&threads_drawn, 0);
	thread_number = 0;
	next_process_number = 0;
	if (processes_drawn)
		atomic_store(processes_drawn, 0);
}
