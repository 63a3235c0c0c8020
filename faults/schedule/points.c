/* SPDX-License-Identifier: MIT */
/*
 * points.c - points.def as constant tables, and how to find a row by name.
 */
#include <errno.h>
#include <string.h>

#include "points.h"

/* clang-format off */

/* sizeof(struct kinds_of_POINT) is the number of its kinds: a KIND follows its POINT. */
struct kinds_of_nothing {
#define POINT(name, sentence) }; struct kinds_of_##name {
#define KIND(point, kind, ...) char kind_##kind;
#include "../points.def"
#undef POINT
#undef KIND
};

/* All rows counted in one: a point stands before its kinds and after everything above it. */
enum row {
#define POINT(name, sentence) ROW_##name,
#define KIND(point, kind, ...) ROW_##point##_##kind,
#include "../points.def"
#undef POINT
#undef KIND
};

static const struct point_info points[POINT_COUNT] = {
#define POINT(name, sentence)                                                                      \
	[POINT_##name] = {#name, LAYER, sentence, (enum kind_id)(ROW_##name - (int)POINT_##name),  \
			  sizeof(struct kinds_of_##name)},
#define KIND(...)
#include "../points.def"
#undef POINT
#undef KIND
};

static const struct kind_info kinds[KIND_COUNT] = {
#define POINT(...)
#define KIND(point, kind, argument, fallback, errnos, effect, rows, sentence)                      \
	[KIND_##point##_##kind] = {POINT_##point, #kind, LAYER "/" #point "/" #kind,               \
				   ARGUMENT_##argument, fallback, errnos, EFFECT_##effect, rows,   \
				   sentence},
#include "../points.def"
#undef POINT
#undef KIND
};

/* clang-format on */

const struct point_info *point_info(enum point_id point)
{
	return &points[point];
}

const struct kind_info *kind_info(enum kind_id kind)
{
	return &kinds[kind];
}

int point_find(const char *name, enum point_id *ret_point)
{
	for (unsigned i = 0; i < POINT_COUNT; i++) {
		if (strcmp(points[i].name, name) != 0)
			continue;
		*ret_point = (enum point_id)i;
		return 0;
	}
	return -ENOENT;
}

int kind_find(enum point_id point, const char *name, enum kind_id *ret_kind)
{
	const struct point_info *info = &points[point];

	for (unsigned i = 0; i < info->kind_count; i++) {
		if (strcmp(kinds[info->kind_first + i].name, name) != 0)
			continue;
		*ret_kind = (enum kind_id)(info->kind_first + i);
		return 0;
	}
	return -ENOENT;
}

const char *effect_name(enum effect effect)
{
	switch (effect) {
	case EFFECT_TRANSPARENT:
		return "transparent";
	case EFFECT_FAILS_ONE:
		return "fails-one";
	case EFFECT_FAILS_ALL:
		return "fails-all";
	case EFFECT_CORRUPTS:
		return "corrupts";
	}
	return "unknown";
}
