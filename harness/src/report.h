/* SPDX-License-Identifier: MIT */
/*
 * report.h - sinks for results: terminal, NDJSON, TAP. A sink never runs anything.
 *
 * Threads: one thread.
 */
#ifndef REPORT_H
#define REPORT_H

#include "result.h"

struct report_summary {
	unsigned counts[VERDICT_COUNT];
	uint64_t duration_ns;
	bool interrupted; /* Ctrl-C: what ran is reported */
	uint64_t seed;
};

struct report; /* one open sink */

struct report_ops {
	const char *name; /* "ndjson", "tap", "text" */
	int (*begin)(struct report *report, const struct plan *plan);
	int (*result)(struct report *report, const struct case_result *result);
	int (*end)(struct report *report, const struct report_summary *summary);
};

/* Parse FORMAT:FILE and open it ("-" is stdout). 0, -EINVAL with @diag, -errno of open. */
int report_open(const char *spec, struct report **ret_report, struct diag *diag);
int report_begin(struct report *report, const struct plan *plan);
int report_result(struct report *report, const struct case_result *result);
int report_end(struct report *report, const struct report_summary *summary);
/* Close the file; -errno when anything could not be written (disk full is an error, not a pass). */
int report_close(struct report *report);
const char *report_path(const struct report *report); /* "-" for standard output */
/* A text report on the terminal: on standard error when @use_stderr. */
int report_open_text(bool use_stderr, struct report **ret_report, struct diag *diag);

#endif /* REPORT_H */
