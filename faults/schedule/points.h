/* SPDX-License-Identifier: MIT */
/*
 * points.h - points.def as data: points, kinds, legal arguments, effects.
 *
 * Threads: read-only tables, safe everywhere, signal handlers included.
 */
#ifndef SWAPFAULT_POINTS_H
#define SWAPFAULT_POINTS_H

#include <stdbool.h>

enum point_id {
#define POINT_ROW(id, ...) POINT_##id,
#define KIND_ROW(...)
#include "../points.def"
	POINT_COUNT
};

/* One row per KIND line, in file order: KIND_io_event_short ... */
enum kind_id {
#define POINT_ROW(...)
#define KIND_ROW(point, kind, ...) KIND_##point##_##kind,
#include "../points.def"
	KIND_COUNT
};

enum kind_argument {
	ARGUMENT_NONE,
	ARGUMENT_ERRNO,
	ARGUMENT_COUNT,
	ARGUMENT_SIGNAL,
	ARGUMENT_UNTIL,
	ARGUMENT_SEED,
	ARGUMENT_BYTE,
	ARGUMENT_BYTES,
	ARGUMENT_OFFSET,
	ARGUMENT_REMOVAL,
};

enum effect {
	EFFECT_TRANSPARENT,
	EFFECT_FAILS_ONE,
	EFFECT_FAILS_ALL,
	EFFECT_CORRUPTS,
};

struct point_info {
	const char *name;
	const char *layer;
	const char *sentence;
	enum kind_id kind_first; /* its kinds are [kind_first, kind_first + kind_count) */
	unsigned kind_count;
};

struct kind_info {
	enum point_id point;
	const char *name;
	const char
		*fiu_name; /* layer/point/kind; NULL: of the device, which libfiu does not reach */
	enum kind_argument argument;
	const char *fallback; /* argument text meant when none is given */
	const char *errnos;   /* legal errno names, separated by spaces */
	enum effect effect;
	const char *rows;
	const char *sentence;
};

const struct point_info *point_info(enum point_id point);
const struct kind_info *kind_info(enum kind_id kind);
/* Is it the device under a guest that carries it out, rather than the preload? */
bool point_is_device(enum point_id point);

/* Find by name; -ENOENT. */
int point_find(const char *name, enum point_id *ret_point);
int kind_find(enum point_id point, const char *name, enum kind_id *ret_kind);

const char *effect_name(enum effect effect);
/* "EIO" <-> 5; -ENOENT, NULL for unknown ones. */
int errno_find(const char *name, int *ret_errno);
const char *errno_name(int number);
/* "USR1" or "SIGUSR1" <-> 10; -ENOENT, NULL. */
int signal_find(const char *name, int *ret_signal);
const char *signal_name(int number);

#endif /* SWAPFAULT_POINTS_H */
