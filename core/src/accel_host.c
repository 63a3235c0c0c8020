/* SPDX-License-Identifier: MIT */
/*
 * accel_host.c - host memory: copies are memcpy, pinned is what the pin list says. It has no state,
 * so that one instance serves all handles.
 */
#include <string.h>

#include "accel.h"
#include "pin.h"

static bool host_is_host(struct accel *accel, const void *ptr)
{
	(void)accel;
	(void)ptr;
	return true;
}

static bool host_is_pinned(struct accel *accel, const void *ptr, size_t length_bytes)
{
	(void)accel;
	return swapioi_pin_contains(ptr, length_bytes);
}

static int host_copy(struct accel *accel, void *to, const void *from, size_t length_bytes)
{
	(void)accel;
	memcpy(to, from, length_bytes);
	return 0;
}

static const struct accel_ops host_ops = {
	.name = "host",
	.is_host = host_is_host,
	.is_pinned = host_is_pinned,
	.copy_to_host = host_copy,
	.copy_from_host = host_copy,
};

static struct accel host = {.ops = &host_ops};

struct accel *swapioi_accel_find(const char *name)
{
	return !name || strcmp(name, host_ops.name) == 0 ? &host : NULL;
}
