/* SPDX-License-Identifier: MIT */
/*
 * durable_journal.c - records one after another in the order of the effects. Those that became
 * durable are squeezed out when there is no more room.
 */
#include <string.h>

#include "durable_internal.h"

static struct durable_record *record_at(uint64_t at)
{
	return at < durable_journal->used_bytes
		       ? (struct durable_record *)(void *)(durable_journal->records + at)
		       : NULL;
}

static uint64_t place_of(const struct durable_record *record)
{
	return (uint64_t)((const char *)record - durable_journal->records);
}

static struct durable_record *live_from(uint64_t at)
{
	struct durable_record *record = record_at(at);

	while (record && !record->live)
		record = record_at(place_of(record) + record->bytes);
	return record;
}

struct durable_record *durable_first(void)
{
	return live_from(0);
}

struct durable_record *durable_next(struct durable_record *record)
{
	return live_from(place_of(record) + record->bytes);
}

static void squeeze(void)
{
	uint64_t kept = 0, next;

	for (struct durable_record *record = durable_first(); record; record = live_from(next)) {
		uint64_t bytes = record->bytes;

		next = place_of(record) + bytes;
		memmove(durable_journal->records + kept, record, bytes);
		kept += bytes;
	}
	durable_journal->used_bytes = kept;
	durable_files_forget();
}

static bool make_room(uint64_t bytes)
{
	if (durable_journal->used_bytes + bytes <= DURABLE_RECORDS_BYTES)
		return true;
	squeeze();
	return durable_journal->used_bytes + bytes <= DURABLE_RECORDS_BYTES;
}

struct durable_record *durable_append(enum durable_kind kind, uint32_t file, size_t payload_bytes)
{
	struct durable_record *record;
	uint64_t bytes = (sizeof(*record) + payload_bytes + 7) & ~(uint64_t)7;

	if (durable_journal->broken[0])
		return NULL;
	if (payload_bytes > DURABLE_RECORDS_BYTES || !make_room(bytes)) {
		durable_give_up("too much is not durable to be kept");
		return NULL;
	}
	record = (struct durable_record *)(void *)(durable_journal->records +
						   durable_journal->used_bytes);
	memset(record, 0, sizeof(*record));
	record->bytes = bytes;
	record->kind = (uint8_t)kind;
	record->live = true;
	record->file = file;
	durable_journal->used_bytes += bytes;
	return record;
}
