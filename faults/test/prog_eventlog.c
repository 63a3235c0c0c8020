/* SPDX-License-Identifier: MIT */
/*
 * prog_eventlog.c - an event log as text, for shell tests.
 *
 *   prog_eventlog print FILE     every record, a line each, without time, address and kernel's ids
 *   prog_eventlog requests FILE  what became of each request: the same on targets that agree
 *   prog_eventlog hash FILE      of everything, in order
 *   prog_eventlog header FILE    handshake, back end, which waits were made
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventlog.h"
#include "points.h"

static const char *const op_names[] = {"-", "read", "write"};

static bool is_request(const struct eventlog_record *record)
{
	return record->type == EVENTLOG_SUBMIT || record->type == EVENTLOG_COMPLETE ||
	       record->type == EVENTLOG_DELIVER;
}

static void print_record(const struct eventlog_record *record)
{
	const char *point =
		record->point < POINT_COUNT ? point_info((enum point_id)record->point)->name : "?";

	printf("%s %s ctx=%" PRIu32 " #%" PRIu32 " op=%s offset=%" PRIu64 " length=%" PRIu64
	       " result=%" PRId64 " fault=%" PRIu32 " tid=%" PRIu32 "%s%s%s\n",
	       eventlog_type_name((enum eventlog_type)record->type), point, record->ctx,
	       record->number, record->op < 3 ? op_names[record->op] : "?", record->offset,
	       record->length, record->result, record->fault, record->tid,
	       record->flags & EVENTLOG_INJECTED ? " injected" : "", record->text[0] ? " " : "",
	       record->text);
}

static void print_all(struct eventlog *log, bool requests_only)
{
	for (uint64_t i = 0; i < eventlog_count(log); i++) {
		const struct eventlog_record *record = eventlog_get(log, i);

		if (record && (!requests_only || is_request(record) || record->fault))
			print_record(record);
	}
}

static int print_hash(struct eventlog *log)
{
	uint64_t hash;

	if (eventlog_hash(log, EVENTLOG_SCOPE_ORDER, &hash) < 0)
		return 1;
	printf("%016" PRIx64 "\n", hash);
	return 0;
}

static void print_header(const struct eventlog_header *header)
{
	printf("handshake=%d backend=%" PRIu32 " getevents=%" PRIu32 " pgetevents=%" PRIu32
	       " uring=%" PRIu32 " overflow=%" PRIu32 "\n",
	       header->handshake != 0, header->backend, header->waits_getevents,
	       header->waits_pgetevents, header->uring, header->overflow);
}

static int run(const char *what, struct eventlog *log)
{
	if (!strcmp(what, "hash"))
		return print_hash(log);
	if (!strcmp(what, "header"))
		print_header(eventlog_header(log));
	else if (!strcmp(what, "print") || !strcmp(what, "requests"))
		print_all(log, what[0] == 'r');
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	struct eventlog *log;
	int fd, err;

	if (argc != 3)
		return 2;
	fd = open(argv[2], O_RDWR | O_CLOEXEC);
	err = fd < 0 ? -errno : eventlog_open(fd, &log);
	if (err < 0) {
		fprintf(stderr, "%s: %s\n", argv[2], strerror(-err));
		return 1;
	}
	err = run(argv[1], log);
	eventlog_close(log);
	return err;
}
