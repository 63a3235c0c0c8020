/* SPDX-License-Identifier: MIT */
/*
 * random_fault.h - any fault that the language can say, drawn from a seed, and what makes two
 * equal.
 *
 * Threads: caller storage.
 */
#ifndef RANDOM_FAULT_H
#define RANDOM_FAULT_H

#include <signal.h>
#include <string.h>

#include "schedule_draft.h"

/* splitmix64 */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t end)
{
	return random_next(state) % end;
}

static inline bool random_coin(uint64_t *state)
{
	return random_next(state) & 1;
}

/* Small numbers and large ones, round ones and odd ones. */
static inline uint64_t random_number(uint64_t *state, uint64_t min, uint64_t max)
{
	uint64_t value = random_next(state) >> random_below(state, 64);

	if (random_coin(state))
		value <<= random_below(state, 4) * 10;
	return max - min == UINT64_MAX ? value : min + value % (max - min + 1);
}

static inline void random_when(uint64_t *state, struct fault_when *when)
{
	when->first = random_number(state, 1, 1000);
	when->last = when->first;
	when->step = 1;
	if (random_coin(state))
		return;
	when->step = random_coin(state) ? 1 : random_number(state, 1, 100);
	when->last = SCHEDULE_ANY;
	if (random_coin(state))
		when->last = when->first + when->step * random_number(state, 1, 100);
}

static inline void random_range(uint64_t *state, struct fault_range *range)
{
	range->begin = random_coin(state) ? 0 : random_number(state, 0, UINT32_MAX);
	range->end = random_coin(state) && range->begin
			     ? SCHEDULE_ANY
			     : range->begin + random_number(state, 1, UINT32_MAX);
}

static inline void random_path(uint64_t *state, char *path)
{
	static const char letters[] = "abcXYZ019*?[]!-._/+=~,\303";
	size_t length = 1 + random_below(state, SCHEDULE_PATH_BYTES - 1);

	for (size_t i = 0; i < length; i++)
		path[i] = letters[random_below(state, sizeof(letters) - 1)];
	path[length] = '\0';
	if (path[0] == '/')
		path[0] = 'a';
}

static inline void random_condition(uint64_t *state, enum condition condition, struct fault *fault)
{
	switch (condition) {
	case CONDITION_OP:
		fault->op = random_coin(state) ? FAULT_OP_READ : FAULT_OP_WRITE;
		break;
	case CONDITION_FD:
		fault->fd = (int64_t)random_number(state, 0, INT32_MAX);
		break;
	case CONDITION_PATH:
		random_path(state, fault->path);
		break;
	case CONDITION_OFFSET:
		random_range(state, &fault->offset);
		break;
	case CONDITION_LENGTH:
		random_range(state, &fault->length);
		break;
	case CONDITION_READY:
		fault->ready = random_number(state, 0, UINT32_MAX);
		break;
	case CONDITION_DEPTH:
		fault->depth = random_number(state, 1, UINT32_MAX);
		break;
	case CONDITION_CTX:
		fault->ctx = random_number(state, 1, UINT32_MAX);
		break;
	case CONDITION_THREAD:
		fault->thread = random_number(state, 1, UINT32_MAX);
		break;
	case CONDITION_PROC:
		fault->proc = random_number(state, 1, UINT32_MAX);
		break;
	case CONDITION_IMAGE:
		fault->image = random_number(state, 1, SCHEDULE_IMAGES_MAX);
		break;
	case CONDITION_CALL:
		fault->call = random_coin(state) ? FAULT_CALL_GETEVENTS : FAULT_CALL_PGETEVENTS;
		break;
	case CONDITION_COUNT:
		break;
	}
}

static inline int64_t random_errno(uint64_t *state, enum kind_id kind)
{
	const char *errnos = kind_info(kind)->errnos, *at = errnos;
	int number = 0;
	char name[24];

	for (uint64_t skip = random_below(state, 32); skip; skip--) {
		at += strcspn(at, " ");
		at = *at ? at + 1 : errnos;
	}
	memcpy(name, at, strcspn(at, " "));
	name[strcspn(at, " ")] = '\0';
	errno_find(name, &number);
	return number;
}

static inline int64_t random_signal(uint64_t *state)
{
	int number;

	do
		number = 1 + (int)random_below(state, 64);
	while (!signal_name(number) || number == SIGKILL || number == SIGSTOP);
	return number;
}

static inline void random_device_until(uint64_t *state, struct fault *fault)
{
	static const enum fault_until untils[] = {FAULT_UNTIL_NEVER, FAULT_UNTIL_REQUEST,
						  FAULT_UNTIL_TIME};
	static const enum point_id points[] = {POINT_nvme_read, POINT_nvme_write, POINT_nvme_flush};

	fault->until = untils[random_below(state, 3)];
	if (fault->until == FAULT_UNTIL_TIME)
		fault->until_number = random_number(state, 1, 3600000);
	if (fault->until != FAULT_UNTIL_REQUEST)
		return;
	fault->until_number = random_number(state, 1, UINT32_MAX);
	fault->until_point = points[random_below(state, 3)];
}

static inline void random_until(uint64_t *state, struct fault *fault)
{
	if (fault_is_device(fault)) {
		random_device_until(state, fault);
		return;
	}
	fault->until = 1 + (enum fault_until)random_below(state, 3);
	if (fault->until != FAULT_UNTIL_NEVER)
		fault->until_number = random_number(state, 1, UINT32_MAX);
}

static inline void random_argument(uint64_t *state, struct fault *fault)
{
	switch (kind_info(fault->kind)->argument) {
	case ARGUMENT_NONE:
		break;
	case ARGUMENT_ERRNO:
		fault->value = random_errno(state, fault->kind);
		break;
	case ARGUMENT_SIGNAL:
		fault->value = random_signal(state);
		break;
	case ARGUMENT_UNTIL:
		random_until(state, fault);
		break;
	case ARGUMENT_COUNT:
		fault->value = (int64_t)random_number(state, 0, UINT32_MAX);
		break;
	case ARGUMENT_SEED:
		fault->value = (int64_t)random_number(state, 0, INT64_MAX);
		break;
	case ARGUMENT_BYTE:
		fault->value = (int64_t)random_number(state, 0, 0x7fffefff);
		break;
	case ARGUMENT_REMOVAL:
		fault->value = (int64_t)random_below(state, FAULT_REMOVALS);
		break;
	case ARGUMENT_BYTES:
	case ARGUMENT_OFFSET:
		fault->value = (int64_t)random_number(state, 1, 0x7ffff000);
		break;
	}
	if (fault->kind == KIND_io_event_lie || fault->kind == KIND_io_event_misdirect ||
	    fault->kind == KIND_nvme_read_misdirect || fault->kind == KIND_nvme_write_misdirect)
		fault->value *= random_coin(state) ? 1 : -1;
}

static inline void random_option(uint64_t *state, struct fault *fault)
{
	bool *const of_signal[] = {&fault->masked, &fault->ignored, &fault->restart};

	if (random_coin(state))
		return;
	fault->after = fault->kind == KIND_io_event_res;
	fault->direct = fault->kind == KIND_open_error;
	if (fault->kind == KIND_io_getevents_signal)
		*of_signal[random_below(state, 3)] = true;
}

/* The combinations that the parser refuses are not to be drawn. */
static inline void random_repair(struct fault *fault)
{
	if (fault->kind == KIND_io_event_stale || fault->kind == KIND_io_event_res)
		fault->op = fault->kind == KIND_io_event_stale ? FAULT_OP_READ : FAULT_OP_WRITE;
	if (fault->kind == KIND_io_event_lost)
		fault->op = FAULT_OP_WRITE;
	if (fault->kind == KIND_io_getevents_error || fault->kind == KIND_io_getevents_few)
		fault->ready = SCHEDULE_ANY;
	if (fault->kind == KIND_io_event_hold && fault->fd < 0)
		fault->op = FAULT_OP_READ; /* whether it holds itself cannot be told then */
	if (fault->until == FAULT_UNTIL_REQUEST)
		fault->depth = 2; /* likewise */
	if (fault_removes(fault))
		fault->when = (struct fault_when){fault->when.first, fault->when.first, 1};
	if (fault->kind == KIND_nvme_read_iops || fault->kind == KIND_nvme_write_iops)
		fault->value += fault->value == 0;
}

static inline void random_fault(uint64_t *state, enum kind_id kind, struct fault *fault)
{
	fault_init(fault);
	fault->kind = kind;
	fault->point = kind_info(kind)->point;
	random_argument(state, fault);
	if (kind == KIND_io_pgetevents_missing)
		return;
	if (random_coin(state))
		random_when(state, &fault->when);
	for (unsigned i = 0; i < CONDITION_COUNT; i++)
		if (condition_applies((enum condition)i, fault->point) && !random_below(state, 3))
			random_condition(state, (enum condition)i, fault);
	random_option(state, fault);
	random_repair(fault);
}

static inline bool range_equal(const struct fault_range *a, const struct fault_range *b)
{
	return a->begin == b->begin && a->end == b->end;
}

/* All but the place and the counters. */
static inline bool fault_equal(const struct fault *a, const struct fault *b)
{
	return a->point == b->point && a->kind == b->kind && a->when.first == b->when.first &&
	       a->when.last == b->when.last && a->when.step == b->when.step && a->op == b->op &&
	       a->fd == b->fd && strcmp(a->path, b->path) == 0 &&
	       range_equal(&a->offset, &b->offset) && range_equal(&a->length, &b->length) &&
	       a->ready == b->ready && a->depth == b->depth && a->ctx == b->ctx &&
	       a->thread == b->thread && a->proc == b->proc && a->call == b->call &&
	       a->value == b->value && a->until == b->until && a->until_number == b->until_number &&
	       a->until_point == b->until_point && a->after == b->after && a->direct == b->direct &&
	       a->masked == b->masked && a->ignored == b->ignored && a->restart == b->restart;
}

#endif /* RANDOM_FAULT_H */
