/* SPDX-License-Identifier: MIT */
/*
 * diag.h - errors as sentences with a place: `file:line:column: message`.
 *
 * Threads: caller storage.
 */
#ifndef DIAG_H
#define DIAG_H

#include <stddef.h>

#define DIAG_TEXT_BYTES 512
#define DIAG_FILE_BYTES 512

struct diag {
	char file[DIAG_FILE_BYTES]; /* "" if there is no file */
	unsigned line, column;	    /* from 1; 0 if there is no place */
	char text[DIAG_TEXT_BYTES];
};

/* Fill @diag (may be NULL) and return -EINVAL, so that `return diag_set(...)` reads well. */
int diag_set(struct diag *diag, const char *file, unsigned line, unsigned column,
	     const char *format, ...) __attribute__((format(printf, 5, 6)));
/* "file:line:column: text" into @text; what snprintf returns. */
int diag_format(const struct diag *diag, char *text, size_t text_bytes);

#endif /* DIAG_H */
