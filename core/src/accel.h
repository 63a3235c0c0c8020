/* SPDX-License-Identifier: MIT */
/*
 * accel.h - where the memory of transfers lives: an accelerator, which is an instance of a table of
 * functions, one table for each kind.
 */
#ifndef SWAPIOI_ACCEL_H
#define SWAPIOI_ACCEL_H

#include <stdbool.h>
#include <stddef.h>

struct accel;

/* All required, all callable from any thread. Copies return 0 or -errno. */
struct accel_ops {
	const char *name;
	/* The kernel can do I/O on this memory directly. */
	bool (*is_host)(struct accel *accel, const void *ptr);
	bool (*is_pinned)(struct accel *accel, const void *ptr, size_t length_bytes);
	int (*copy_to_host)(struct accel *accel, void *host, const void *from, size_t length_bytes);
	int (*copy_from_host)(struct accel *accel, void *to, const void *host, size_t length_bytes);
};

/* An instance begins with this; its kind keeps what it needs behind. */
struct accel {
	const struct accel_ops *ops;
};

static inline bool accel_is_host(struct accel *accel, const void *ptr)
{
	return accel->ops->is_host(accel, ptr);
}

/* NULL means "host". NULL is returned for unknown names. */
struct accel *swapioi_accel_find(const char *name);

#endif /* SWAPIOI_ACCEL_H */
