/* SPDX-License-Identifier: MIT */
/*
 * result_json.h - a result as one JSON object: a line of the machine's report, and what a guest
 * answers.
 *
 * Threads: one thread.
 */
#ifndef RESULT_JSON_H
#define RESULT_JSON_H

#include <jansson.h>

#include "diag.h"
#include "result.h"

/* A new reference. NULL: no memory, or a text that is no UTF-8. */
json_t *result_to_json(const struct case_result *result);

/*
 * Fill @ret_result but for its case, whose schedule says how many faults there must be.
 * 0; -EBADMSG with @diag naming the member that is missing or is not what it must be.
 */
int result_from_json(const json_t *object, const struct test_case *test_case,
		     struct case_result *ret_result, struct diag *diag);

#endif /* RESULT_JSON_H */
