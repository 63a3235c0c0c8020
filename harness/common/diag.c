/* SPDX-License-Identifier: MIT */
/*
 * diag.c - errors as sentences with a place.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "diag.h"

int diag_set(struct diag *diag, const char *file, unsigned line, unsigned column,
	     const char *format, ...)
{
	va_list arguments;

	if (!diag)
		return -EINVAL;
	snprintf(diag->file, sizeof(diag->file), "%s", file ? file : "");
	diag->line = line;
	diag->column = column;
	va_start(arguments, format);
	vsnprintf(diag->text, sizeof(diag->text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

int diag_format(const struct diag *diag, char *text, size_t text_bytes)
{
	if (!diag->file[0])
		return snprintf(text, text_bytes, "%s", diag->text);
	if (!diag->line)
		return snprintf(text, text_bytes, "%s: %s", diag->file, diag->text);
	if (!diag->column)
		return snprintf(text, text_bytes, "%s:%u: %s", diag->file, diag->line, diag->text);
	return snprintf(text, text_bytes, "%s:%u:%u: %s", diag->file, diag->line, diag->column,
			diag->text);
}
