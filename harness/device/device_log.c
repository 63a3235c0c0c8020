/* SPDX-License-Identifier: MIT */
/*
 * device_log.c - the memory that both processes see: what became of faults and of requests. The
 * server writes, and counts up only once what it counts is there; its maker reads at any time.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device_internal.h"

#define PLACE(index) ((index) % DEVICE_LOG_PLACES)

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

void device_failed(struct server *server, uint64_t index)
{
	struct device_shared *shared = server->shared;

	if (shared->failure)
		return;
	shared->failed = shared->log[PLACE(index)];
	__atomic_store_n(&shared->failure, shared->failed.error, __ATOMIC_RELEASE);
}

int device_failure(const struct device *device, char *text, size_t text_bytes)
{
	const struct device_shared *shared = device_shared(device);
	int failure = __atomic_load_n(&shared->failure, __ATOMIC_ACQUIRE);

	if (failure)
		device_request_print(&shared->failed, text, text_bytes);
	return failure;
}

uint64_t device_log(struct server *server, const struct device_request *request)
{
	uint64_t index = server->shared->requests;

	server->shared->log[PLACE(index)] = *request;
	count_up(&server->shared->requests);
	return index;
}

void device_log_answered(struct server *server, const struct pending *pending)
{
	struct device_request *request = &server->shared->log[PLACE(pending->logged)];

	if (server->shared->requests - pending->logged <= DEVICE_LOG_PLACES)
		__atomic_store_n(&request->answered, true, __ATOMIC_RELEASE);
}

bool device_request(const struct device *device, uint64_t index, struct device_request *ret_request)
{
	const struct device_shared *shared = device_shared(device);
	uint64_t count = __atomic_load_n(&shared->requests, __ATOMIC_ACQUIRE);
	struct device_request request;

	if (index >= count || count - index > DEVICE_LOG_MAX)
		return false;
	request = shared->log[PLACE(index)];
	/* Its place may have been taken meanwhile. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&shared->requests, __ATOMIC_RELAXED) - index > DEVICE_LOG_MAX)
		return false;
	*ret_request = request;
	return true;
}

uint64_t device_requests(const struct device *device)
{
	return __atomic_load_n(&device_shared(device)->requests, __ATOMIC_ACQUIRE);
}

void device_outcome(const struct device *device, unsigned fault_index,
		    struct device_fault_outcome *ret_outcome)
{
	const struct device_fault_outcome *shared = &device_shared(device)->outcomes[fault_index];

	assert(fault_index < SCHEDULE_FAULTS_MAX);
	ret_outcome->fired = __atomic_load_n(&shared->fired, __ATOMIC_ACQUIRE);
	ret_outcome->injected = __atomic_load_n(&shared->injected, __ATOMIC_ACQUIRE);
	ret_outcome->missed = __atomic_load_n(&shared->missed, __ATOMIC_ACQUIRE);
	ret_outcome->why_missed[0] = '\0';
	if (ret_outcome->missed)
		memcpy(ret_outcome->why_missed, shared->why_missed, sizeof(shared->why_missed));
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
