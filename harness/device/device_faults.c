/* SPDX-License-Identifier: MIT */
/*
 * device_faults.c - a request meets the schedule. Of the faults that fire on it one says how the
 * transfer goes and one holds the answer, the first of each; limits add up.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "device_internal.h"

enum part { PART_TRANSFER, PART_HOLD, PART_LIMIT, PART_REMOVAL, PART_POWER };

/* What the fault is about. */
static enum part part_of(const struct fault *fault)
{
	switch ((unsigned)fault->kind) {
	case KIND_nvme_read_hold:
	case KIND_nvme_write_hold:
	case KIND_nvme_flush_hold:
		return PART_HOLD;
	case KIND_nvme_read_limit:
	case KIND_nvme_write_limit:
	case KIND_nvme_read_iops:
	case KIND_nvme_write_iops:
		return PART_LIMIT;
	case KIND_nvme_read_remove:
	case KIND_nvme_write_remove:
	case KIND_nvme_flush_remove:
		return PART_REMOVAL;
	case KIND_nvme_read_powercut:
	case KIND_nvme_write_powercut:
	case KIND_nvme_flush_powercut:
		return PART_POWER;
	}
	return PART_TRANSFER;
}

static enum point_id point_of(enum nbd_command command)
{
	static const enum point_id points[DEVICE_POINTS] = {
		[NBD_READ] = POINT_nvme_read,
		[NBD_WRITE] = POINT_nvme_write,
		[NBD_FLUSH] = POINT_nvme_flush,
	};

	return points[command];
}

/* The first fault of a part, the others of it are missed. */
static const struct fault *first_of(struct server *server, const struct firing *firing,
				    enum part part)
{
	const struct fault *first = NULL;

	for (unsigned i = 0; i < firing->count; i++) {
		if (part_of(firing->faults[i]) != part)
			continue;
		if (first)
			device_missed(server, firing->faults[i], "an earlier fault rules");
		else
			first = firing->faults[i];
	}
	return first;
}

static void match(struct server *server, struct pending *pending, struct firing *ret_firing)
{
	const struct nbd_request *request = &pending->request;
	bool moves = request->command != NBD_FLUSH;
	struct fault_call call = {
		.point = pending->point,
		.fd = -1,
		.offset = moves ? request->offset : SCHEDULE_ANY,
		.length = moves ? request->length : SCHEDULE_ANY,
		.depth = server->pending_count, /* this one among them */
		.ctx = SCHEDULE_ANY,
		.thread = SCHEDULE_ANY,
		.proc = SCHEDULE_ANY,
	};

	ret_firing->count = 0;
	if (!server->armed)
		return;
	pending->number = ++server->counts[request->command];
	schedule_match(server->schedule, &call, ret_firing);
	for (unsigned i = 0; i < ret_firing->count; i++)
		device_fired(server, ret_firing->faults[i]);
}

static void hold(struct server *server, struct pending *pending, const struct fault *fault,
		 uint64_t now_ns)
{
	if (!fault)
		return;
	if (fault->until == FAULT_UNTIL_REQUEST &&
	    fault->until_number <= server->counts[fault->until_point - POINT_nvme_read] &&
	    !device_is_pending(server, fault->until_point, fault->until_number)) {
		device_missed(server, fault, "what it waits for was answered before");
		return;
	}
	device_injected(server, fault);
	if (fault->until == FAULT_UNTIL_TIME)
		pending->due_ns = now_ns + fault->until_number * 1000000u;
	else
		pending->hold = fault;
}

static bool is_iops(const struct fault *fault)
{
	return fault->kind == KIND_nvme_read_iops || fault->kind == KIND_nvme_write_iops;
}

/* An answer is late by what the lane of each limit takes. */
static void limit(struct server *server, struct pending *pending, const struct firing *firing,
		  uint64_t now_ns)
{
	for (unsigned i = 0; i < firing->count; i++) {
		const struct fault *fault = firing->faults[i];
		uint64_t amount = is_iops(fault) ? 1 : pending->request.length, due_ns;

		if (part_of(fault) != PART_LIMIT)
			continue;
		due_ns = pace_take(&server->paces[device_fault_index(server, fault)], now_ns,
				   amount, (uint64_t)fault->value);
		if (due_ns > pending->due_ns)
			pending->due_ns = due_ns;
		device_injected(server, fault);
	}
}

static void tell(struct server *server, enum device_event_kind kind, const struct fault *fault,
		 const struct pending *pending)
{
	struct device_event event = {kind, (unsigned)device_fault_index(server, fault),
				     pending->point, pending->number};

	send(server->events, &event, sizeof(event), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The power goes before anything of the request is done: so no other fault takes effect on it. */
static void cut_power(struct server *server, struct pending *pending, const struct fault *fault,
		      const struct firing *firing)
{
	for (unsigned i = 0; i < firing->count; i++)
		if (part_of(firing->faults[i]) != PART_POWER)
			device_missed(server, firing->faults[i], "the power went");
	if (medium_cut(server->medium, (uint64_t)fault->value) == 0)
		device_injected(server, fault);
	else
		device_missed(server, fault, "what was lost could not be taken back");
	server->is_dead = true;
	free(pending->request.data);
	pending->used = false;
	server->pending_count--;
	tell(server, DEVICE_POWER_CUT, fault, pending);
}

static void log_request(struct server *server, struct pending *pending, const struct fault *fault)
{
	const struct nbd_request *request = &pending->request;
	struct device_request logged = {
		.number = pending->number,
		.offset = request->offset,
		.length = request->length,
		.point = (uint8_t)pending->point,
		.fua = request->fua,
		.fault = (int16_t)device_fault_index(server, fault),
		.error = pending->error,
	};

	pending->logged = device_log(server, &logged);
}

static struct pending *find_place(struct server *server)
{
	unsigned i = 0;

	/* The connection hands out no more than there are places. */
	while (server->pending[i].used)
		i++;
	return &server->pending[i];
}

bool device_is_torn_out(const struct server *server)
{
	return server->removal && server->removal->value == FAULT_REMOVAL_SURPRISE;
}

/* It counts as having taken effect once the device is out. */
static void remove_device(struct server *server, struct pending *pending,
			  const struct fault *removal)
{
	if (!removal)
		return;
	if (server->removal) {
		device_missed(server, removal, "the device is on its way out already");
		return;
	}
	server->removal = removal;
	pending->stays_in_flight = true;
	tell(server, DEVICE_REMOVAL, removal, pending);
}

/* Nobody is there any more: QEMU wants an answer, the guest hears none. */
static void refuse(struct server *server, struct pending *pending)
{
	free(pending->request.data);
	pending->request.data = NULL;
	pending->error = EIO;
	log_request(server, pending, NULL);
}

void device_take(struct server *server, const struct nbd_request *request, uint64_t now_ns)
{
	struct pending *pending = find_place(server);
	const struct fault *transfer, *held, *power, *removal;
	struct firing firing;
	bool whole;

	*pending = (struct pending){
		.used = true, .request = *request, .point = point_of(request->command)};
	server->pending_count++;
	if (server->is_out) {
		refuse(server, pending);
		return;
	}
	match(server, pending, &firing);
	power = first_of(server, &firing, PART_POWER);
	if (power) {
		log_request(server, pending, power);
		cut_power(server, pending, power, &firing);
		return;
	}
	transfer = first_of(server, &firing, PART_TRANSFER);
	removal = first_of(server, &firing, PART_REMOVAL);
	held = first_of(server, &firing, PART_HOLD);
	whole = device_transfer(server, pending, transfer);
	log_request(server, pending, transfer ? transfer : removal ? removal : held);
	if (!whole)
		device_failed(server, pending->logged);
	hold(server, pending, held, now_ns);
	limit(server, pending, &firing, now_ns);
	remove_device(server, pending, removal);
}
