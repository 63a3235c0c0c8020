/* SPDX-License-Identifier: MIT */
/*
 * points.h - points.def as data: points, kinds, legal arguments, effects.
 *
 * Threads: read-only tables, safe everywhere, signal handlers included.
 */
#ifndef SWAPFAULT_POINTS_H
#define SWAPFAULT_POINTS_H

enum point_id {
#define POINT(name, sentence) POINT_##name,
#define KIND(...)
#include "../points.def"
#undef POINT
#undef KIND
	POINT_COUNT
};

/* One row per KIND line, in file order: KIND_io_event_short ... */
enum kind_id {
#define POINT(...)
#define KIND(point, kind, argument, fallback, errnos, effect, rows, sentence) KIND_##point##_##kind,
#include "../points.def"
#undef POINT
#undef KIND
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
	const char *fiu_name; /* layer/point/kind */
	enum kind_argument argument;
	const char *fallback; /* argument text meant when none is given */
	const char *errnos;   /* legal errno names, separated by spaces */
	enum effect effect;
	const char *rows;
	const char *sentence;
};

const struct point_info *point_info(enum point_id point);
const struct kind_info *kind_info(enum kind_id kind);

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
