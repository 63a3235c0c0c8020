/* SPDX-License-Identifier: MIT */
/*
 * oracle_swap.c - what the library says of each swap agrees with itself and with what was asked, as
 * oracle_contract.c has it for requests: the cause with the errno, the range with the tensor, and a
 * sentence that a person can act on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle.h"
#include "points.h"
#include "sentence.h"

struct asked { /* one swap, where it is told of */
	const struct observation *seen;
	const struct outcome_request *swap;
	struct case_result *result;
};

#define WRONG(asked, format, ...)                                                                  \
	result_add((asked)->result, "contract", CLASS_CONTRACT,                                    \
		   "step %u: %s of group %s: " format, (asked)->swap->step + 1,                    \
		   (asked)->swap->write ? "swap-out" : "swap-in",                                  \
		   (asked)->seen->workload->store.group, __VA_ARGS__)

/* Errnos that a cause can have, see swapio/swap.h. */
static const struct {
	const char *cause;
	int errors[4];
	bool names_tensor; /* always */
} causes[] = {
	{"missing", {ENOENT}, false},
	{"mismatch", {EINVAL}, false},
	{"generation", {ESTALE}, false},
	{"checksum", {EBADMSG}, true},
	{"manifest", {EBADMSG, EXDEV, ENOTSUP}, false},
	{"io", {0}, false},
	{"space", {ENOSPC, EDQUOT, EFBIG}, false},
	{"sync", {0}, false},
	{"copy", {0}, true},
	{"cancelled", {ECANCELED}, false},
};

static bool error_fits(size_t cause, int error)
{
	const int *errors = causes[cause].errors;

	if (!errors[0])
		return error != 0;
	for (unsigned i = 0; i < 4 && errors[i]; i++)
		if (errors[i] == error)
			return true;
	return false;
}

static void check_cause(const struct asked *asked)
{
	const struct outcome_request *swap = asked->swap;

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		if (strcmp(causes[i].cause, swap->cause) != 0)
			continue;
		if (!error_fits(i, swap->error))
			WRONG(asked, "fails with %s and cause %s", strerror(swap->error),
			      swap->cause);
		if (causes[i].names_tensor && swap->unnamed)
			WRONG(asked, "fails with cause %s and names no tensor", swap->cause);
		return;
	}
	WRONG(asked, "fails with %s and cause '%s'", strerror(swap->error), swap->cause);
}

static void check_range(const struct asked *asked)
{
	const struct outcome_request *swap = asked->swap;
	const struct tensor *tensor = &asked->seen->workload->tensors[swap->tensor];
	uint64_t bytes = tensor_bytes(tensor);

	if (strcmp(swap->cause, "checksum") == 0 && swap->fail_length == 0)
		WRONG(asked, "tensor %s fails with cause checksum, and no range", tensor->name);
	if (!swap->unnamed && swap->fail_length &&
	    (swap->fail_offset >= bytes || swap->fail_length > bytes - swap->fail_offset))
		WRONG(asked,
		      "fails in bytes %" PRIu64 " + %" PRIu64 " of tensor %s, which has %" PRIu64,
		      swap->fail_offset, swap->fail_length, tensor->name, bytes);
}

/* How the sentence of a swap-out that failed has to end. */
static void words_of_what_is_stored(const struct outcome_request *swap, char *words, size_t size)
{
	if (swap->stored)
		snprintf(words, size, "; generation %" PRIu64 " is still stored", swap->stored);
	else
		snprintf(words, size, "; nothing is stored");
}

static bool ends_with(const char *text, const char *words)
{
	size_t length = strlen(text), end = strlen(words);

	return length >= end && strcmp(text + length - end, words) == 0;
}

/* Neither the commit nor its being undone came to an end: then it is not known which of the two a
 * later process finds, and only that may be said. */
static bool ends_in_doubt(const char *text, const char *words)
{
	char doubt[160];

	snprintf(doubt, sizeof(doubt), "%s, or the one that failed: it could not be taken back",
		 words);
	return ends_with(text, doubt);
}

/* Who reads it must know what failed, and after a swap-out what is still there. */
static void check_sentence(const struct asked *asked)
{
	const struct outcome_request *swap = asked->swap;
	const struct workload *workload = asked->seen->workload;
	char words[64];

	if (!sentence_names(swap->text, workload->store.group))
		WRONG(asked, "its sentence does not name the group: '%s'", swap->text);
	if (!swap->unnamed && !sentence_names(swap->text, workload->tensors[swap->tensor].name))
		WRONG(asked, "its sentence does not name tensor %s: '%s'",
		      workload->tensors[swap->tensor].name, swap->text);
	if (!swap->write || strcmp(swap->cause, "missing") == 0)
		return;
	words_of_what_is_stored(swap, words, sizeof(words));
	if (!ends_with(swap->text, words) && !ends_in_doubt(swap->text, words))
		WRONG(asked, "its sentence does not end with '%s': '%s'", words, swap->text);
}

static void check_success(const struct asked *asked)
{
	const struct outcome_request *swap = asked->swap;

	if (swap->bytes != swap->length)
		WRONG(asked, "success with %" PRIu64 " of %" PRIu64 " bytes", swap->bytes,
		      swap->length);
	if (swap->staged > swap->bytes)
		WRONG(asked, "%" PRIu64 " of %" PRIu64 " bytes went through the pool", swap->staged,
		      swap->bytes);
	if (strcmp(swap->cause, "none") != 0 || swap->text[0])
		WRONG(asked, "success with cause %s: '%s'", swap->cause, swap->text);
	if (swap->stored == 0)
		WRONG(asked, "success with generation %d", 0);
}

static void check_swap(const struct asked *asked)
{
	const struct outcome_request *swap = asked->swap;

	if (swap->stage == STAGE_SUBMIT && (!swap->text[0] || !errno_name(swap->error))) {
		WRONG(asked, "refused with %s: '%s'", strerror(swap->error), swap->text);
	} else if (swap->stage == STAGE_DONE && !swap->error) {
		check_success(asked);
	} else if (swap->stage == STAGE_DONE) {
		check_cause(asked);
		check_range(asked);
		check_sentence(asked);
	}
}

/* Pattern @generation was begun, and no answer told what became of it. */
static bool is_untold(const struct outcome *outcome, uint32_t generation)
{
	bool begun = false;

	for (unsigned i = 0; i < outcome->writes_count; i++)
		begun |= outcome->writes[i].generation == generation && !outcome->writes[i].gone;
	for (unsigned i = 0; begun && i < outcome->requests_count; i++)
		if (outcome->requests[i].swap && outcome->requests[i].write &&
		    outcome->requests[i].generation == generation)
			return false;
	return begun;
}

/* Swap-outs between two that an earlier process began and did not live to tell. */
static unsigned count_untold(const struct asked *asked, const struct outcome_request *before)
{
	const struct workload *workload = asked->seen->workload;
	unsigned untold = 0;

	if (workload_image_of(workload, before->step) ==
	    workload_image_of(workload, asked->swap->step))
		return 0;
	for (uint32_t g = before->generation + 1; g < asked->swap->generation; g++)
		untold += is_untold(asked->seen->outcome, g);
	return untold;
}

/* A step that changes what lies there stands between the two, the rounds of a repeat included. */
static bool store_changed(const struct workload *workload, unsigned before, unsigned step)
{
	bool rounds = step <= before;

	for (unsigned i = 0; i < workload->steps_count; i++) {
		enum step_kind kind = workload->steps[i].kind;
		bool between = i > before && i < step;

		if ((between || rounds) &&
		    (kind == STEP_COPY_VOLUME || kind == STEP_REMOVE || kind == STEP_CORRUPT ||
		     kind == STEP_TRUNCATE || kind == STEP_PREPARE))
			return true;
	}
	return false;
}

/* What became of the group between two swap-outs. */
enum fate { FATE_KEPT, FATE_REMOVED, FATE_UNKNOWN };

/* A removal that failed, or of which its process did not live to tell, may have come to its end. */
static enum fate fate_between(const struct asked *asked, const struct outcome_request *before)
{
	const struct outcome *outcome = asked->seen->outcome;
	enum fate fate = FATE_KEPT;

	for (unsigned i = 0; i < outcome->writes_count; i++)
		if (outcome->writes[i].gone && outcome->writes[i].generation > before->generation &&
		    outcome->writes[i].generation < asked->swap->generation)
			fate = FATE_UNKNOWN;
	for (unsigned i = 0; i < outcome->removals_count; i++) {
		const struct outcome_removal *removal = &outcome->removals[i];

		if (removal->requests_before > before - outcome->requests &&
		    removal->requests_before <= asked->swap - outcome->requests &&
		    strcmp(removal->place, asked->swap->place) == 0)
			fate = removal->error ? FATE_UNKNOWN : FATE_REMOVED;
	}
	return fate;
}

/* Each swap-out that succeeds is one generation more than the last one in its place, and than what
 * nobody told of; a group that was removed begins anew. */
static void check_order(const struct asked *asked, const struct outcome_request *before)
{
	uint64_t last = before->stored, stored = asked->swap->stored;
	enum fate fate = fate_between(asked, before);
	unsigned untold = count_untold(asked, before);

	if (strcmp(before->place, asked->swap->place) != 0 ||
	    store_changed(asked->seen->workload, before->step, asked->swap->step))
		return;
	if (fate != FATE_KEPT && stored >= 1 && stored <= 1 + untold)
		return;
	if (fate == FATE_REMOVED)
		WRONG(asked, "commits generation %" PRIu64 " of a group that was removed", stored);
	else if (stored <= last || stored > last + 1 + untold)
		WRONG(asked, "commits generation %" PRIu64 " after %" PRIu64, stored, last);
}

void oracle_swap(const struct observation *seen, struct case_result *result)
{
	const struct outcome *outcome = seen->outcome;
	const struct outcome_request *before = NULL;

	for (unsigned i = 0; i < outcome->requests_count; i++) {
		struct asked asked = {seen, &outcome->requests[i], result};

		if (!asked.swap->swap)
			continue;
		check_swap(&asked);
		if (!outcome_is_commit(asked.swap))
			continue;
		if (before)
			check_order(&asked, before);
		before = asked.swap;
	}
}
