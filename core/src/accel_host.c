/* SPDX-License-Identifier: MIT */
/*
 * accel_host.c - host memory: copies are memcpy, pinned is what the pin list says.
 */
#include <string.h>

#include "accel.h"
#include "pin.h"

static bool host_is_host(const void *ptr)
{
	(void)ptr;
	return true;
}

static int host_copy(void *to, const void *from, size_t length_bytes)
{
	memcpy(to, from, length_bytes);
	return 0;
}

static const struct accel_ops host_ops = {
	.name = "host",
	.is_host = host_is_host,
	.is_pinned = swapioi_pin_contains,
	.copy_to_host = host_copy,
	.copy_from_host = host_copy,
};

const struct accel_ops *swapioi_accel_find(const char *name)
{
	return !name || strcmp(name, host_ops.name) == 0 ? &host_ops : NULL;
}
