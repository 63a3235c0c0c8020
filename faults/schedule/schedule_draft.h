/* SPDX-License-Identifier: MIT */
/*
 * schedule_draft.h - one fault while it is being parsed, with the places of its parts; shared by
 * the files of the parser.
 *
 * Threads: caller storage.
 */
#ifndef SCHEDULE_DRAFT_H
#define SCHEDULE_DRAFT_H

#include "schedule_scan.h"

enum condition {
	CONDITION_OP,
	CONDITION_FD,
	CONDITION_PATH,
	CONDITION_OFFSET,
	CONDITION_LENGTH,
	CONDITION_READY,
	CONDITION_DEPTH,
	CONDITION_CTX,
	CONDITION_THREAD,
	CONDITION_PROC,
	CONDITION_IMAGE,
	CONDITION_CALL,
	CONDITION_COUNT
};

struct draft {
	struct fault fault;
	const char *when_at;			       /* NULL: every call, by default */
	const char *condition_at[CONDITION_COUNT];     /* NULL: not given */
	const char *kind_at, *argument_at, *option_at; /* NULL: not given */
};

/* A fault at no point and of no kind yet, that any call passes. */
void fault_init(struct fault *fault);

/* schedule_condition.c: one condition, the scan stands at its key. */
int condition_parse(struct scan *scan, struct draft *draft);
const char *condition_name(enum condition condition);
bool condition_applies(enum condition condition, enum point_id point);

/* schedule_kind.c: KIND[:ARGUMENT][ OPTION], the scan stands at its first letter. */
int kind_parse(struct scan *scan, struct draft *draft);

/* schedule_check.c: parts that are right by themselves and wrong together. */
int draft_check(struct scan *scan, const struct draft *draft);
int holds_check(const struct schedule *schedule, struct schedule_error *error);

/* schedule_glob.c */
bool glob_matches(const char *glob, const char *text);

/* schedule_match.c */
bool when_matches(const struct fault_when *when, uint64_t number);

#endif /* SCHEDULE_DRAFT_H */
