/* SPDX-License-Identifier: MIT */
/*
 * names.c - looking through a table of names.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "names.h"

int names_find(const struct names *names, const char *name, int *ret_number)
{
	const struct names_alias *alias = names->aliases;

	for (int i = 0; i < names->count; i++) {
		if (names->by_number[i] && strcmp(names->by_number[i], name) == 0) {
			*ret_number = i;
			return 0;
		}
	}
	while (alias->name && strcmp(alias->name, name) != 0)
		alias++;
	if (!alias->name)
		return -ENOENT;
	*ret_number = alias->number;
	return 0;
}

const char *names_get(const struct names *names, int number)
{
	return number > 0 && number < names->count ? names->by_number[number] : NULL;
}
