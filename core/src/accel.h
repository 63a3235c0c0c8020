/* SPDX-License-Identifier: MIT */
/*
 * accel.h - where the memory of transfers lives; one table of functions for each accelerator.
 */
#ifndef SWAPIOI_ACCEL_H
#define SWAPIOI_ACCEL_H

#include <stdbool.h>
#include <stddef.h>

/* All required, all callable from any thread. Copies return 0 or -errno. */
struct accel_ops {
	const char *name;
	/* The kernel can do I/O on this memory directly. */
	bool (*is_host)(const void *ptr);
	bool (*is_pinned)(const void *ptr, size_t length_bytes);
	int (*copy_to_host)(void *host, const void *from, size_t length_bytes);
	int (*copy_from_host)(void *to, const void *host, size_t length_bytes);
};

/* NULL means "host". NULL is returned for unknown names. */
const struct accel_ops *swapioi_accel_find(const char *name);

#endif /* SWAPIOI_ACCEL_H */
