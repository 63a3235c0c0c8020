/* SPDX-License-Identifier: MIT */
/*
 * reader_store.c - finds the group without the library, and compares all of it: the generation, the
 * tensors, their checksums and padding, and every byte. After a swap-out that failed, too: then the
 * generation before must be there as if nothing had happened.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "reader_store.h"
#include "store_reader.h"

#define PIECE_BYTES ((size_t)256 * 1024)

/* What the group must be, going by the swap-outs that succeeded. */
struct expected {
	const char *place;
	uint64_t stored; /* generation of the store; 0: none, if that is known */
	bool known;	 /* nothing touched the store but what the library told of */
	uint64_t tensors;
	uint32_t patterns[WORKLOAD_TENSORS_MAX]; /* of each tensor; 0: not known */
};

struct comparison {
	const struct reader_job *job;
	const struct expected *expected;
	const struct store_group *group;
	unsigned tensor; /* of the workload */
	bool damaged;	 /* its checksums say so */
	struct case_result *result;
};

#define WRONG(comparison, oracle, format, ...)                                                     \
	result_add((comparison)->result, oracle, CLASS_CORRUPTION,                                 \
		   "step %u, read by another process: " format, (comparison)->job->step + 1,       \
		   __VA_ARGS__)

/* A process, or a device, that may have ended in the middle of a commit. */
static bool cuts(const struct step *step)
{
	return step->kind == STEP_RESTART || step->kind == STEP_DEVICE_RETURN;
}

/* Steps that change a store behind the library's back, too: what was known is no more. */
static bool damages(const struct step *step)
{
	return step->kind == STEP_TRUNCATE || step->kind == STEP_CORRUPT ||
	       step->kind == STEP_REMOVE || step->kind == STEP_COPY_VOLUME ||
	       step->kind == STEP_PREPARE || cuts(step);
}

static uint64_t all_tensors(const struct workload *workload)
{
	return UINT64_MAX >> (WORKLOAD_TENSORS_MAX - workload->tensors_count);
}

static unsigned first_step(const struct reader_job *job)
{
	unsigned first = 0;

	for (unsigned i = 0; i < job->step; i++)
		if (damages(&job->workload->steps[i]))
			first = i + 1;
	return first;
}

static const char *last_place(const struct reader_job *job)
{
	for (unsigned i = job->outcome->removals_count; i-- > 0;)
		if (job->outcome->removals[i].step == job->step)
			return job->outcome->removals[i].place;
	for (unsigned i = job->outcome->requests_count; i-- > 0;)
		if (job->outcome->requests[i].swap && job->outcome->requests[i].write &&
		    job->outcome->requests[i].step == job->step)
			return job->outcome->requests[i].place;
	return NULL;
}

/* The whole group, be it as another list of tensors: it replaces what was there. */
static bool is_whole(const struct workload *workload, uint64_t tensors)
{
	uint64_t all = all_tensors(workload);

	return tensors == all || tensors & ~all;
}

static bool is_about(const struct expected *expected, const char *place, unsigned step,
		     unsigned first, unsigned last)
{
	return step >= first && step <= last && strcmp(place, expected->place) == 0;
}

/* Those that were told before request number @request: one that succeeded leaves nothing, one that
 * failed may have left it or not. */
static void expect_removals(const struct reader_job *job, unsigned first, unsigned request,
			    unsigned *index, struct expected *expected)
{
	for (; *index < job->outcome->removals_count; (*index)++) {
		const struct outcome_removal *removal = &job->outcome->removals[*index];

		if (removal->requests_before > request)
			return;
		if (!is_about(expected, removal->place, removal->step, first, job->step))
			continue;
		*expected = (struct expected){.place = expected->place, .known = !removal->error};
	}
}

static void expect(const struct reader_job *job, struct expected *expected)
{
	unsigned first = first_step(job), removal = 0;

	*expected = (struct expected){.place = last_place(job), .known = first == 0};
	/* A store that a step or an earlier process made has all tensors, and of those nothing is
	 * known. */
	if (first && (job->workload->steps[first - 1].kind == STEP_PREPARE ||
		      cuts(&job->workload->steps[first - 1])))
		expected->tensors = all_tensors(job->workload);
	for (unsigned i = 0; expected->place && i < job->outcome->requests_count; i++) {
		const struct outcome_request *request = &job->outcome->requests[i];

		expect_removals(job, first, i, &removal, expected);
		if (!outcome_is_commit(request) ||
		    !is_about(expected, request->place, request->step, first, job->step))
			continue;
		expected->stored = request->stored;
		expected->known = true;
		if (is_whole(job->workload, request->tensors)) {
			memset(expected->patterns, 0, sizeof(expected->patterns));
			expected->tensors = request->tensors;
		}
		for (unsigned t = 0; t < WORKLOAD_TENSORS_MAX; t++)
			if (request->tensors & UINT64_C(1) << t)
				expected->patterns[t] = request->generation;
	}
	if (expected->place)
		expect_removals(job, first, UINT_MAX, &removal, expected);
}

static void take_damage(void *arg, unsigned tensor, uint64_t offset, uint64_t length,
			const char *what)
{
	struct comparison *comparison = arg;

	(void)tensor;
	comparison->damaged = true;
	WRONG(comparison, "medium", "tensor %s, bytes %" PRIu64 "-%" PRIu64 ": %s",
	      comparison->job->workload->tensors[comparison->tensor].name, offset,
	      offset + length - 1, what);
}

static void compare_bytes(struct comparison *comparison, unsigned index)
{
	static char piece[PIECE_BYTES];
	const struct workload *workload = comparison->job->workload;
	const struct store_tensor *stored = &comparison->group->manifest->tensors[index];
	struct pattern pattern = {comparison->job->seed,
				  workload_origin(workload, comparison->tensor),
				  comparison->expected->patterns[comparison->tensor]};
	const char *names[WORKLOAD_TENSORS_MAX];
	struct pattern_finding finding;

	for (unsigned i = 0; i < workload->tensors_count; i++)
		names[i] = workload->tensors[i].name;
	for (uint64_t at = 0; at < stored->bytes; at += PIECE_BYTES) {
		size_t part = stored->bytes - at < PIECE_BYTES ? stored->bytes - at : PIECE_BYTES;

		if (store_group_read(comparison->group, index, at, piece, part) < 0)
			return; /* told as damage */
		if (!pattern_check(&pattern, at, piece, part, names, workload->tensors_count,
				   &finding))
			continue;
		WRONG(comparison, "data", "tensor %s, bytes %" PRIu64 "-%" PRIu64 " %s",
		      stored->name, finding.begin, finding.end - 1, finding.story);
		return;
	}
}

static bool same_shape(const struct store_tensor *stored, const struct tensor *asked)
{
	if (stored->dims != asked->dims)
		return false;
	for (unsigned i = 0; i < asked->dims; i++)
		if (stored->shape[i] != asked->shape[i])
			return false;
	return true;
}

/* What its manifest says of a tensor, and then its bytes. Sums that are right over bytes that are
 * wrong are the library's doing whatever happened to the medium. */
static void compare_tensor(struct comparison *comparison, unsigned index)
{
	const struct tensor *asked = &comparison->job->workload->tensors[comparison->tensor];
	const struct store_tensor *stored = &comparison->group->manifest->tensors[index];

	if (strcmp(stored->name, asked->name) != 0 || stored->numel != asked->numel ||
	    stored->element_bytes != dtype_bytes(asked->dtype) ||
	    strcmp(stored->dtype, dtype_name(asked->dtype)) != 0 || !same_shape(stored, asked)) {
		WRONG(comparison, "data",
		      "tensor %u is %s of %" PRIu64 " %s elements of %u bytes, must be %s of "
		      "%" PRIu64 " %s",
		      index, stored->name, stored->numel, stored->dtype, stored->element_bytes,
		      asked->name, asked->numel, dtype_name(asked->dtype));
		return;
	}
	comparison->damaged = false;
	store_group_check(comparison->group, index, take_damage, comparison);
	if (!comparison->damaged && comparison->expected->patterns[comparison->tensor])
		compare_bytes(comparison, index);
}

static void compare_group(struct comparison *comparison)
{
	const struct store_manifest *manifest = comparison->group->manifest;
	unsigned index = 0;

	if (manifest->generation != comparison->expected->stored) {
		WRONG(comparison, "medium",
		      "group %s has generation %" PRIu64 ", must have %" PRIu64, manifest->group,
		      manifest->generation, comparison->expected->stored);
		return;
	}
	for (unsigned t = 0; t < WORKLOAD_TENSORS_MAX; t++) {
		if (!(comparison->expected->tensors & UINT64_C(1) << t))
			continue;
		comparison->tensor = t;
		if (index < manifest->count)
			compare_tensor(comparison, index);
		index++;
	}
	if (index != manifest->count && comparison->expected->tensors)
		WRONG(comparison, "data", "group %s has %u tensors, must have %u", manifest->group,
		      manifest->count, index);
}

uint64_t reader_store_bytes(const struct reader_job *job)
{
	struct expected expected;
	uint64_t bytes = 0;

	expect(job, &expected);
	for (unsigned t = 0; t < WORKLOAD_TENSORS_MAX; t++)
		if (expected.tensors & UINT64_C(1) << t)
			bytes += tensor_bytes(&job->workload->tensors[t]);
	return bytes;
}

/* No swap-out of it succeeded since it was made or removed: no other process may find one. */
static void compare_nothing(const struct comparison *comparison, int error, const char *text)
{
	if (error == 0)
		WRONG(comparison, "medium",
		      "group %s has generation %" PRIu64
		      ", and no swap-out succeeded since it was made or removed",
		      comparison->group->manifest->group, comparison->group->manifest->generation);
	else if (error != -ENOENT)
		WRONG(comparison, "medium", "%s", text);
}

void reader_store_check(const struct reader_job *job, struct case_result *result)
{
	struct expected expected;
	struct comparison comparison = {.job = job, .expected = &expected, .result = result};
	struct store_group *group = NULL;
	char path[4096], text[STORE_TEXT_BYTES];
	struct store_place place = {.path = path};
	int error;

	expect(job, &expected);
	if (!expected.known || !expected.place)
		return;
	snprintf(path, sizeof(path), "%s/%s", job->work_dir, expected.place);
	error = store_group_open(&place, job->workload->store.group, &group, text);
	comparison.group = group;
	if (!expected.stored) {
		compare_nothing(&comparison, error, text);
		store_group_close(group);
		return;
	}
	if (error < 0) {
		WRONG(&comparison, "medium", "%s", text);
		return;
	}
	/* Direct writes went past the page cache; what lies there from before would prove nothing.
	 */
	if (job->from_medium)
		posix_fadvise(group->fd, 0, 0, POSIX_FADV_DONTNEED);
	compare_group(&comparison);
	store_group_close(group);
}
