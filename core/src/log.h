/* SPDX-License-Identifier: MIT */
/*
 * log.h - messages to the caller's sink, and nowhere else.
 */
#ifndef SWAPIOI_LOG_H
#define SWAPIOI_LOG_H

#include "swapio/handle.h"

struct log {
	swapio_log_fn *sink; /* NULL: silence */
	void *arg;
};

void swapioi_log(const struct log *log, enum swapio_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* SWAPIOI_LOG_H */
