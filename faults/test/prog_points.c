/* SPDX-License-Identifier: MIT */
/*
 * prog_points.c - points.def as lines, for shell tests: "layer point kind effect [errno ...]".
 */
#include <stdio.h>

#include "points.h"

int main(void)
{
	for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_info *info = kind_info((enum kind_id)kind);
		const struct point_info *point = point_info(info->point);

		printf("%s %s %s %s %s\n", point->layer, point->name, info->name,
		       effect_name(info->effect), info->errnos);
	}
	return 0;
}
