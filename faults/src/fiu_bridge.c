/* SPDX-License-Identifier: MIT */
/*
 * fiu_bridge.c - every kind of every point is a libfiu point, layer/point/kind. Those of our
 * schedule are armed with an external callback that answers for the fault being asked about; those
 * that fiu-run or fiu-ctrl switch on give the default kind, without conditions.
 */
#define FIU_ENABLE 1
#include <fiu-control.h>
#include <fiu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

/*
 * What the callback is asked about. libfiu's own failinfo cannot carry it: it is stored in the
 * point, which all threads share.
 */
static __thread INITIAL_EXEC const struct fault *asked;
static __thread INITIAL_EXEC bool answered;

static bool controlled;
static struct fault foreign_faults[KIND_COUNT];
static bool foreign_known[KIND_COUNT];

static int answer(const char *name, int *failnum, void **failinfo, unsigned int *flags)
{
	(void)failnum;
	(void)failinfo;
	(void)flags;
	if (!asked || strcmp(name, kind_info(asked->kind)->fiu_name) != 0)
		return 0;
	answered = true;
	return 1;
}

int fiu_bridge_enable(const struct schedule *schedule)
{
	bool enabled[KIND_COUNT] = {false};

	if ((schedule->count || controlled) && fiu_init(0) < 0)
		return -1;
	for (unsigned i = 0; i < schedule->count; i++) {
		enum kind_id kind = schedule->faults[i].kind;
		const char *name = kind_info(kind)->fiu_name;

		if (!name || enabled[kind])
			continue;
		if (fiu_enable_external(name, 1, NULL, 0, answer) < 0)
			return -1;
		enabled[kind] = true;
		/* libfiu caches the look-up in allocated memory: here rather than in a handler. */
		fiu_fail(name);
	}
	return 0;
}

/* What was switched on from outside meanwhile goes, too: a case begins with its own alone. */
void fiu_bridge_disable(const struct schedule *schedule)
{
	for (unsigned i = 0; i < schedule->count; i++)
		if (!fault_is_device(&schedule->faults[i]))
			fiu_disable(kind_info(schedule->faults[i].kind)->fiu_name);
	answered = false;
}

bool fiu_bridge_confirm(struct fault *fault)
{
	const struct fault *outer_asked = asked;
	int failed;

	asked = fault;
	answered = false;
	failed = fiu_fail(kind_info(fault->kind)->fiu_name);
	asked = outer_asked;
	return failed && answered;
}

struct fault *fiu_bridge_foreign(enum kind_id kind)
{
	int failed;

	if (!foreign_known[kind])
		return NULL;
	asked = NULL;
	failed = fiu_fail(kind_info(kind)->fiu_name);
	return failed ? &foreign_faults[kind] : NULL;
}

/* "POINT => KIND" means every call, no condition, the default argument. */
static void learn_default(enum kind_id kind)
{
	static struct schedule scratch;
	struct schedule_error error;
	char text[128];

	if (point_is_device(kind_info(kind)->point))
		return;
	snprintf(text, sizeof(text), "%s => %s", point_info(kind_info(kind)->point)->name,
		 kind_info(kind)->name);
	if (schedule_parse(text, &scratch, &error) < 0)
		return; /* it has no default: not reachable by its libfiu name */
	foreign_faults[kind] = scratch.faults[0];
	foreign_known[kind] = true;
}

static bool environment_says(const char *name)
{
	const char *value = getenv(name);

	return value && value[strspn(value, " \t\n")] != '\0';
}

void fiu_bridge_find_control(void)
{
	controlled = environment_says("FIU_ENABLE") || environment_says("FIU_CTRL_FIFO");
	for (unsigned kind = 0; controlled && kind < KIND_COUNT; kind++)
		learn_default(kind);
}

bool fiu_bridge_controlled(void)
{
	return controlled;
}
