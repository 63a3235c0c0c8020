/* SPDX-License-Identifier: MIT */
/*
 * durable.c - when effects are kept, and the lock under which they are.
 */
#include <errno.h>
#include <sys/mman.h>

#include "durable_internal.h"
#include "runtime.h"

_Atomic bool durable_active;
struct durable_journal *durable_journal;

static bool schedule_crashes(void)
{
	const struct schedule *schedule = runtime_schedule();

	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_crashes(&schedule->faults[i]))
			return true;
	return false;
}

/* Pages are taken when they are first written. */
static struct durable_journal *map_journal(void)
{
	long map =
		raw_call(SYS_mmap, NULL, sizeof(*durable_journal) + DURABLE_RECORDS_BYTES,
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map < 0 && map > -4096 ? NULL : (struct durable_journal *)map;
}

void durable_begin(void)
{
	if (!runtime_sim() || !schedule_crashes() || durable_is_active())
		return;
	durable_journal = map_journal();
	if (!durable_journal) {
		runtime_log_note("no memory to keep what is not durable");
		return;
	}
	atomic_store(&durable_active, true);
}

/* The mapping stays until the case is over: a call of another thread may be inside. */
void durable_finish(void)
{
	struct simlock_guard guard;

	if (!durable_is_active())
		return;
	atomic_store(&durable_active, false);
	guard = durable_lock();
	durable_journal->used_bytes = 0;
	durable_files_forget();
	durable_unlock(&guard);
}

void durable_forget(void)
{
	if (durable_journal)
		raw_call(SYS_munmap, durable_journal,
			 sizeof(*durable_journal) + DURABLE_RECORDS_BYTES);
	durable_journal = NULL;
	durable_names_forget();
}

/* A child that lived on would write after the power went; none can be ended yet. */
void durable_before_fork(void)
{
	struct simlock_guard guard;

	if (!durable_is_active())
		return;
	guard = durable_lock();
	durable_give_up("the program forked: children are not covered");
	durable_unlock(&guard);
}

struct simlock_guard durable_lock(void)
{
	struct simlock_guard guard = simlock_block_signals();
	uint32_t expected = 0;

	if (atomic_compare_exchange_strong(&durable_journal->lock, &expected, 1))
		return guard;
	while (atomic_exchange(&durable_journal->lock, 2) != 0)
		raw_call(SYS_futex, &durable_journal->lock, FUTEX_WAIT, 2, NULL);
	return guard;
}

void durable_unlock(const struct simlock_guard *guard)
{
	if (atomic_exchange(&durable_journal->lock, 0) == 2)
		raw_call(SYS_futex, &durable_journal->lock, FUTEX_WAKE, 1);
	simlock_restore_signals(guard);
}

bool durable_step_enter(struct durable_step *step, uint8_t act)
{
	step->tracked = durable_is_active() && !runtime_inside();
	if (!step->tracked)
		return false;
	step->act = act;
	step->fd = -1;
	step->synchronous = false;
	step->guard = durable_lock();
	return true;
}

void durable_give_up(const char *why)
{
	if (durable_journal->broken)
		return;
	durable_journal->broken = why;
	durable_journal->used_bytes = 0;
	durable_files_forget();
}

void durable_end(struct durable_step *step, bool succeeded)
{
	int kept_errno = errno;

	if (!step->tracked)
		return;
	if (step->act <= DURABLE_ACT_SYNC)
		durable_data_end(step, succeeded);
	else
		durable_names_end(step, succeeded);
	if (step->fd >= 0)
		raw_call(SYS_close, step->fd);
	durable_unlock(&step->guard);
	errno = kept_errno;
}
