/* SPDX-License-Identifier: MIT */
/*
 * stage_signal.c - what the program does with a signal while one is injected: without a handler
 * it would die of it, and the options of the fault ask for other dispositions than its own.
 *
 * Dispositions belong to the process: of several threads that inject the same signal at once, the
 * first changes and the last restores.
 */
#include <signal.h>
#include <string.h>

#include "rawcall.h"
#include "simlock.h"
#include "stage_internal.h"

#define SIGNALS_MAX 65

enum manner { MANNER_OWN, MANNER_HANDLED, MANNER_RESTART, MANNER_IGNORED };

struct borrowed {
	unsigned users;
	enum manner manner;
	struct sigaction before;
};

static struct simlock lock;
static struct borrowed borrowed[SIGNALS_MAX];

static void handle_nothing(int signal)
{
	(void)signal;
	runtime_log_note("signal handled in place of the default action");
}

static bool has_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static bool ignores(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN;
}

static enum manner manner_of(const struct fault *fault, const struct sigaction *now)
{
	if (fault->ignored)
		return ignores(now) ? MANNER_OWN : MANNER_IGNORED;
	if (fault->restart)
		return MANNER_RESTART;
	return has_handler(now) ? MANNER_OWN : MANNER_HANDLED;
}

static struct sigaction action_of(enum manner manner, const struct sigaction *now)
{
	struct sigaction action = *now;

	if (manner == MANNER_IGNORED || !has_handler(now)) {
		memset(&action, 0, sizeof(action));
		action.sa_handler = manner == MANNER_IGNORED ? SIG_IGN : handle_nothing;
	}
	if (manner == MANNER_RESTART)
		action.sa_flags |= SA_RESTART;
	return action;
}

static const char *borrow(struct borrowed *entry, const struct fault *fault)
{
	int signal = (int)fault->value;
	struct sigaction now, action;

	if (entry->users) {
		entry->users++;
		return NULL;
	}
	if (sigaction(signal, NULL, &now) < 0)
		return "the signal cannot be handled";
	if (ignores(&now) && !fault->ignored)
		return "the program ignores the signal";
	entry->manner = manner_of(fault, &now);
	entry->before = now;
	entry->users = 1;
	action = action_of(entry->manner, &now);
	if (entry->manner != MANNER_OWN)
		sigaction(signal, &action, NULL);
	return NULL;
}

const char *stage_signal_prepare(const struct fault *fault)
{
	struct simlock_guard guard = simlock_take(&lock);
	const char *why = borrow(&borrowed[fault->value], fault);

	simlock_drop(&lock, &guard);
	return why;
}

static void give_back(int signal)
{
	struct borrowed *entry = &borrowed[signal];

	if (entry->manner != MANNER_OWN)
		sigaction(signal, &entry->before, NULL);
	memset(entry, 0, sizeof(*entry));
}

void stage_signal_restore(const struct fault *fault)
{
	struct simlock_guard guard = simlock_take(&lock);

	if (--borrowed[fault->value].users == 0)
		give_back((int)fault->value);
	simlock_drop(&lock, &guard);
}

/* Those that were to stay pending were never given back. */
void stage_signal_end(void)
{
	for (int signal = 1; signal < SIGNALS_MAX; signal++)
		if (borrowed[signal].users)
			give_back(signal);
}

void stage_signal_raise(int signal)
{
	raw_call(SYS_tgkill, raw_call(SYS_getpid), raw_call(SYS_gettid), signal);
}
