/* SPDX-License-Identifier: MIT */
/*
 * device_log.c - the memory that both processes see: what became of faults and of requests. The
 * server writes, and counts up only once what it counts is there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device_internal.h"

#define SLOT(index) ((index) % DEVICE_LOG_MAX)

static void count_up(uint64_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELEASE);
}

static struct device_fault_outcome *outcome_of(struct server *server, const struct fault *fault)
{
	return &server->shared->outcomes[device_fault_index(server, fault)];
}

int device_fault_index(const struct server *server, const struct fault *fault)
{
	return fault ? (int)(fault - server->schedule->faults) : -1;
}

void device_fired(struct server *server, const struct fault *fault)
{
	count_up(&outcome_of(server, fault)->fired);
}

void device_injected(struct server *server, const struct fault *fault)
{
	count_up(&outcome_of(server, fault)->injected);
}

void device_missed(struct server *server, const struct fault *fault, const char *why)
{
	struct device_fault_outcome *outcome = outcome_of(server, fault);

	/* The first reason stays: who reads it after the count never sees it change. */
	if (!outcome->missed)
		snprintf(outcome->why_missed, sizeof(outcome->why_missed), "%s", why);
	count_up(&outcome->missed);
}

uint64_t device_log(struct server *server, const struct device_request *request)
{
	uint64_t index = server->shared->requests;

	server->shared->log[SLOT(index)] = *request;
	count_up(&server->shared->requests);
	return index;
}

void device_log_answered(struct server *server, const struct pending *pending)
{
	struct device_request *request = &server->shared->log[SLOT(pending->logged)];

	if (server->shared->requests - pending->logged <= DEVICE_LOG_MAX)
		__atomic_store_n(&request->answered, true, __ATOMIC_RELAXED);
}

int device_request_print(const struct device_request *request, char *text, size_t text_bytes)
{
	char number[32] = "", fault[32] = "", range[64] = "", error[32] = "";

	if (request->number)
		snprintf(number, sizeof(number), "#%" PRIu64, request->number);
	if (request->length)
		snprintf(range, sizeof(range), " %" PRIu64 "+%" PRIu32, request->offset,
			 request->length);
	if (request->error)
		snprintf(error, sizeof(error), ": %s", errno_name(request->error));
	if (request->fault >= 0)
		snprintf(fault, sizeof(fault), " (fault %d)", request->fault + 1);
	return snprintf(text, text_bytes, "%s%s%s%s%s%s%s",
			point_info((enum point_id)request->point)->name, number, range,
			request->fua ? " fua" : "", error, fault,
			request->answered ? "" : ", not answered");
}
