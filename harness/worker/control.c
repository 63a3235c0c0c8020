/* SPDX-License-Identifier: MIT */
/*
 * control.c - the calls of the preload, if it is there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "worker.h"

typedef int begin_fn(const struct swapfault_config *config, char *text, size_t bytes);
typedef void switch_fn(void);
typedef int end_fn(char *text, size_t bytes);

static begin_fn *begin_call;
static switch_fn *arm_call, *disarm_call;
static end_fn *end_call;

/* Object and function pointers are alike on POSIX; ISO C only lets them be copied. */
static void find(const char *name, void *ret_call)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	memcpy(ret_call, &symbol, sizeof(symbol));
}

void control_find(void)
{
	find("swapfault_begin", &begin_call);
	find("swapfault_arm", &arm_call);
	find("swapfault_disarm", &disarm_call);
	find("swapfault_end", &end_call);
}

bool control_found(void)
{
	return begin_call && arm_call && disarm_call && end_call;
}

int control_begin(const struct swapfault_config *config, char *text, size_t bytes)
{
	return begin_call ? begin_call(config, text, bytes) : -ENOSYS;
}

void control_arm(void)
{
	arm_call();
}

void control_disarm(void)
{
	disarm_call();
}

int control_end(void)
{
	return end_call(NULL, 0);
}
