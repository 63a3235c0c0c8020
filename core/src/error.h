/* SPDX-License-Identifier: MIT */
/*
 * error.h - fill a caller's struct swapio_error.
 */
#ifndef SWAPIOI_ERROR_H
#define SWAPIOI_ERROR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "swapio/error.h"

/*
 * Write the sentence behind @code, a negative errno, and return @code, so that a
 * failing function can end in `return swapioi_error(...)`. @error may be NULL.
 */
int swapioi_error(struct swapio_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* No room, of whatever kind. */
static inline bool error_is_space(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EFBIG;
}

#define ERRNO_TEXT_BYTES 64

/* The text of errno @number in @text; never NULL, safe in threads. */
const char *swapioi_errno_text(int number, char text[ERRNO_TEXT_BYTES]);

#endif /* SWAPIOI_ERROR_H */
