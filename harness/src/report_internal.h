/* SPDX-License-Identifier: MIT */
/*
 * report_internal.h - what the formats of a report share.
 *
 * Threads: one thread.
 */
#ifndef REPORT_INTERNAL_H
#define REPORT_INTERNAL_H

#include <stdio.h>

#include "report.h"

struct report_table; /* rows of the text report */
struct report_differ;

struct report {
	const struct report_ops *ops;
	FILE *stream;
	char *path; /* "-" for standard output */
	int error;  /* the first -errno of writing */
	bool use_stderr;
	bool terminal; /* progress may be drawn */
	const struct plan *plan;
	unsigned done;
	unsigned counts[VERDICT_COUNT];
	struct report_table *table;
	struct report_differ *differ;
	char skip_reason[FINDING_TEXT_BYTES]; /* told last */
};

extern const struct report_ops report_text_ops, report_ndjson_ops, report_tap_ops;

/* Everything written so far reaches the file now, or the error is kept: a report survives us. */
int report_flush(struct report *report);
/* Where a newcomer looks first: "3 passed, 1 failed, 2 skipped". */
void report_print_counts(FILE *stream, const unsigned counts[VERDICT_COUNT]);

/* Rows by scenario and target, in the order of the plan. -ENOMEM. */
int report_table_create(const struct plan *plan, struct report_table **ret_table);
void report_table_destroy(struct report_table *table);
void report_table_add(struct report_table *table, const struct case_result *result);
void report_table_print(const struct report_table *table, FILE *stream);

/* Cases that ended otherwise in a guest than on the host. -ENOMEM. */
int report_differ_create(const struct plan *plan, struct report_differ **ret_differ);
void report_differ_destroy(struct report_differ *differ);
void report_differ_add(struct report_differ *differ, const struct case_result *result);
void report_differ_print(const struct report_differ *differ, FILE *stream);

#endif /* REPORT_INTERNAL_H */
