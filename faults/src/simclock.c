/* SPDX-License-Identifier: MIT */
/*
 * simclock.c - virtual time. Every blocked thread is on one list; when the last running thread
 * blocks, time jumps to the earliest deadline on it and exactly one thread runs on: the order is
 * always the same.
 *
 * The lock is a leaf: nothing is called under it, and all signals are blocked while it is held, so
 * that a handler may wake or ask for the time.
 */
#include "simclock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "case.h"
#include "emulated.h"
#include "rawcall.h"
#include "simlock.h"

/* Not 0: programs take a time of 0 for "not set". */
#define START_NS 1000000000000u

/* Who reads the clock that often, and nobody blocks, waits for it to move. */
#define SPIN_READS 1000u
#define SPIN_STEP_NS 1000u

#define CHILDREN_PAUSE_NS 1000000 /* real time; likewise between looks at descriptors */

enum { BLOCKED, WOKEN, TIMED_OUT };

static struct simlock lock;
static _Atomic uint64_t now_ns = START_NS;
static uint64_t end_ns = UINT64_MAX;
static uint64_t budget_ns = UINT64_MAX;
static unsigned running = 1;
static unsigned threads = 1;
static struct simclock_waiter *blocked_first;
static _Atomic unsigned reads; /* of the clock since time moved last */

static uint64_t later(uint64_t time_ns, uint64_t by_ns)
{
	return by_ns > UINT64_MAX - time_ns ? UINT64_MAX : time_ns + by_ns;
}

static void set(uint64_t deadline_ns)
{
	atomic_store(&now_ns, START_NS);
	atomic_store(&reads, 0);
	budget_ns = deadline_ns;
	end_ns = later(START_NS, budget_ns);
	running = 1;
	threads = 1;
	blocked_first = NULL;
}

void simclock_begin(uint64_t deadline_ns)
{
	set(deadline_ns);
}

bool simclock_is_alone(void)
{
	return threads == 1 && running == 1 && !blocked_first;
}

void simclock_end(void)
{
	set(UINT64_MAX);
}

/* The other threads, and whoever held the lock, stayed in the parent. */
void simclock_after_fork_child(void)
{
	simlock_reset(&lock);
	running = 1;
	threads = 1;
	blocked_first = NULL;
}

uint64_t simclock_now_ns(void)
{
	return atomic_load_explicit(&now_ns, memory_order_relaxed);
}

static void append(struct simclock_waiter *waiter)
{
	struct simclock_waiter **link = &blocked_first;

	while (*link)
		link = &(*link)->next;
	waiter->next = NULL;
	*link = waiter;
}

static bool take_off(struct simclock_waiter *waiter)
{
	struct simclock_waiter **link = &blocked_first;

	while (*link && *link != waiter)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = waiter->next;
	return true;
}

/* Among equal deadlines the first that blocked. */
static struct simclock_waiter *earliest(void)
{
	struct simclock_waiter *found = NULL;

	for (struct simclock_waiter *waiter = blocked_first; waiter; waiter = waiter->next)
		if (waiter->deadline_ns != UINT64_MAX &&
		    (!found || waiter->deadline_ns < found->deadline_ns))
			found = waiter;
	return found;
}

static void run_on(struct simclock_waiter *waiter, uint32_t why)
{
	if (take_off(waiter))
		running++;
	__atomic_store_n(&waiter->wake, why, __ATOMIC_RELEASE);
	if (!pthread_equal(waiter->thread, pthread_self())) /* the last to block: it looks itself */
		raw_call(SYS_futex, &waiter->wake, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static _Noreturn void hang(const char *why)
{
	struct eventlog_record record = {
		.type = EVENTLOG_HANG,
		.time_ns = simclock_now_ns(),
		.pid = (uint32_t)runtime_case.pid,
		.tid = runtime_thread_number(),
		.fd = -1,
	};

	snprintf(record.text, sizeof(record.text), "%s (%u threads)", why, threads);
	runtime_log_append(&record);
	raw_call(SYS_exit_group, SIMCLOCK_EXIT_HANG);
	__builtin_unreachable();
}

bool simclock_has_children(void)
{
	siginfo_t status;

	return raw_call(SYS_waitid, P_ALL, 0, &status, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Children have a time of their own, and who waits for them may do so for long: in real time. */
static void hang_unless_children(const char *why)
{
	const struct timespec pause = {.tv_nsec = CHILDREN_PAUSE_NS};

	if (!simclock_has_children())
		hang(why);
	raw_call(SYS_nanosleep, &pause, NULL);
}

/* What passed while there were children is not held against the program once they are gone. */
static void check_deadline(uint64_t time_ns)
{
	if (time_ns <= end_ns)
		return;
	hang_unless_children("the deadline of the case passed");
	end_ns = later(time_ns, budget_ns);
}

static void move_to(uint64_t time_ns)
{
	atomic_store(&reads, 0);
	if (time_ns > simclock_now_ns())
		atomic_store(&now_ns, time_ns);
}

static bool is_ready(struct simclock_waiter *waiter)
{
	struct timespec none = {0};

	return waiter->fds_count &&
	       raw_call(SYS_ppoll, waiter->fds, waiter->fds_count, &none, NULL, 0) != 0;
}

/* Who has something to read already goes on before time does. */
static struct simclock_waiter *first_ready(bool *ret_listens)
{
	*ret_listens = false;
	for (struct simclock_waiter *waiter = blocked_first; waiter; waiter = waiter->next) {
		*ret_listens |= waiter->fds_count != 0;
		if (is_ready(waiter))
			return waiter;
	}
	return NULL;
}

/* Nobody runs: jump to the next deadline. Without one, only a child's signal goes on from here, or
 * somebody outside who writes to a descriptor. */
static void advance(void)
{
	bool listens;
	struct simclock_waiter *ready = first_ready(&listens), *next = earliest();

	if (ready) {
		run_on(ready, WOKEN);
		return;
	}
	if (!next) {
		if (!listens)
			hang_unless_children("every thread is blocked for ever");
		return;
	}
	check_deadline(next->deadline_ns);
	move_to(next->deadline_ns);
	run_on(next, TIMED_OUT);
}

/* A program that spins until a time has come never blocks: for it the clock ticks. */
static void tick(void)
{
	struct simlock_guard guard = simlock_take(&lock);
	uint64_t time_ns = simclock_now_ns() + SPIN_STEP_NS;
	struct simclock_waiter *next;

	check_deadline(time_ns);
	atomic_store(&now_ns, time_ns);
	while ((next = earliest()) != NULL && next->deadline_ns <= time_ns)
		run_on(next, TIMED_OUT);
	simlock_drop(&lock, &guard);
}

uint64_t simclock_read_ns(void)
{
	if (atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed) >= SPIN_READS)
		tick();
	return simclock_now_ns();
}

static void stop_running(void)
{
	if (--running == 0)
		advance();
}

/* A timeout makes the futex call answer EINTR after any handler, SA_RESTART or not, as the waits
 * that it stands for do. */
static long wait_really(struct simclock_waiter *waiter)
{
	struct timespec hour = {.tv_sec = 3600}, pause = {.tv_nsec = CHILDREN_PAUSE_NS};

	return raw_call(SYS_futex, &waiter->wake, FUTEX_WAIT_PRIVATE, BLOCKED,
			waiter->fds_count ? &pause : &hour);
}

/* Others in this process are seen to by advance(); this is for those outside. */
static void look(struct simclock_waiter *waiter)
{
	struct simlock_guard guard = simlock_take(&lock);

	if (waiter->wake == BLOCKED && is_ready(waiter))
		run_on(waiter, WOKEN);
	simlock_drop(&lock, &guard);
}

/* A handler ran: unless somebody woke us meanwhile, we are running because of it. */
static int interrupted(struct simclock_waiter *waiter)
{
	struct simlock_guard guard = simlock_take(&lock);
	bool still_blocked = take_off(waiter);

	if (still_blocked)
		running++;
	simlock_drop(&lock, &guard);
	return still_blocked ? -EINTR : 0;
}

static void join(struct simclock_waiter *waiter, uint64_t deadline_ns)
{
	struct simlock_guard guard = simlock_take(&lock);

	waiter->deadline_ns = deadline_ns;
	waiter->thread = pthread_self();
	if (__atomic_load_n(&waiter->wake, __ATOMIC_ACQUIRE) == BLOCKED) {
		append(waiter);
		stop_running();
	}
	simlock_drop(&lock, &guard);
}

static bool is_blocked(const struct simclock_waiter *waiter)
{
	return __atomic_load_n(&waiter->wake, __ATOMIC_ACQUIRE) == BLOCKED;
}

static int wait_for_wake(struct simclock_waiter *waiter)
{
	while (is_blocked(waiter)) {
		if (wait_really(waiter) == -EINTR && interrupted(waiter) == -EINTR)
			return -EINTR;
		if (waiter->fds_count)
			look(waiter);
	}
	return waiter->wake == TIMED_OUT ? -ETIMEDOUT : 0;
}

int simclock_block(struct simclock_waiter *waiter, uint64_t deadline_ns)
{
	int result;

	join(waiter, deadline_ns);
	result = wait_for_wake(waiter);
	emulated_is_ours_again(waiter, sizeof(*waiter));
	return result;
}

/* Most waits are over at once, because time jumps: for those no mask need be opened, unless a
 * signal is here already, whose handler runs before time passes. */
int simclock_block_open(struct simclock_waiter *waiter, uint64_t deadline_ns, uint64_t mask)
{
	int ended;

	if (sigmask_has_pending(mask)) {
		sigmask_set(mask);
		sigmask_set(SIGMASK_ALL);
	}
	join(waiter, deadline_ns);
	if (is_blocked(waiter))
		sigmask_set(mask);
	ended = wait_for_wake(waiter);
	sigmask_set(SIGMASK_ALL);
	emulated_is_ours_again(waiter, sizeof(*waiter));
	return ended;
}

void simclock_wake(struct simclock_waiter *waiter)
{
	struct simlock_guard guard = simlock_take(&lock);

	if (waiter->wake == BLOCKED)
		run_on(waiter, WOKEN);
	simlock_drop(&lock, &guard);
}

bool simclock_is_blocked(pthread_t thread)
{
	struct simlock_guard guard = simlock_take(&lock);
	const struct simclock_waiter *waiter = blocked_first;

	while (waiter && !pthread_equal(waiter->thread, thread))
		waiter = waiter->next;
	simlock_drop(&lock, &guard);
	return waiter != NULL;
}

void simclock_thread_started(void)
{
	struct simlock_guard guard = simlock_take(&lock);

	threads++;
	running++;
	simlock_drop(&lock, &guard);
}

void simclock_thread_ended(void)
{
	struct simlock_guard guard = simlock_take(&lock);

	if (--threads > 0)
		stop_running();
	simlock_drop(&lock, &guard);
}
