/* SPDX-License-Identifier: MIT */
/*
 * eventlog_hash.c - what happened as one number, for "the same again?" and "the same there?".
 *
 * Records are sorted into streams whose order means something: a request, a context, a thread. Each
 * stream is hashed from its first record to its last; the sum of all streams does not depend on how
 * they were interleaved. Runs in the reader only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eventlog.h"
#include "points.h"

/* FNV-1a, 64 bits. */
#define HASH_BASIS 0xcbf29ce484222325ull
#define HASH_PRIME 0x00000100000001b3ull

#define STREAMS_FEW 64 /* a power of two */

/* Whose records these are. They are kept apart by it, yet it is no part of their hash: processes
 * and threads have other numbers each time. */
struct stream_key {
	uint32_t pid, tid, ctx, request;
};

struct stream {
	struct stream_key key;
	bool used;
	uint64_t hash;
};

/* A hash table with open addressing, at most half full. */
struct streams {
	struct stream *table;
	size_t size, used;
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * HASH_PRIME;
	return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	return hash_bytes(hash, &number, sizeof(number));
}

static struct stream *stream_slot(const struct streams *streams, const struct stream_key *key)
{
	size_t at = hash_bytes(HASH_BASIS, key, sizeof(*key)) & (streams->size - 1);

	while (streams->table[at].used && memcmp(&streams->table[at].key, key, sizeof(*key)) != 0)
		at = (at + 1) & (streams->size - 1);
	return &streams->table[at];
}

static int streams_grow(struct streams *streams)
{
	struct streams bigger = {.size = streams->size ? streams->size * 2 : STREAMS_FEW,
				 .used = streams->used};

	bigger.table = calloc(bigger.size, sizeof(*bigger.table));
	if (!bigger.table)
		return -ENOMEM;
	for (size_t i = 0; i < streams->size; i++)
		if (streams->table[i].used)
			*stream_slot(&bigger, &streams->table[i].key) = streams->table[i];
	free(streams->table);
	*streams = bigger;
	return 0;
}

/* NULL: no memory. */
static struct stream *stream_get(struct streams *streams, const struct stream_key *key)
{
	struct stream *stream;

	if (streams->used * 2 >= streams->size && streams_grow(streams) < 0)
		return NULL;
	stream = stream_slot(streams, key);
	if (!stream->used) {
		*stream = (struct stream){.key = *key, .used = true, .hash = HASH_BASIS};
		streams->used++;
	}
	return stream;
}

static bool is_of_request(const struct eventlog_record *record)
{
	switch ((enum eventlog_type)record->type) {
	case EVENTLOG_SUBMIT:
	case EVENTLOG_COMPLETE:
	case EVENTLOG_DELIVER:
		return true;
	case EVENTLOG_INJECT:
	case EVENTLOG_MISSED:
		return record->point == POINT_io_event;
	case EVENTLOG_NONE:
	case EVENTLOG_ARM:
	case EVENTLOG_DISARM:
	case EVENTLOG_CALL:
	case EVENTLOG_CHECK:
	case EVENTLOG_FILE:
	case EVENTLOG_NOTE:
	case EVENTLOG_HANG:
		return false;
	}
	return false;
}

/* Addresses and descriptors are results, too. What matters of them is that there was one. */
static int64_t plain_result(const struct eventlog_record *record)
{
	bool is_call = record->type == EVENTLOG_CALL;

	if (record->result < 0 || !is_call)
		return record->result;
	return record->point == POINT_mmap || record->point == POINT_open ? 0 : record->result;
}

/* Of a file's number and path, and of notes, only that they were there is the same each time. */
static bool text_counts(const struct eventlog_record *record)
{
	return record->type == EVENTLOG_INJECT || record->type == EVENTLOG_MISSED ||
	       record->type == EVENTLOG_CHECK;
}

static uint64_t hash_record(uint64_t hash, const struct eventlog_record *record)
{
	hash = hash_number(hash, record->type);
	hash = hash_number(hash, record->flags);
	hash = hash_number(hash, record->point);
	hash = hash_number(hash, record->op);
	hash = hash_number(hash, record->fault);
	hash = hash_number(hash, record->offset);
	hash = hash_number(hash, record->length);
	hash = hash_number(hash, (uint64_t)plain_result(record));
	/* Calls are numbered across contexts and threads, in the order of their interleaving. */
	if (is_of_request(record))
		hash = hash_number(hash, record->number);
	if (text_counts(record))
		hash = hash_bytes(hash, record->text, strlen(record->text));
	return hash;
}

static int add(struct streams *streams, const struct stream_key *key,
	       const struct eventlog_record *record)
{
	struct stream *stream = stream_get(streams, key);

	if (!stream)
		return -ENOMEM;
	stream->hash = hash_record(stream->hash, record);
	return 0;
}

static int add_to_streams(struct streams *streams, enum eventlog_scope scope,
			  const struct eventlog_record *record)
{
	struct stream_key key = {.pid = record->pid, .ctx = record->ctx};
	int result = 0;

	if (is_of_request(record)) {
		key.request = record->number;
		result = add(streams, &key, record);
		key.request = 0;
	}
	if (result < 0 || scope == EVENTLOG_SCOPE_REQUESTS)
		return result;
	if (record->ctx == 0)
		key.tid = record->tid;
	return add(streams, &key, record);
}

/* Mixed once more before they are added: equal streams must not cancel out or line up. */
static uint64_t sum(const struct streams *streams)
{
	uint64_t total = HASH_BASIS;

	for (size_t i = 0; i < streams->size; i++)
		if (streams->table[i].used)
			total += hash_number(HASH_BASIS, streams->table[i].hash);
	return total;
}

int eventlog_hash(struct eventlog *log, enum eventlog_scope scope, uint64_t *ret_hash)
{
	struct streams streams = {0};
	uint64_t count = eventlog_count(log);
	int result = 0;

	for (uint64_t i = 0; i < count && result == 0; i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		if (record)
			result = add_to_streams(&streams, scope, record);
	}
	if (result == 0)
		*ret_hash = sum(&streams);
	free(streams.table);
	return result;
}
