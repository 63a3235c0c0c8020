/* SPDX-License-Identifier: MIT */
/*
 * swapfault_control.c - the calls of swapfault.h, for programs that know that they are tortured.
 */
#include "interpose.h"
#include "runtime.h"

EXPORT int swapfault_begin(const struct swapfault_config *config, char *error_text,
			   size_t error_bytes)
{
	return runtime_begin(config, error_text, error_bytes);
}

EXPORT void swapfault_arm(void)
{
	runtime_arm();
}

EXPORT void swapfault_disarm(void)
{
	runtime_disarm();
}

EXPORT int swapfault_end(char *error_text, size_t error_bytes)
{
	return runtime_end(error_text, error_bytes);
}
