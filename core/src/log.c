/* SPDX-License-Identifier: MIT */
/*
 * log.c - formats a message and hands it to the caller's sink.
 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

#define LOG_TEXT_BYTES 512

void swapioi_log(const struct log *log, enum swapio_log_level level, const char *format, ...)
{
	char text[LOG_TEXT_BYTES];
	va_list args;

	if (!log->sink)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log->sink(level, text, log->arg);
}
