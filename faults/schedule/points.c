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
#define POINT_ROW(id, ...) }; struct kinds_of_##id {
#define KIND_ROW(point, kind, ...) char kind_##kind;
#include "../points.def"
};

/* All rows counted in one: a point stands before its kinds and after everything above it. */
enum row {
#define POINT_ROW(id, ...) ROW_##id,
#define KIND_ROW(point, kind, ...) ROW_##point##_##kind,
#include "../points.def"
};

static const struct point_info points[POINT_COUNT] = {
#define POINT_ROW(id, name, layer, sentence)                                                       \
	[POINT_##id] = {name, layer, sentence, (enum kind_id)(ROW_##id - (int)POINT_##id),         \
			sizeof(struct kinds_of_##id)},
#define KIND_ROW(...)
#include "../points.def"
};

static const struct kind_info kinds[KIND_COUNT] = {
#define POINT_ROW(...)
#define KIND_ROW(point, kind, fiu_name, argument, fallback, errnos, effect, rows, sentence)        \
	[KIND_##point##_##kind] = {POINT_##point, #kind, fiu_name, ARGUMENT_##argument, fallback,  \
				   errnos, EFFECT_##effect, rows, sentence},
#include "../points.def"
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

bool point_is_device(enum point_id point)
{
	return strcmp(points[point].layer, "nvme") == 0;
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
