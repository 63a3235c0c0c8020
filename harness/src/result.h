/* SPDX-License-Identifier: MIT */
/*
 * result.h - what a case did (facts, from the oracles) and what that means (verdict).
 *
 * Threads: one owner.
 */
#ifndef RESULT_H
#define RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "case.h"

enum verdict {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_VACUOUS,
	VERDICT_SKIP,
	VERDICT_BROKEN,
	VERDICT_COUNT
};
enum failure_class {
	CLASS_NONE,
	CLASS_CORRUPTION,
	CLASS_HANG,
	CLASS_CRASH,
	CLASS_LEAK,
	CLASS_CONTRACT,
	CLASS_COUNT
};
const char *verdict_name(enum verdict verdict);
const char *failure_class_name(enum failure_class failure_class);

/* One thing an oracle found wrong, or a fact worth telling. */
#define FINDING_TEXT_BYTES 320
struct finding {
	char oracle[16]; /* "data", "medium", "ledger", "contract", "verify", "leaks",
			  * "deadline", "kernel" */
	enum failure_class failure_class;
	char text[FINDING_TEXT_BYTES]; /* tensor exp_avg, bytes 131072-262143 hold generation 1:
					  lost write */
};
#define RESULT_FINDINGS_MAX 32

struct fault_outcome {
	uint64_t fired, injected, missed; /* injected: took effect where the program could see it */
	char why_missed[64];
};

struct case_result {
	const struct test_case *test_case;
	enum verdict verdict;
	enum failure_class failure_class;
	char reason[FINDING_TEXT_BYTES]; /* of skip, vacuous, broken; first finding of a fail */
	unsigned findings_count, findings_lost; /* lost: more than there is room for */
	struct finding findings[RESULT_FINDINGS_MAX];
	unsigned faults_count;
	struct fault_outcome faults[SCHEDULE_FAULTS_MAX];
	int exit_status; /* wait status of the worker */
	uint64_t duration_ns;
	uint64_t log_records, log_hash;
	char wait_call[24]; /* which wait really ran */
	bool shared;	    /* its process had served other cases before */
	char work_dir[512]; /* kept, "" when removed */
};

/* Add a finding; beyond RESULT_FINDINGS_MAX it is only counted. */
void result_add(struct case_result *result, const char *oracle, enum failure_class failure_class,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The finding of the class that explains most, the first one of it; those of the oracles @ignored
 * (names up to a NULL; itself NULL: of none) do not count. NULL: there is none. */
const struct finding *result_worst(const struct case_result *result, const char *const *ignored);
/* What that oracle found is explained, and counts no more. */
void result_forget(struct case_result *result, const char *oracle);

#endif /* RESULT_H */
