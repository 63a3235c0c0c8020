/* SPDX-License-Identifier: MIT */
/*
 * durable.c - when effects are kept, and the lock under which they are.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "durable_internal.h"
#include "runtime.h"

_Atomic bool durable_active;
struct durable_journal *durable_journal;
static bool shared; /* with later processes of the case */

static bool schedule_crashes(void)
{
	const struct schedule *schedule = runtime_schedule();

	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_crashes(&schedule->faults[i]))
			return true;
	return false;
}

/* Pages are taken when they are first written. @fd: -1: memory of our own. */
static bool map_journal(int fd)
{
	const size_t bytes = sizeof(*durable_journal) + DURABLE_RECORDS_BYTES;
	int flags = MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0);
	long map = fd < 0 ? 0 : raw_call(SYS_ftruncate, fd, bytes);

	if (map == 0)
		map = raw_call(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (map < 0 && map > -4096) {
		runtime_log_note("no memory to keep what is not durable");
		return false;
	}
	durable_journal = (struct durable_journal *)map;
	return true;
}

static bool is_wanted(void)
{
	return runtime_sim() && schedule_crashes();
}

/* Before there are limits on the size of files, and before a later process does anything. */
void durable_attach(void)
{
	const struct swapfault_config *config = runtime_config();

	shared = config->journal_fd > 0 && is_wanted() && map_journal(config->journal_fd);
	if (!shared || config->image <= 1)
		return;
	durable_adopt();
	atomic_store(&durable_active, true);
}

void durable_begin(void)
{
	if (!is_wanted() || durable_is_active())
		return;
	if (shared || map_journal(-1))
		atomic_store(&durable_active, true);
}

/* Is there a later process that a fault is for? What is not durable now is not for it either. */
static bool goes_on(void)
{
	return shared && runtime_config()->image < schedule_images(runtime_schedule());
}

/* The mapping stays until the case is over: a call of another thread may be inside. */
void durable_finish(void)
{
	struct simlock_guard guard;

	if (!durable_is_active())
		return;
	atomic_store(&durable_active, false);
	guard = durable_lock();
	if (goes_on()) {
		durable_files_release();
	} else {
		durable_journal->used_bytes = 0;
		durable_files_forget();
	}
	durable_unlock(&guard);
}

void durable_stop(void)
{
	if (durable_is_active())
		durable_lock();
}

void durable_forget(void)
{
	atomic_store(&durable_active, false);
	shared = false;
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
	if (durable_journal->broken[0])
		return;
	snprintf(durable_journal->broken, sizeof(durable_journal->broken), "%s", why);
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
