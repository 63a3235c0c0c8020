/* SPDX-License-Identifier: MIT */
/*
 * device_internal.h - what the parts of a device share: the memory that both processes see, and the
 * state of the process that serves.
 *
 * Threads: the server writes the shared memory, anybody reads it; the rest is the server's.
 */
#ifndef DEVICE_INTERNAL_H
#define DEVICE_INTERNAL_H

#include <sys/types.h>

#include "device.h"
#include "medium.h"
#include "nbd.h"
#include "pace.h"

#define DEVICE_POINTS 3 /* nvme.read, nvme.write, nvme.flush: in the order of enum nbd_command */

/* One place more than are promised: while it is written, none of those is. */
#define DEVICE_LOG_PLACES (DEVICE_LOG_MAX + 1)

struct device_shared {
	struct device_fault_outcome outcomes[SCHEDULE_FAULTS_MAX];
	/* Of the device itself, the first one. */
	struct device_request failed;
	int failure;	   /* errno, set last */
	uint64_t requests; /* in the log so far */
	struct device_request log[DEVICE_LOG_PLACES];
};

/* A request that is carried out and not answered yet. */
struct pending {
	bool used;
	struct nbd_request request;
	enum point_id point;
	uint64_t number; /* at its point, 0: came before arming */
	uint64_t logged; /* its index in the log */
	int error;
	uint8_t *answer;	  /* of a read */
	uint64_t write;		  /* of the medium */
	uint64_t flush_begun;	  /* of the medium */
	bool is_lost;		  /* a flush that makes nothing durable */
	uint64_t due_ns;	  /* 0: at once */
	const struct fault *hold; /* NULL: not held, or no longer */
	bool stays_in_flight;	  /* until the device is out */
};

/* The server's process. */
struct server {
	struct device_options options;
	struct schedule *schedule;
	struct device_shared *shared;
	struct medium *medium;
	struct nbd *nbd; /* NULL: the client is gone */
	int control, events;
	bool armed;
	bool is_dead; /* without power: nothing is carried out or answered any more */
	const struct fault *removal; /* it is to be pulled out, and is not yet */
	bool is_out;		     /* by surprise: whatever comes fails */
	uint64_t counts[DEVICE_POINTS];
	struct pace paces[SCHEDULE_FAULTS_MAX];
	struct pending pending[NBD_REQUESTS_MAX];
	unsigned pending_count;
};

/* device.c <-> device_process.c: commands over the control socket, each answered by itself. */
enum device_command { DEVICE_ARM = 1, DEVICE_DISARM, DEVICE_PULLED, DEVICE_PUT_BACK };

/* device_process.c: the process, from its fork to its end. */
_Noreturn void device_serve(const struct device_options *options, struct device_shared *shared,
			    int socket, int control, int events);

/* device.c: what its maker sees of it. */
const struct device_shared *device_shared(const struct device *device);

/* device_log.c */
void device_fired(struct server *server, const struct fault *fault);
void device_injected(struct server *server, const struct fault *fault);
void device_missed(struct server *server, const struct fault *fault, const char *why);
uint64_t device_log(struct server *server, const struct device_request *request);
void device_log_answered(struct server *server, const struct pending *pending);
/* @index: in the log, of the request that met it. */
void device_failed(struct server *server, uint64_t index);
int device_fault_index(const struct server *server, const struct fault *fault);

/* device_transfer.c: what moves, under the one fault that says so (NULL: none). False: the medium
 * or our memory failed, which no fault asked for. */
bool device_transfer(struct server *server, struct pending *pending, const struct fault *fault);

/* device_faults.c: take @request over: match it, carry it out, and have it wait for its answer. */
void device_take(struct server *server, const struct nbd_request *request, uint64_t now_ns);
/* Is it on its way out by surprise, deaf and dumb? */
bool device_is_torn_out(const struct server *server);

/* device_pending.c: answer what is due. */
void device_answer_due(struct server *server, uint64_t now_ns);
void device_release(struct server *server);
void device_release_in_flight(struct server *server); /* what waits for the device to be out */
void device_forget_pending(struct server *server);
/* -1: nothing is waited for; else when the next answer falls due. */
int64_t device_next_due_ns(const struct server *server);
bool device_is_pending(const struct server *server, enum point_id point, uint64_t number);

#endif /* DEVICE_INTERNAL_H */
