/* SPDX-License-Identifier: MIT */
/*
 * device_pending.c - requests that were carried out wait for their answer here: for a time, for
 * another request, for ever.
 */
#include <assert.h>
#include <stdlib.h>

#include "device_internal.h"

bool device_is_pending(const struct server *server, enum point_id point, uint64_t number)
{
	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++) {
		const struct pending *pending = &server->pending[i];

		if (pending->used && pending->point == point && pending->number == number)
			return true;
	}
	return false;
}

/* Whoever was held until this request was answered goes on. */
static void let_go_of_waiters(struct server *server, const struct pending *answered)
{
	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++) {
		struct pending *pending = &server->pending[i];

		if (pending->used && pending->hold && pending->hold->until == FAULT_UNTIL_REQUEST &&
		    pending->hold->until_point == answered->point &&
		    pending->hold->until_number == answered->number)
			pending->hold = NULL;
	}
}

/* What was answered is durable, as far as the device promises that. */
static void settle(struct server *server, const struct pending *pending)
{
	if (pending->error)
		return;
	if (pending->request.command == NBD_WRITE)
		medium_answered(server->medium, pending->write, pending->request.fua);
	if (pending->request.command == NBD_FLUSH && !pending->is_lost)
		medium_flush_end(server->medium, pending->flush_begun);
}

static void answer(struct server *server, struct pending *pending)
{
	struct pending answered = *pending;

	pending->used = false;
	server->pending_count--;
	settle(server, &answered);
	device_log_answered(server, &answered);
	if (server->nbd &&
	    nbd_reply(server->nbd, &answered.request, answered.error, answered.answer) < 0) {
		nbd_destroy(server->nbd);
		server->nbd = NULL;
	}
	free(answered.answer);
	free(answered.request.data);
	if (answered.number)
		let_go_of_waiters(server, &answered);
}

static bool is_due(const struct server *server, const struct pending *pending, uint64_t now_ns)
{
	return pending->used && !server->is_dead && !device_is_torn_out(server) &&
	       !pending->stays_in_flight && !pending->hold && pending->due_ns <= now_ns;
}

/* In the order in which they fall due; an answer can let go of others. */
static struct pending *find_due(struct server *server, uint64_t now_ns)
{
	struct pending *first = NULL;

	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++) {
		struct pending *pending = &server->pending[i];

		if (is_due(server, pending, now_ns) &&
		    (!first || pending->due_ns < first->due_ns ||
		     (pending->due_ns == first->due_ns && pending->logged < first->logged)))
			first = pending;
	}
	return first;
}

void device_answer_due(struct server *server, uint64_t now_ns)
{
	struct pending *pending;

	while ((pending = find_due(server, now_ns)) != NULL)
		answer(server, pending);
}

void device_release(struct server *server)
{
	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++) {
		server->pending[i].hold = NULL;
		server->pending[i].due_ns = 0;
	}
	device_release_in_flight(server);
}

void device_release_in_flight(struct server *server)
{
	server->removal = NULL;
	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++)
		server->pending[i].stays_in_flight = false;
}

void device_forget_pending(struct server *server)
{
	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++) {
		if (!server->pending[i].used)
			continue;
		free(server->pending[i].answer);
		free(server->pending[i].request.data);
	}
}

int64_t device_next_due_ns(const struct server *server)
{
	int64_t next = -1;

	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++) {
		const struct pending *pending = &server->pending[i];

		if (is_due(server, pending, INT64_MAX) &&
		    (next < 0 || (int64_t)pending->due_ns < next))
			next = (int64_t)pending->due_ns;
	}
	return next;
}
