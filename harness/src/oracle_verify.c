/* SPDX-License-Identifier: MIT */
/*
 * oracle_verify.c - what the library says of a whole store, range by range, against what another
 * process sees in the same bytes, and against the reads that failed on the way. All damage is told,
 * nothing is told of bytes that are right, a read that failed is no wrong checksum, and verifying
 * changes nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "oracle.h"
#include "points.h"
#include "sentence.h"

struct asked { /* one verify of the store */
	const struct observation *seen;
	const struct outcome_verify *verify;
	const struct store_look *look;
	const struct outcome_damage *damages; /* handed out: verify->damages_count */
	struct case_result *result;
};

#define WRONG(asked, failure_class, format, ...)                                                   \
	result_add((asked)->result, "verify", failure_class, "step %u: verify " format,            \
		   (asked)->verify->step + 1, __VA_ARGS__)

static const char *name_of(int error)
{
	return errno_name(error) ? errno_name(error) : "an unknown errno";
}

/* The store is not what it was when it was written, and not how a read of it went. */
static bool is_of_medium(int error)
{
	return error == EBADMSG || error == ENODATA;
}

static bool is_unreadable(const struct store_look *look)
{
	return look->error < 0 && look->error != -ENOENT;
}

/* Did it come to its end? */
static bool is_answered(const struct asked *asked)
{
	return asked->verify->error == 0 || asked->verify->error == EBADMSG;
}

static bool meets(uint64_t begin, uint64_t end, uint64_t other_begin, uint64_t other_end)
{
	return begin < other_end && other_begin < end;
}

static const struct look_tensor *find_tensor(const struct store_look *look, const char *name)
{
	for (unsigned i = 0; i < look->tensors_count; i++)
		if (strcmp(look->tensors[i].name, name) == 0)
			return &look->tensors[i];
	return NULL;
}

/* Does the reader see damage there? */
static bool is_damaged(const struct store_look *look, const struct look_tensor *tensor,
		       uint64_t begin, uint64_t end)
{
	for (unsigned i = 0; i < look->ranges_count; i++) {
		const struct look_range *range = &look->ranges[i];

		if (&look->tensors[range->tensor] == tensor &&
		    meets(begin, end, range->offset, range->offset + range->length))
			return true;
	}
	return false;
}

/* A read of the verify that touched bytes [begin, end) of the file, from *@index of the log on. */
static const struct eventlog_record *next_read(const struct asked *asked, uint64_t *index,
					       uint64_t begin, uint64_t end)
{
	while (*index < asked->look->log_end) {
		const struct eventlog_record *record = eventlog_get(asked->seen->log, (*index)++);

		if (record && record->type == EVENTLOG_DELIVER && record->op == FAULT_OP_READ &&
		    meets(begin, end, record->offset, record->offset + record->length))
			return record;
	}
	return NULL;
}

static bool has_failed(const struct asked *asked, uint64_t begin, uint64_t end, int error)
{
	uint64_t index = asked->look->log_first;
	const struct eventlog_record *record;

	while ((record = next_read(asked, &index, begin, end)))
		if (record->result == -(int64_t)error)
			return true;
	return false;
}

/* The log says that these bytes were not given to the library as they lie there. */
static bool was_given_otherwise(const struct asked *asked, uint64_t begin, uint64_t end)
{
	uint64_t index = asked->look->log_first;
	const struct eventlog_record *record;

	while ((record = next_read(asked, &index, begin, end)))
		if (record->result >= 0 && record->flags & EVENTLOG_INJECTED)
			return true;
	return false;
}

/* Any call of the verify that answered this. */
static bool call_failed(const struct asked *asked, int error)
{
	for (uint64_t i = asked->look->log_first; i < asked->look->log_end; i++) {
		const struct eventlog_record *record = eventlog_get(asked->seen->log, i);

		if (record && (record->type == EVENTLOG_CALL || record->type == EVENTLOG_DELIVER) &&
		    record->result == -(int64_t)error)
			return true;
	}
	return false;
}

static uint64_t chunk_end(const struct asked *asked, uint64_t at, uint64_t end)
{
	uint64_t chunk = asked->look->chunk_bytes;

	return chunk && end - at > chunk - at % chunk ? at + (chunk - at % chunk) : end;
}

/* Is what is said of the bytes [begin, end) of a tensor, no more than a chunk, so? */
static bool is_so(const struct asked *asked, const struct look_tensor *tensor, int error,
		  uint64_t begin, uint64_t end)
{
	uint64_t first = tensor->begin + begin, last = tensor->begin + end;

	if (end == tensor->bytes)
		last = tensor->end; /* whole sectors are read */
	if (!is_of_medium(error))
		return has_failed(asked, first, last, error);
	return is_damaged(asked->look, tensor, begin, end) ||
	       was_given_otherwise(asked, first, last);
}

static void check_range(const struct asked *asked, const struct outcome_damage *damage)
{
	const struct look_tensor *tensor = find_tensor(asked->look, damage->tensor);
	uint64_t at = damage->offset, end = at + damage->length;

	if (!tensor) {
		WRONG(asked, CLASS_CONTRACT, "blames tensor %s, which the store does not have",
		      damage->tensor);
		return;
	}
	if (!damage->length || at >= tensor->bytes || damage->length > tensor->bytes - at) {
		WRONG(asked, CLASS_CONTRACT,
		      "blames bytes %" PRIu64 " + %" PRIu64 " of tensor %s, which has %" PRIu64, at,
		      damage->length, tensor->name, tensor->bytes);
		return;
	}
	while (at < end) {
		uint64_t chunk = chunk_end(asked, at, end);

		if (!is_so(asked, tensor, damage->error, at, chunk)) {
			WRONG(asked, CLASS_CONTRACT,
			      "says %s of tensor %s, bytes %" PRIu64 "-%" PRIu64
			      ", and another process reads them right",
			      name_of(damage->error), tensor->name, at, chunk - 1);
			return;
		}
		at = chunk;
	}
}

/* What is said of a group as a whole. */
static void check_group(const struct asked *asked, const struct outcome_damage *damage)
{
	if (is_unreadable(asked->look) || call_failed(asked, damage->error))
		return;
	WRONG(asked, CLASS_CONTRACT,
	      "says %s of group %s ('%.100s'), and another process finds it as it must be",
	      name_of(damage->error), damage->group, damage->text);
}

/* A group that cannot be known is called by its volume's file, and a store by its place. */
static bool is_of_group(const struct asked *asked, const struct outcome_damage *damage)
{
	char volume[24];

	if (strcmp(damage->group, asked->seen->workload->store.group) == 0)
		return true;
	snprintf(volume, sizeof(volume), "%016" PRIx64 "-", asked->look->volume_sum);
	return !damage->named && (strcmp(damage->group, asked->verify->place) == 0 ||
				  strncmp(damage->group, volume, strlen(volume)) == 0);
}

static void check_sentence(const struct asked *asked, const struct outcome_damage *damage)
{
	if (!is_of_group(asked, damage))
		WRONG(asked, CLASS_CONTRACT, "blames group %s, which is not there", damage->group);
	if (!sentence_names(damage->text, damage->group))
		WRONG(asked, CLASS_CONTRACT, "does not name group %s in its sentence: '%s'",
		      damage->group, damage->text);
	if (!damage->named)
		return;
	if (!sentence_names(damage->text, damage->tensor))
		WRONG(asked, CLASS_CONTRACT, "does not name tensor %s in its sentence: '%s'",
		      damage->tensor, damage->text);
	if (!sentence_says_number(damage->text, damage->offset) ||
	    !sentence_says_number(damage->text, damage->length))
		WRONG(asked, CLASS_CONTRACT,
		      "does not say %" PRIu64 " bytes at %" PRIu64 " in its sentence: '%s'",
		      damage->length, damage->offset, damage->text);
}

static void check_damages(const struct asked *asked)
{
	for (unsigned i = 0; i < asked->verify->damages_count; i++) {
		const struct outcome_damage *damage = &asked->damages[i];

		check_sentence(asked, damage);
		if (damage->named)
			check_range(asked, damage);
		else
			check_group(asked, damage);
	}
}

static void check_answer(const struct asked *asked)
{
	const struct outcome_verify *verify = asked->verify;

	if (verify->error == 0 && verify->damages_count)
		WRONG(asked, CLASS_CONTRACT, "answers success after it told of %u damaged ranges",
		      verify->damages_count);
	if (verify->error == EBADMSG && !verify->damages_count)
		WRONG(asked, CLASS_CONTRACT, "answers %s and tells of nothing that is damaged",
		      name_of(verify->error));
	if (verify->error && !verify->text[0])
		WRONG(asked, CLASS_CONTRACT, "answers %s without a sentence",
		      name_of(verify->error));
}

static const struct outcome_damage *told_of(const struct asked *asked,
					    const struct look_tensor *tensor, uint64_t at)
{
	for (unsigned i = 0; i < asked->verify->damages_count; i++) {
		const struct outcome_damage *damage = &asked->damages[i];

		if (damage->named && strcmp(damage->tensor, tensor->name) == 0 &&
		    at >= damage->offset && at - damage->offset < damage->length)
			return damage;
	}
	return NULL;
}

static const struct outcome_damage *told_of_group(const struct asked *asked)
{
	for (unsigned i = 0; i < asked->verify->damages_count; i++)
		if (!asked->damages[i].named)
			return &asked->damages[i];
	return NULL;
}

static void check_found(const struct asked *asked, const struct look_range *range)
{
	const struct look_tensor *tensor = &asked->look->tensors[range->tensor];
	uint64_t at = range->offset, end = at + range->length;
	const struct outcome_damage *damage;

	while (at < end && (damage = told_of(asked, tensor, at)))
		at = damage->offset + damage->length;
	if (at < end && !was_given_otherwise(asked, tensor->begin + at, tensor->begin + end))
		WRONG(asked, CLASS_CORRUPTION,
		      "does not tell that tensor %s, bytes %" PRIu64 "-%" PRIu64 ", is damaged",
		      tensor->name, at, end - 1);
}

static void check_all_found(const struct asked *asked)
{
	if (is_unreadable(asked->look) && !told_of_group(asked))
		WRONG(asked, CLASS_CORRUPTION, "does not tell that the group cannot be read: %s",
		      asked->look->text);
	for (unsigned i = 0; i < asked->look->ranges_count; i++)
		check_found(asked, &asked->look->ranges[i]);
}

/* Whose bytes a read was of; NULL: records of the store. */
static const struct look_tensor *tensor_at(const struct store_look *look, uint64_t begin,
					   uint64_t end)
{
	for (unsigned i = 0; i < look->tensors_count; i++)
		if (meets(begin, end, look->tensors[i].begin, look->tensors[i].end))
			return &look->tensors[i];
	return NULL;
}

static void check_failed_read(const struct asked *asked, const struct eventlog_record *record)
{
	const struct look_tensor *tensor =
		tensor_at(asked->look, record->offset, record->offset + record->length);
	const struct outcome_damage *damage = told_of_group(asked);
	uint64_t at;

	if (tensor) {
		at = record->offset > tensor->begin ? record->offset - tensor->begin : 0;
		at = at < tensor->bytes ? at : tensor->bytes - 1; /* in its padding */
		damage = told_of(asked, tensor, at);
	}
	if (!damage)
		WRONG(asked, CLASS_CORRUPTION,
		      "does not tell that reading %s, bytes %" PRIu64 " + %" PRIu64
		      " of its volume, failed with %s",
		      tensor ? tensor->name : "its records", record->offset, record->length,
		      name_of((int)-record->result));
	else if (is_of_medium(damage->error))
		WRONG(asked, CLASS_CONTRACT, "says %s of %s, of which a read failed with %s",
		      name_of(damage->error), tensor ? tensor->name : "its records",
		      name_of((int)-record->result));
}

static void check_failed_reads(const struct asked *asked)
{
	uint64_t index = asked->look->log_first;
	const struct eventlog_record *record;

	while ((record = next_read(asked, &index, 0, UINT64_MAX)))
		if (record->result < 0)
			check_failed_read(asked, record);
}

static void check_verify(const struct asked *asked)
{
	if (asked->look->cut || asked->look->error == -ENOMEM) {
		WRONG(asked, CLASS_CRASH, "cannot be judged: %s",
		      asked->look->cut ? "more is damaged than the reader takes down"
				       : "the reader has no memory");
		return;
	}
	if (asked->look->sum_before != asked->look->sum_after)
		WRONG(asked, CLASS_CORRUPTION, "changes files of the store in %s",
		      asked->verify->place);
	check_answer(asked);
	check_damages(asked);
	if (!is_answered(asked))
		return;
	check_all_found(asked);
	check_failed_reads(asked);
}

void oracle_verify(const struct observation *seen, struct case_result *result)
{
	const struct outcome *outcome = seen->outcome;

	for (unsigned i = 0; seen->looks && seen->log && i < seen->looks->count; i++) {
		const struct store_look *look = &seen->looks->items[i];
		struct asked asked = {.seen = seen, .look = look, .result = result};

		if (look->verify >= outcome->verifies_count)
			continue; /* it could not be carried out, which is told */
		asked.verify = &outcome->verifies[look->verify];
		asked.damages = outcome->damages + asked.verify->damages_first;
		check_verify(&asked);
	}
}
