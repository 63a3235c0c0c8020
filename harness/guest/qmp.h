/* SPDX-License-Identifier: MIT */
/*
 * qmp.h - QEMU's monitor: commands and their replies, events, descriptors.
 *
 * Threads: one thread. Every wait has a deadline.
 */
#ifndef QMP_H
#define QMP_H

#include <stdbool.h>

#include <jansson.h>

#include "guest.h"

struct qmp {
	int socket;
	struct guest_interrupt interrupt;
	char *text; /* what came and is no whole line yet */
	size_t text_bytes, text_room;
	json_t *events; /* array; those that nobody asked for yet */
	uint64_t last_id;
	unsigned major, minor; /* of QEMU, from its greeting */
};

/* Read the greeting and leave the negotiation. Takes @socket (non-blocking), failed or not. 0;
 * -EPIPE, -ETIMEDOUT, -EINTR, -EPROTO. */
int qmp_open(struct qmp *qmp, int socket, const struct guest_interrupt *interrupt,
	     unsigned deadline_ms, struct diag *diag);
void qmp_close(struct qmp *qmp);

struct qmp_command {
	const char *name;
	json_t *arguments; /* consumed; NULL none */
	int fd;		   /* goes along; -1 none */
	unsigned deadline_ms;
};
/* 0 and, if @ret is not NULL, a new reference to what it returned; -EPROTO: QEMU refuses, its words
 * are in @diag; -EPIPE, -ETIMEDOUT, -EINTR. */
int qmp_execute(struct qmp *qmp, const struct qmp_command *command, json_t **ret,
		struct diag *diag);

/* Wait for event @name whose data has @key = @value (NULL: any), kept ones first. 0 (it is taken),
 * -ETIMEDOUT, -EPIPE, -EINTR. */
int qmp_await_event(struct qmp *qmp, const char *name, const char *key, const char *value,
		    unsigned deadline_ms);
/* Read what is there, without waiting. 0 or -EPIPE. */
int qmp_drain(struct qmp *qmp);

#endif /* QMP_H */
