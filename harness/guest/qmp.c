/* SPDX-License-Identifier: MIT */
/*
 * qmp.c - lines of JSON over a socket: replies bear the number of their command, everything else
 * is an event and kept. A reply that comes after its deadline is dropped when it comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest_wait.h"
#include "qmp.h"

#define READ_BYTES 4096u
#define LINE_BYTES_MAX (4u * 1024 * 1024)
#define EVENTS_MAX 256u /* older ones are dropped: nobody asks for them */

/* What came into the text. 0: nothing is there; 1; -EPIPE at the end. */
static int read_some(struct qmp *qmp)
{
	ssize_t got;

	if (qmp->text_room - qmp->text_bytes < READ_BYTES) {
		size_t room = qmp->text_room + 4 * READ_BYTES;
		char *grown = room > LINE_BYTES_MAX ? NULL : realloc(qmp->text, room);

		if (!grown)
			return -EPIPE;
		qmp->text = grown;
		qmp->text_room = room;
	}
	do
		got = recv(qmp->socket, qmp->text + qmp->text_bytes, READ_BYTES, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (got <= 0)
		return -EPIPE;
	qmp->text_bytes += (size_t)got;
	return 1;
}

/* The next whole line as an object; NULL: there is none. What is no object is skipped. */
static json_t *take_message(struct qmp *qmp)
{
	char *end;

	while (qmp->text_bytes > 0 && (end = memchr(qmp->text, '\n', qmp->text_bytes))) {
		size_t length = (size_t)(end - qmp->text) + 1;
		json_t *message = json_loadb(qmp->text, length, JSON_DISABLE_EOF_CHECK, NULL);

		qmp->text_bytes -= length;
		memmove(qmp->text, end + 1, qmp->text_bytes);
		if (json_is_object(message))
			return message;
		json_decref(message);
	}
	return NULL;
}

static void keep_event(struct qmp *qmp, json_t *message)
{
	if (json_array_size(qmp->events) == EVENTS_MAX)
		json_array_remove(qmp->events, 0);
	json_array_append_new(qmp->events, message);
}

/* The next message that is no event. 0, -EPIPE, -ETIMEDOUT, -EINTR. */
static int next_answer(struct qmp *qmp, uint64_t deadline, json_t **ret_message)
{
	struct pollfd polled = {.fd = qmp->socket, .events = POLLIN};
	int error;

	for (;;) {
		json_t *message = take_message(qmp);

		if (message && json_object_get(message, "event")) {
			keep_event(qmp, message);
			continue;
		}
		if (message) {
			*ret_message = message;
			return 0;
		}
		error = read_some(qmp);
		if (error == 0)
			error = guest_wait(&polled, 1, deadline, &qmp->interrupt);
		if (error < 0)
			return error;
	}
}

/* Commands are short, and QEMU reads them at once: what does not fit into the socket is an error.
 */
static int send_line(struct qmp *qmp, const char *line, int fd)
{
	struct iovec part = {(void *)(uintptr_t)line, strlen(line)};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {.bytes = {0}};
	ssize_t sent;

	if (fd >= 0) {
		header.msg_control = control.bytes;
		header.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do
		sent = sendmsg(qmp->socket, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && errno != ECONNRESET)
		return -errno;
	return sent == (ssize_t)part.iov_len ? 0 : -EPIPE;
}

static int send_command(struct qmp *qmp, const struct qmp_command *command)
{
	json_t *message =
		json_pack("{s:s, s:I}", "execute", command->name, "id", (json_int_t)++qmp->last_id);
	char *text, *line;
	int error = -ENOMEM;

	if (command->arguments)
		json_object_set_new(message, "arguments", command->arguments);
	text = json_dumps(message, JSON_COMPACT);
	if (text && asprintf(&line, "%s\n", text) >= 0) {
		error = send_line(qmp, line, command->fd);
		free(line);
	}
	free(text);
	json_decref(message);
	return error;
}

static int take_reply(const char *name, json_t *reply, json_t **ret, struct diag *diag)
{
	json_t *refusal = json_object_get(reply, "error");

	if (refusal) {
		const char *words = json_string_value(json_object_get(refusal, "desc"));

		diag_set(diag, NULL, 0, 0, "QEMU refuses %s: %s", name, words ? words : "?");
		return -EPROTO;
	}
	if (ret)
		*ret = json_incref(json_object_get(reply, "return"));
	return 0;
}

static int tell(struct diag *diag, const char *what, int error)
{
	if (error == -ETIMEDOUT)
		diag_set(diag, NULL, 0, 0, "QEMU does not answer: %s", what);
	else if (error == -EINTR)
		diag_set(diag, NULL, 0, 0, "interrupted");
	else if (error != -EPIPE)
		diag_set(diag, NULL, 0, 0, "%s of QEMU: %s", what, strerror(-error));
	else
		diag_set(diag, NULL, 0, 0, "QEMU is gone: %s", what);
	return error;
}

int qmp_execute(struct qmp *qmp, const struct qmp_command *command, json_t **ret, struct diag *diag)
{
	uint64_t deadline = guest_deadline(command->deadline_ms);
	int error = send_command(qmp, command);
	json_t *reply;

	while (error == 0) {
		error = next_answer(qmp, deadline, &reply);
		if (error < 0)
			break;
		if ((uint64_t)json_integer_value(json_object_get(reply, "id")) == qmp->last_id) {
			error = take_reply(command->name, reply, ret, diag);
			json_decref(reply);
			return error;
		}
		json_decref(reply);
	}
	return tell(diag, command->name, error);
}

static int greet(struct qmp *qmp, unsigned deadline_ms, struct diag *diag)
{
	json_t *greeting = NULL;
	int major = 0, minor = 0;
	int error = next_answer(qmp, guest_deadline(deadline_ms), &greeting);

	if (error < 0)
		return tell(diag, "greeting", error);
	if (json_unpack(greeting, "{s:{s:{s:{s:i, s:i}}}}", "QMP", "version", "qemu", "major",
			&major, "minor", &minor) < 0) {
		diag_set(diag, NULL, 0, 0, "what answers is not QEMU's monitor");
		error = -EPROTO;
	}
	json_decref(greeting);
	qmp->major = (unsigned)major;
	qmp->minor = (unsigned)minor;
	if (error == 0)
		error = qmp_execute(qmp,
				    &(struct qmp_command){.name = "qmp_capabilities",
							  .fd = -1,
							  .deadline_ms = deadline_ms},
				    NULL, diag);
	return error;
}

int qmp_open(struct qmp *qmp, int socket, const struct guest_interrupt *interrupt,
	     unsigned deadline_ms, struct diag *diag)
{
	int error;

	*qmp = (struct qmp){.socket = socket, .interrupt = *interrupt, .events = json_array()};
	error = qmp->events ? greet(qmp, deadline_ms, diag) : -ENOMEM;
	if (error < 0)
		qmp_close(qmp);
	return error;
}

void qmp_close(struct qmp *qmp)
{
	if (qmp->socket >= 0)
		close(qmp->socket);
	free(qmp->text);
	json_decref(qmp->events);
	*qmp = (struct qmp){.socket = -1};
}

static bool event_fits(const json_t *event, const char *name, const char *key, const char *value)
{
	const char *is = json_string_value(json_object_get(event, "event"));
	const char *has;

	if (!is || strcmp(is, name) != 0)
		return false;
	if (!key)
		return true;
	has = json_string_value(json_object_get(json_object_get(event, "data"), key));
	return has && strcmp(has, value) == 0;
}

static bool take_event(struct qmp *qmp, const char *name, const char *key, const char *value)
{
	size_t index;
	json_t *event;

	json_array_foreach(qmp->events, index, event)
	{
		if (event_fits(event, name, key, value)) {
			json_array_remove(qmp->events, index);
			return true;
		}
	}
	return false;
}

int qmp_drain(struct qmp *qmp)
{
	json_t *message;
	int some;

	while ((some = read_some(qmp)) > 0)
		;
	while ((message = take_message(qmp))) {
		if (json_object_get(message, "event"))
			keep_event(qmp, message);
		else /* late, its command was given up */
			json_decref(message);
	}
	return some;
}

int qmp_await_event(struct qmp *qmp, const char *name, const char *key, const char *value,
		    unsigned deadline_ms)
{
	uint64_t deadline = guest_deadline(deadline_ms);
	struct pollfd polled = {.fd = qmp->socket, .events = POLLIN};
	int error = 0, ended;

	while (error == 0) {
		ended = qmp_drain(qmp);
		if (take_event(qmp, name, key, value))
			return 0;
		error = ended < 0 ? ended : guest_wait(&polled, 1, deadline, &qmp->interrupt);
	}
	return error;
}
