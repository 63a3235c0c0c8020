/* SPDX-License-Identifier: MIT */
/*
 * plan_repro.c - names of cases as people and shells read them.
 */
#include <stdio.h>
#include <string.h>

#include "plan_internal.h"

void plan_quote(FILE *stream, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./,:=@%+";

	if (*text && strspn(text, plain) == strlen(text)) {
		fputs(text, stream);
		return;
	}
	fputc('\'', stream);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", stream);
		else
			fputc(*text, stream);
	fputc('\'', stream);
}

void plan_scenario_name(const char *path, char *text, size_t text_bytes)
{
	const char *end = path + strlen(path), *begin = end;
	unsigned slashes = 0;

	while (begin > path && (begin[-1] != '/' || ++slashes < 2))
		begin--;
	if (end - begin > 5 && strcmp(end - 5, ".yaml") == 0)
		end -= 5;
	snprintf(text, text_bytes, "%.*s", (int)(end - begin), begin);
}
