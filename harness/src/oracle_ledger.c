/* SPDX-License-Identifier: MIT */
/*
 * oracle_ledger.c - the books of the event log: every block submitted completes and is taken
 * exactly once, nothing is taken that was not submitted, and no memory was touched while in flight.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

struct entry { /* one block */
	uint32_t pid, ctx, number;
	bool used, submitted;
	uint32_t completed, delivered;
	const struct eventlog_record *submit;
};

struct ledger { /* open addressing, at most half full */
	struct entry *entries;
	size_t room, count;
};

static size_t place_of(const struct ledger *ledger, const struct eventlog_record *record)
{
	uint64_t key = record->number * UINT64_C(0x9e3779b97f4a7c15) ^
		       ((uint64_t)record->ctx << 32 | record->pid) * UINT64_C(0xc2b2ae3d27d4eb4f);
	size_t at = (size_t)(key >> 20) & (ledger->room - 1);

	for (;; at = (at + 1) & (ledger->room - 1)) {
		const struct entry *entry = &ledger->entries[at];

		if (!entry->used || (entry->pid == record->pid && entry->ctx == record->ctx &&
				     entry->number == record->number))
			return at;
	}
}

static struct entry *entry_of(struct ledger *ledger, const struct eventlog_record *record)
{
	struct entry *entry = &ledger->entries[place_of(ledger, record)];

	if (!entry->used) {
		*entry = (struct entry){.pid = record->pid,
					.ctx = record->ctx,
					.number = record->number,
					.used = true};
		ledger->count++;
	}
	return entry;
}

static bool is_injected(const struct eventlog_record *record)
{
	return record->flags & EVENTLOG_INJECTED;
}

#define WRONG(result, record, text)                                                                \
	result_add(result, "ledger", CLASS_CONTRACT,                                               \
		   "block %u of context %u (bytes %" PRIu64 " + %" PRIu64 "): " text,              \
		   (record)->number &INT32_MAX, (record)->ctx, (record)->offset, (record)->length)

static void enter(struct ledger *ledger, const struct eventlog_record *record,
		  struct case_result *result)
{
	struct entry *entry = entry_of(ledger, record);

	if (record->type == EVENTLOG_SUBMIT) {
		if (entry->submitted)
			WRONG(result, record, "submitted twice");
		entry->submitted = true;
		entry->submit = record;
	} else if (record->type == EVENTLOG_COMPLETE) {
		if (!entry->submitted || ++entry->completed > 1)
			WRONG(result, record, "completes, and is not in flight");
	} else {
		if (!is_injected(record) && (!entry->completed || entry->delivered))
			WRONG(result, record, "its event is taken, and there is none");
		entry->delivered++;
	}
}

/* A handle that was closed in order has taken every event it had a right to. */
static void close_books(const struct ledger *ledger, struct case_result *result)
{
	const struct eventlog_record *first = NULL;
	unsigned open = 0;

	for (size_t i = 0; i < ledger->room; i++) {
		const struct entry *entry = &ledger->entries[i];

		if (!entry->used || !entry->submitted || entry->delivered)
			continue;
		open++;
		if (!first || entry->submit->time_ns < first->time_ns)
			first = entry->submit;
	}
	if (open)
		result_add(
			result, "ledger", CLASS_CONTRACT,
			"%u blocks were submitted and their events never taken; the first: block "
			"%u of context %u (bytes %" PRIu64 " + %" PRIu64 ")",
			open, first->number & INT32_MAX, first->ctx, first->offset, first->length);
}

static size_t room_for(uint64_t records)
{
	size_t room = 64;

	while (room < records)
		room *= 2;
	return room;
}

void oracle_ledger(const struct observation *seen, struct case_result *result)
{
	uint64_t count = seen->log ? eventlog_count(seen->log) : 0;
	/* A block has three records at best: half full is the most there can be. */
	struct ledger ledger = {.room = room_for(count * 2)};

	ledger.entries = count ? calloc(ledger.room, sizeof(*ledger.entries)) : NULL;
	if (!ledger.entries)
		return;
	for (uint64_t i = seen->log_first; i < count; i++) {
		const struct eventlog_record *record = eventlog_get(seen->log, i);

		if (!record)
			continue;
		if (record->type == EVENTLOG_SUBMIT || record->type == EVENTLOG_COMPLETE ||
		    record->type == EVENTLOG_DELIVER)
			enter(&ledger, record, result);
		else if (record->type == EVENTLOG_CHECK)
			oracle_check(record, result);
	}
	if (seen->outcome->ended && !seen->outcome->aborted)
		close_books(&ledger, result);
	free(ledger.entries);
}
