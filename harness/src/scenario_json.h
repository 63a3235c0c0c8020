/* SPDX-License-Identifier: MIT */
/*
 * scenario_json.h - the table of keys, printed: as a JSON schema for editors, as mdoc for the man
 * page.
 *
 * Threads: pure functions.
 */
#ifndef SCENARIO_JSON_H
#define SCENARIO_JSON_H

#include <stdio.h>

/* 0, -ENOMEM, -EIO. */
int scenario_print_schema(FILE *stream);
void scenario_print_mdoc(FILE *stream);

#endif /* SCENARIO_JSON_H */
