/* SPDX-License-Identifier: MIT */
/*
 * yaml_bytes.h - what may stand in a file at all, before it is read as YAML.
 *
 * Threads: pure functions.
 */
#ifndef YAML_BYTES_H
#define YAML_BYTES_H

#include <stddef.h>

#include "diag.h"

/* UTF-8 without tabs, NUL and other control characters: 0, or -EINVAL with the place in @diag. */
int yaml_bytes_check(const char *text, size_t bytes, const char *path, struct diag *diag);

/* Read a whole regular file of at most @bytes_max. malloc'ed with a NUL behind; -errno with @diag.
 */
int yaml_bytes_read(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes,
		    struct diag *diag);

#endif /* YAML_BYTES_H */
